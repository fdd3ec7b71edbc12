package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/web"
)

// probeReserve is how many connections are left to probes if all others are busy.
const probeReserve = 8

// connections is a listener that bounds the open connections. A new one takes the
// place of the one that has waited for a request for the longest time, so nobody
// keeps others out by opening connections.
//
// It also bounds the requests in progress, of which a connection with HTTP/2 has up to
// maxStreams: to as many as connections, less probeReserve. Beyond that a request takes
// the place of a stranger's, so nobody keeps others out by requests without a token, and
// otherwise is refused, except probes: a load balancer finds out that the server is busy,
// and does not take it for dead.
type connections struct {
	net.Listener
	max int
	// client returns the network that a request comes from; nil: all come from one.
	client func(*http.Request) netip.Addr

	mu        sync.Mutex
	open      int
	busy      int       // running requests
	waiting   list.List // *connection without a running request, the longest wait first
	strangers strangers // running requests
}

// connection is one of connections.
type connection struct {
	net.Conn
	all *connections

	// Guarded by all.mu.
	place    *list.Element // in waiting; nil: a request is running, or it is closed
	requests int           // running; more than one with HTTP/2
	known    bool          // a request was not a stranger's
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
		evicted := c.evictable()
		if evicted == nil {
			return nil
		}
		evicted.forget()
		_ = evicted.Conn.Close()
	}
	c.open++
	admitted := &connection{Conn: conn, all: c}
	admitted.place = c.waiting.PushBack(admitted)
	return admitted
}

// few is how many requests whose token was not read yet are usual.
func (c *connections) few() int { return max(c.max/4, 2*probeReserve) }

// evictable returns an open connection that a new one may replace: the one that waits for
// the longest time, or else one of strangers only. nil: there is none. The caller holds mu.
func (c *connections) evictable() *connection {
	if oldest := c.waiting.Front(); oldest != nil {
		return oldest.Value.(*connection)
	}
	for stranger := c.strangers.oldest(c.few()); stranger != nil && !stranger.conn.known; stranger = c.strangers.oldest(c.few()) {
		c.strangers.remove(stranger)
		if !stranger.conn.closed {
			return stranger.conn
		}
	}
	return nil
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
		request := &running{conn: conn, began: time.Now(), http1: r.ProtoMajor < 2, control: http.NewResponseController(w)}
		if c.client != nil {
			request.client = c.client(r)
		}
		if c.begin(request, isProbe(r)) {
			w.Header().Set("Connection", "close")
			r = web.MarkOverloaded(r)
		}
		defer c.end(request)
		next.ServeHTTP(w, web.OnIdentified(r, func() { c.identified(request) }))
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

// begin adds a running request and reports whether it must be refused. If the server is
// overloaded, the request takes the place of a stranger's, if there is one.
func (c *connections) begin(request *running, probe bool) (refused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := request.conn
	conn.requests++
	if conn.place != nil {
		c.waiting.Remove(conn.place)
		conn.place = nil
	}
	c.busy++
	if c.strangers == nil {
		c.strangers = make(strangers)
	}
	defer c.strangers.add(request)
	if probe || c.busy <= c.max-probeReserve {
		return false
	}
	stranger := c.strangers.oldest(c.few())
	if stranger == nil {
		return true
	}
	c.strangers.remove(stranger)
	go stranger.cut()
	return false
}

// identified is called when it is known who sends a request.
func (c *connections) identified(request *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.strangers.remove(request)
	request.conn.known = true
}

// end removes a running request from its connection, which waits if it was the last.
func (c *connections) end(request *running) {
	request.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.strangers.remove(request)
	conn := request.conn
	conn.requests--
	if conn.requests == 0 && !conn.closed {
		conn.place = c.waiting.PushBack(conn)
	}
}
