// Package server is what the operating system sees of the service: ports, TLS, the
// limits of connections and of time, the stop, and the routes with which load balancers
// and operators look at the process. It knows no route of an interface.
package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"merchantorders/internal/web"
)

// Limits of the server. Each bounds what one slow or broken client can hold.
const (
	// headerTimeout bounds the arrival of a request's header, which fits into a
	// packet or two.
	headerTimeout = 5 * time.Second
	// requestTimeout bounds a whole request: the arrival of its body, its handling
	// and the sending of the response. The largest upload fits at 70 KB a second.
	// Handlers that read a body set a shorter deadline for it.
	requestTimeout = 120 * time.Second
	// maxHeader is roughly the largest header, in bytes: tokens and the headers
	// that proxies add need a few KiB.
	maxHeader = 64 << 10
	// maxStreams is how many requests of a connection with HTTP/2 are in flight.
	maxStreams = 100
	// stallTimeout is how long the client of a connection with HTTP/2 may read nothing. The
	// deadline of a stream, as long at most, cannot end it then.
	stallTimeout = time.Minute
	// stopTimeout is how long a stop waits for running requests.
	stopTimeout = 10 * time.Second
)

// Options are the settings of a server.
type Options struct {
	// Connections is how many connections are open at a time, more than probeReserve.
	Connections int
	// Client returns the network from which a request comes, for fairness among
	// strangers; nil: all come from one.
	Client func(*http.Request) netip.Addr
	// Idle is how long a connection may wait for its next request.
	Idle time.Duration
	// TLS is the configuration of HTTPS with HTTP/1.1 and HTTP/2; nil: HTTP/1.1
	// without encryption.
	TLS *tls.Config
}

// timeLimits are the time limits of a server beside Options.
type timeLimits struct {
	header, request, stall, stop time.Duration
}

// Serve serves the requests of a listener with a handler until ctx ends. Then it
// accepts no more connections, finishes the running requests with `Connection:
// close`, and after 10 seconds aborts those that remain and ends their contexts.
// It returns nil for such a stop, with or without aborted requests; the log has a
// warning for those. Serve closes the listener.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, options Options) error {
	return serve(ctx, listener, handler, log, options, timeLimits{
		header: headerTimeout, request: requestTimeout, stall: stallTimeout, stop: stopTimeout,
	})
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, options Options, timeouts timeLimits) error {
	// Requests outlive ctx: those that may still finish must not end with it.
	requests, abort := context.WithCancel(web.WithStopping(context.WithoutCancel(ctx), ctx))
	defer abort()
	bounded := &connections{Listener: listener, max: options.Connections, client: options.Client}
	server := newServer(bounded.handler(requests, handler), log, options, timeouts)
	server.BaseContext = func(net.Listener) context.Context { return requests }
	serving := make(chan error, 1)
	go func() {
		if options.TLS == nil {
			serving <- server.Serve(bounded)
			return
		}
		serving <- server.ServeTLS(bounded, "", "")
	}()
	select {
	case err := <-serving:
		_ = server.Close() // its error adds nothing
		return fmt.Errorf("accept connections: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(requests, timeouts.stop)
	defer cancel()
	err := server.Shutdown(stopping)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("running requests were cut off", "seconds", timeouts.stop.Seconds())
		// Connections close first, so that no client gets an error response that is
		// only due to the abort.
		err = server.Close()
		abort()
	}
	<-serving
	if err != nil {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}

// newServer returns a server for connections.
func newServer(handler http.Handler, log *slog.Logger, options Options, timeouts timeLimits) *http.Server {
	return &http.Server{
		Handler:           handler,
		ConnContext:       withConnection,
		ReadHeaderTimeout: timeouts.header,
		ReadTimeout:       timeouts.request,
		WriteTimeout:      timeouts.request,
		IdleTimeout:       options.Idle,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         options.TLS,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams, WriteByteTimeout: timeouts.stall},
		ErrorLog:          stdlog.New(serverLog{log}, "", 0),
		// `OPTIONS *` gets the response and the log entry of every other request.
		DisableGeneralOptionsHandler: true,
	}
}

// serverLog writes the messages of net/http to a log.
type serverLog struct{ *slog.Logger }

// Write implements io.Writer.
func (l serverLog) Write(message []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(message, []byte("http: TLS handshake error")) {
		// Port scanners, and health checks that only connect, cause one each.
		level = slog.LevelDebug
	}
	l.Log(context.Background(), level, string(bytes.TrimSpace(message)))
	return len(message), nil
}
