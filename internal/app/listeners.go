package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"merchantorders/internal/config"
	httpserver "merchantorders/internal/server"
)

// adminConnections is how many connections the admin listener has at a time: enough
// for monitoring and the back office.
const adminConnections = 256

// listeners are the bound ports of a server.
type listeners struct {
	main  net.Listener
	admin net.Listener // nil: none
	// mainTLS and adminTLS are nil where connections are not encrypted.
	mainTLS, adminTLS *tls.Config
}

// bind binds the ports of the settings and reads the certificate.
func (s *server) bind() (*listeners, error) {
	l := &listeners{}
	var err error
	if s.Flags.TLS() {
		if l.mainTLS, err = httpserver.TLSConfig(s.Flags.Certificate, s.Now, s.log); err != nil {
			return nil, UsageError{Err: err}
		}
		s.tls = l.mainTLS
	}
	if l.main, err = listenOn("listen", s.Flags.Listen); err != nil {
		return nil, err
	}
	if s.Flags.AdminListen == "" {
		return l, nil
	}
	if l.admin, err = listenOn("admin-listen", s.Flags.AdminListen); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if !isLoopback(l.admin.Addr()) {
		l.adminTLS = l.mainTLS
	}
	return l, nil
}

// close closes the ports. httpserver.Serve closes them too, which is harmless.
func (l *listeners) close() error {
	err := l.main.Close()
	if l.admin != nil {
		err = errors.Join(err, l.admin.Close())
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// listenOn binds the port of an address, the value of a flag.
func listenOn(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, UsageError{Err: config.Invalid(flag, cannotListen(address, err))}
	}
	return listener, nil
}

// isLoopback reports whether only this machine can reach an address.
func isLoopback(bound net.Addr) bool {
	tcp, ok := bound.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// operatorsOnMain reports whether the main port also serves what is for operators:
// without an admin listener, and only if no other machine can reach it, through a proxy
// neither. Behind a proxy on this machine, every client is a loopback client.
func (s *server) operatorsOnMain(l *listeners) bool {
	return l.admin == nil && isLoopback(l.main.Addr()) && config.ProxySetting(s.Settings, s.Flags) == ""
}

// announce prints the addresses, and logs what an operator should know about them.
func (s *server) announce(l *listeners, baseURL, storageURL string, maxConnections int) {
	attributes := []any{
		"max_connections", maxConnections, "address", l.main.Addr().String(), "base_url", baseURL, "storage_url", storageURL,
		"database", s.Settings.DatabaseName(), "storage", s.Settings.StorageName(), "version", Version(),
	}
	if l.admin != nil {
		attributes = append(attributes, "admin_address", l.admin.Addr().String())
		s.say("The admin listener is %s", config.LocalURL(l.admin.Addr(), l.adminTLS != nil))
	}
	s.say("Merchant Orders listens on %s", config.LocalURL(l.main.Addr(), l.mainTLS != nil))
	s.log.Info("listening", attributes...)
	for _, warning := range s.Warnings {
		s.log.Warn(warning)
	}
	if l.admin == nil && !s.operatorsOnMain(l) {
		s.log.Info("metrics and the operator interface are not served, because other machines can reach the port; set --admin-listen, for example to 127.0.0.1:8081",
			"address", l.main.Addr().String(), "setting", "--"+cmp.Or(config.ProxySetting(s.Settings, s.Flags), "listen"))
	}
	s.warnUnencrypted(l.main, l.mainTLS)
	if l.admin != nil {
		s.warnUnencrypted(l.admin, l.adminTLS)
	}
}

// say prints a line. It can be lost: the log has its content too.
func (s *server) say(format, url string) {
	if err := s.print(format, url); err != nil {
		s.log.Warn("cannot write to standard output", "error", err)
	}
}

// EncryptAdvice says what to do about a port that sends tokens in plain text.
const EncryptAdvice = "set --tls-cert and --tls-key, or --trusted-proxies if a proxy with TLS is in front"

// warnUnencrypted warns of a port that sends tokens over a network in plain text.
func (s *server) warnUnencrypted(listener net.Listener, config *tls.Config) {
	if config == nil && !isLoopback(listener.Addr()) && s.Flags.TrustedProxies == "" {
		s.log.Warn("other machines can reach the port, and its connections are not encrypted; "+EncryptAdvice, "address", listener.Addr().String())
	}
}

// serveAll serves the requests of all ports until ctx ends and the drain time is
// over.
func (s *server) serveAll(ctx context.Context, l *listeners, main, admin http.Handler, options httpserver.Options) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		s.drain(serving, s.Flags.DrainTime())
		stop()
	})()
	// If one of the servers fails, the other one stops.
	all, both := errgroup.WithContext(serving)
	// Shutdown waits for requests in progress. Long polling requests end at once.
	defer context.AfterFunc(both, s.Orders.StopWaiting)()
	options.TLS = l.mainTLS
	all.Go(func() error { return httpserver.Serve(both, l.main, main, s.log, options) })
	if l.admin != nil {
		adminOptions := httpserver.Options{Connections: adminConnections, Idle: options.Idle, TLS: l.adminTLS}
		all.Go(func() error {
			if err := httpserver.Serve(both, l.admin, admin, s.log, adminOptions); err != nil {
				return fmt.Errorf("admin listener: %w", err)
			}
			return nil
		})
	}
	return all.Wait()
}

// drain makes the server not ready, and returns after the drain time, in which load
// balancers notice that, or when serving ends.
func (s *server) drain(serving context.Context, wait time.Duration) {
	s.stopping.Store(true)
	s.log.Info("stopping", "drain_seconds", wait.Seconds())
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-over.C:
	case <-serving.Done():
	}
}
