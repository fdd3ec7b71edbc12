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

// certificate is the certificate of a TLS server. It is read again when a client
// connects, at most every 5 seconds. Open connections keep theirs. If it cannot be
// read, or clients would refuse it while they accept the last one, that stays in use.
type certificate struct {
	read func() (tls.Certificate, error)
	now  func() time.Time
	log  *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	checked time.Time
	fault   string // of the last reading
}

// TLSConfig returns the configuration of a TLS server whose certificate read returns.
// It is read again when it may have changed. The log gets a warning for a certificate
// that cannot be read, has expired or is not valid yet. now is the clock.
func TLSConfig(read func() (tls.Certificate, error), now func() time.Time, log *slog.Logger) (*tls.Config, error) {
	first, err := read()
	if err != nil {
		return nil, err
	}
	c := &certificate{read: read, now: now, log: log, current: &first, checked: now()}
	c.checkTime()
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

// get implements tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.checked) >= certificateInterval {
		c.checked = now
		c.refresh()
	}
	return c.current, nil
}

// refresh reads the certificate. A fault is logged once.
func (c *certificate) refresh() {
	next, err := c.read()
	if err == nil && c.timeProblem(&next) != "" && c.timeProblem(c.current) == "" {
		err = errors.New(c.timeProblem(&next))
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

// checkTime warns of a certificate that clients refuse at present.
func (c *certificate) checkTime() {
	if problem := c.timeProblem(c.current); problem != "" {
		c.log.Warn("the TLS certificate " + problem + ": clients refuse it; replace the file, or correct the clock")
	}
}

// timeProblem returns why clients refuse a certificate at present; empty: they accept it.
func (c *certificate) timeProblem(of *tls.Certificate) string {
	switch now := c.now(); {
	case now.After(of.Leaf.NotAfter):
		return "has expired at " + of.Leaf.NotAfter.Format(time.RFC3339)
	case now.Before(of.Leaf.NotBefore):
		return "is not valid before " + of.Leaf.NotBefore.Format(time.RFC3339)
	}
	return ""
}

// CertificateEnd returns when the certificate of a configuration of TLSConfig expires,
// after a reload if it is due; the zero time for nil.
func CertificateEnd(config *tls.Config) time.Time {
	if config == nil {
		return time.Time{}
	}
	current, _ := config.GetCertificate(nil) // get returns no error
	return current.Leaf.NotAfter
}
