package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// certificateInterval is the time between two readings of a certificate.
const certificateInterval = 5 * time.Second

// Certificate is the certificate of a TLS server. It is read again when a client
// connects, at most every 5 seconds. Open connections keep theirs. If it cannot be
// read, or clients would refuse it while they accept the last one, that stays in use.
// The nil Certificate is that of a server without TLS.
type Certificate struct {
	read func() (tls.Certificate, error)
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	checked time.Time
	fault   string // of the last reading
}

// NewCertificate returns the certificate that read returns, now and when it may have
// changed. The log gets a warning for a certificate that cannot be read, has expired or is
// not valid yet. now is the clock.
func NewCertificate(read func() (tls.Certificate, error), now func() time.Time, log *slog.Logger) (*Certificate, error) {
	first, err := read()
	if err != nil {
		return nil, err
	}
	c := &Certificate{read: read, now: now, log: log, current: &first, checked: now()}
	c.checkTime()
	return c, nil
}

// TLS returns the configuration of the server; nil for nil.
func (c *Certificate) TLS() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}
}

// Check returns why a certificate would not be used.
func (c *Certificate) Check(next tls.Certificate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.check(next)
}

// Reload uses the certificate that read returns, now and from now on.
func (c *Certificate) Reload(read func() (tls.Certificate, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.checked = read, c.now()
	c.refresh()
}

// get implements tls.Config.GetCertificate.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.checked) >= certificateInterval {
		c.checked = now
		c.refresh()
	}
	return c.current, nil
}

// refresh reads the certificate. A fault is logged once.
func (c *Certificate) refresh() {
	next, err := c.read()
	if err == nil {
		err = c.check(next)
	}
	if err != nil {
		if c.fault != err.Error() {
			c.fault = err.Error()
			c.log.Warn("cannot use the new TLS certificate; the old one stays in use", "error", err)
		}
		return
	}
	c.fault = ""
	if bytes.Equal(next.Certificate[0], c.current.Certificate[0]) {
		return
	}
	c.current = &next
	c.log.Info("TLS certificate changed", "not_after", next.Leaf.NotAfter)
	c.checkTime()
}

// check is Check for a caller that holds mu.
func (c *Certificate) check(next tls.Certificate) error {
	if problem := c.timeProblem(&next); problem != "" && c.timeProblem(c.current) == "" {
		return errors.New(problem)
	}
	return nil
}

// checkTime warns of a certificate that clients refuse at present.
func (c *Certificate) checkTime() {
	if problem := c.timeProblem(c.current); problem != "" {
		c.log.Warn("the TLS certificate " + problem + ": clients refuse it; replace the file, or correct the clock")
	}
}

// timeProblem returns why clients refuse a certificate at present; empty: they accept it.
func (c *Certificate) timeProblem(of *tls.Certificate) string {
	switch now := c.now(); {
	case now.After(of.Leaf.NotAfter):
		return "has expired at " + of.Leaf.NotAfter.Format(time.RFC3339)
	case now.Before(of.Leaf.NotBefore):
		return "is not valid before " + of.Leaf.NotBefore.Format(time.RFC3339)
	}
	return ""
}

// End returns when the certificate expires, after it is read again if that is due; the zero
// time for nil.
func (c *Certificate) End() time.Time {
	if c == nil {
		return time.Time{}
	}
	current, _ := c.get(nil) // it returns no error
	return current.Leaf.NotAfter
}
