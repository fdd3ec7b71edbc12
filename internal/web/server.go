package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits of the server. Each bounds what one slow or broken client can hold.
const (
	// headerTimeout bounds the arrival of a request's header. A header fits
	// into a packet or two; one that trickles in only holds a connection.
	headerTimeout = 5 * time.Second
	// requestTimeout bounds a whole request: the arrival of its body, also of
	// one that no handler reads, its handling and the sending of its answer.
	// The largest upload body (8 MiB) fits at 70 KB a second. What reads a body
	// sets a nearer deadline where it can.
	requestTimeout = 120 * time.Second
	// idleTimeout is how long a connection may wait for its next request.
	idleTimeout = 120 * time.Second
	// maxHeader is the largest header, in bytes, give or take a buffer: tokens
	// and proxies' additions need a few KiB.
	maxHeader = 64 << 10
	// stopTimeout is how long a stop waits for the requests under way.
	stopTimeout = 10 * time.Second
)

// limits are the times that a server keeps to.
type serverTimeouts struct {
	header, request, idle, stop time.Duration
}

// Serve answers the requests of a listener with a handler until ctx ends. Then
// it accepts no more connections, answers what is under way with `Connection:
// close` and cuts off, their contexts ended, the requests that are not done
// after 10 seconds. An orderly stop is nil, cut requests or not; the log tells
// of those. It owns the listener.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	return serve(ctx, listener, handler, log, serverTimeouts{
		header: headerTimeout, request: requestTimeout, idle: idleTimeout, stop: stopTimeout,
	})
}

func serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, limits serverTimeouts) error {
	// Requests outlive ctx: the stop must not end those that may yet finish.
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: limits.header,
		ReadTimeout:       limits.request,
		WriteTimeout:      limits.request,
		IdleTimeout:       limits.idle,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return requests },
		// `OPTIONS *` is answered and logged like every other request.
		DisableGeneralOptionsHandler: true,
	}
	accepting := make(chan error, 1)
	go func() { accepting <- server.Serve(listener) }()
	select {
	case err := <-accepting:
		_ = server.Close() // what it says is of no more use than the fault itself
		return fmt.Errorf("accept connections: %w", err)
	case <-ctx.Done():
	}
	bound, cancel := context.WithTimeout(requests, limits.stop)
	defer cancel()
	err := server.Shutdown(bound)
	if errors.Is(err, context.DeadlineExceeded) {
		log.Warn("requests still under way were cut off", "seconds", limits.stop.Seconds())
		// The connections first: no client gets an answer that comes of the cut.
		err = server.Close()
		cut()
	}
	<-accepting
	if err != nil {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}
