package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"

	"merchantorders/internal/web"
)

// probeReserve is how many connections are left to probes if all others are busy.
const probeReserve = 8

// connections is a listener that bounds the open connections. A new one takes the
// place of the one that has waited for a request for the longest time, so nobody
// keeps others out by opening connections. For the rest, requests that would leave
// fewer than probeReserve connections without one are refused, except probes: a load
// balancer finds out that the server is busy, and does not take it for dead.
type connections struct {
	net.Listener
	max int

	mu      sync.Mutex
	open    int
	busy    int       // running requests
	waiting list.List // *connection without a running request, the longest wait first
}

// connection is one of connections.
type connection struct {
	net.Conn
	all *connections

	// Guarded by all.mu.
	place    *list.Element // in waiting; nil: a request is running, or it is closed
	requests int           // running; more than one with HTTP/2
	closed   bool
}

type connectionKey struct{}

// withConnection is the ConnContext of a server that listens on connections.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := c.admit(conn); admitted != nil {
			return admitted, nil
		}
		_ = conn.Close() // all are busy; its error adds nothing
	}
}

// admit adds a connection, or returns nil if there is no room.
func (c *connections) admit(conn net.Conn) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == c.max {
		oldest := c.waiting.Front()
		if oldest == nil {
			return nil
		}
		evicted := oldest.Value.(*connection)
		evicted.forget()
		_ = evicted.Conn.Close()
	}
	c.open++
	admitted := &connection{Conn: conn, all: c}
	admitted.place = c.waiting.PushBack(admitted)
	return admitted
}

// forget removes a connection. The caller holds all.mu.
func (c *connection) forget() {
	if c.closed {
		return
	}
	c.closed = true
	c.all.open--
	if c.place != nil {
		c.all.waiting.Remove(c.place)
		c.place = nil
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.forget()
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http end its side first, so that the client reads the response
// and not a reset.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// handler returns the handler of the server, which marks the requests that next must
// refuse because the server is overloaded.
func (c *connections) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(*connection)
		if c.begin(conn) && !isProbe(r) {
			w.Header().Set("Connection", "close")
			r = web.MarkOverloaded(r)
		}
		defer c.end(conn)
		next.ServeHTTP(w, r)
	})
}

// isProbe reports whether a request is a health check.
func isProbe(r *http.Request) bool {
	path := strings.TrimSuffix(r.URL.Path, "/")
	return path == healthPath || path == readyPath
}

// IsMonitoring reports whether a request is a health check or a scrape of the
// metrics.
func IsMonitoring(r *http.Request) bool {
	return isProbe(r) || strings.TrimSuffix(r.URL.Path, "/") == metricsPath
}

// begin adds a running request to a connection and reports whether the server is
// overloaded.
func (c *connections) begin(conn *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn.requests++
	if conn.place != nil {
		c.waiting.Remove(conn.place)
		conn.place = nil
	}
	c.busy++
	return c.busy > c.max-probeReserve
}

// end removes a running request from a connection, which waits if it was the last.
func (c *connections) end(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	conn.requests--
	if conn.requests == 0 && !conn.closed {
		conn.place = c.waiting.PushBack(conn)
	}
}
