package server

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"sync"
	"time"
)

// certificateInterval is the time between two readings of a certificate.
const certificateInterval = 5 * time.Second

// certificate is the certificate of a TLS server. It is read again when a client
// connects, at most every 5 seconds. Open connections keep theirs. If it cannot be
// read, the last one stays in use.
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
	leaf, now := c.current.Leaf, c.now()
	switch {
	case now.After(leaf.NotAfter):
		c.log.Warn("the TLS certificate has expired: clients refuse it; replace the file", "not_after", leaf.NotAfter)
	case now.Before(leaf.NotBefore):
		c.log.Warn("the TLS certificate is not valid yet: clients refuse it; replace the file, or correct the clock", "not_before", leaf.NotBefore)
	}
}
