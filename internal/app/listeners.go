package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sync/errgroup"

	"merchantorders/internal/config"
	httpserver "merchantorders/internal/server"
)

// furtherConnections is how many connections a listener beside the main one has at a time:
// enough for monitoring and the back office.
const furtherConnections = 256

// port is a bound port.
type port struct {
	net.Listener
	name string
	tls  *tls.Config // nil: connections are not encrypted
}

// url returns the URL at which a client on this machine reaches the port.
func (p *port) url() string { return config.LocalURL(p.Addr(), p.tls != nil) }

// listeners are the bound ports of a server.
type listeners struct {
	main           *port
	admin, metrics *port // nil: none
}

// further returns the ports beside the main one.
func (l *listeners) further() []*port {
	return slices.DeleteFunc([]*port{l.admin, l.metrics}, func(p *port) bool { return p == nil })
}

// bind binds the ports of the settings and reads the certificate.
func (s *server) bind() (*listeners, error) {
	var err error
	if s.Flags.TLS() {
		if s.certificate, err = httpserver.NewCertificate(s.Flags.Certificate, s.Now, s.log); err != nil {
			return nil, UsageError{Err: err}
		}
	}
	main, err := listenOn("listen", s.Flags.Listen)
	if err != nil {
		return nil, err
	}
	l := &listeners{main: &port{main, "main", s.certificate.TLS()}}
	if l.admin, err = s.bindAdmin(); err == nil {
		l.metrics, err = s.bindFurther("metrics", s.Flags.MetricsListen)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// adminAddress is that of the admin port, unless a setting names another one.
const adminAddress = "127.0.0.1:8081"

// bindAdmin binds the admin port; nil if a setting says that there is none. A second server
// on a machine that no setting gives an address gets a free port.
func (s *server) bindAdmin() (*port, error) {
	switch s.Flags.AdminListen {
	case config.NoListener:
		return nil, nil
	case "":
		if listener, err := net.Listen("tcp", adminAddress); err == nil {
			return &port{listener, "admin", nil}, nil
		}
		return s.bindFurther("admin", "127.0.0.1:0")
	}
	return s.bindFurther("admin", s.Flags.AdminListen)
}

// bindFurther binds a port beside the main one; nil for no address. It is encrypted if
// other machines can reach it.
func (s *server) bindFurther(name, address string) (*port, error) {
	if address == "" {
		return nil, nil
	}
	listener, err := listenOn(name+"-listen", address)
	if err != nil {
		return nil, err
	}
	if config.IsLoopback(listener.Addr().String()) {
		return &port{listener, name, nil}, nil
	}
	return &port{listener, name, s.certificate.TLS()}, nil
}

// close closes the ports. httpserver.Serve closes them too, which is harmless.
func (l *listeners) close() error {
	err := l.main.Close()
	for _, p := range l.further() {
		err = errors.Join(err, p.Close())
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

// announce prints the addresses, and logs what an operator should know about them.
func (s *server) announce(l *listeners, baseURL, storageURL string, maxConnections int) {
	attributes := []any{
		"max_connections", maxConnections, "address", l.main.Addr().String(), "base_url", baseURL, "storage_url", storageURL,
		"database", s.Settings.DatabaseName(), "storage", s.Settings.StorageName(), "version", Version(),
	}
	for _, p := range l.further() {
		attributes = append(attributes, p.name+"_address", p.Addr().String())
		s.say("The "+p.name+" listener is %s", p.url())
	}
	s.say("Merchant Orders listens on %s", l.main.url())
	s.log.Info("listening", attributes...)
	for _, warning := range s.Warnings {
		s.log.Warn(warning)
	}
	for _, p := range append(l.further(), l.main) {
		s.warnUnencrypted(p)
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
func (s *server) warnUnencrypted(p *port) {
	if p.tls == nil && !config.IsLoopback(p.Addr().String()) && s.Flags.TrustedProxies == "" {
		s.log.Warn("other machines can reach the port, and its connections are not encrypted; "+EncryptAdvice, "address", p.Addr().String())
	}
}

// serveAll serves the requests of all ports until ctx ends and the drain time is
// over. options are those of the main port.
func (s *server) serveAll(ctx context.Context, l *listeners, options httpserver.Options) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		s.drain(serving, s.Flags.Drain.Value())
		stop()
	})()
	// If one of the servers fails, the others stop.
	all, both := errgroup.WithContext(serving)
	// Shutdown waits for requests in progress. Long polling requests end at once.
	defer context.AfterFunc(both, s.Orders.StopWaiting)()
	local := l.main.url()
	main, admin := s.Handlers(local)
	handlers := map[*port]http.Handler{l.main: main, l.admin: admin, l.metrics: s.MetricsHandler(local)}
	for _, p := range append(l.further(), l.main) {
		options := options
		if options.TLS = p.tls; p != l.main {
			options = httpserver.Options{Connections: furtherConnections, Idle: options.Idle, TLS: p.tls}
		}
		all.Go(func() error {
			if err := httpserver.Serve(both, p, s.Wrap(handlers[p]), s.log, options); err != nil {
				return fmt.Errorf("%s listener: %w", p.name, err)
			}
			return nil
		})
	}
	all.Go(func() error {
		s.supervise(both, l.main)
		return nil
	})
	return all.Wait()
}

// drain makes the server not ready, and returns after the drain time, in which load
// balancers notice that, or when serving ends.
func (s *server) drain(serving context.Context, wait time.Duration) {
	s.stopping.Store(true)
	s.notify(daemon.SdNotifyStopping)
	s.log.Info("stopping", "drain_seconds", wait.Seconds())
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-over.C:
	case <-serving.Done():
	}
}
