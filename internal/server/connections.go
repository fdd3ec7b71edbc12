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
// place of one that waits for a request, of the merchant that has most, so nobody keeps
// others out by opening connections.
//
// It also bounds the requests in progress, of which a connection with HTTP/2 has up to
// maxStreams: to as many as connections, less probeReserve. Beyond that a request takes
// the place of a stranger's, so nobody keeps others out by requests without a token, and
// otherwise is refused, except probes: a load balancer finds out that the server is busy,
// and does not take it for dead. A merchant has a quarter of the requests in progress; those
// beyond are refused and give way as strangers' do.
type connections struct {
	net.Listener
	max int
	// client returns the network that a request comes from; nil: all come from one.
	client func(*http.Request) netip.Addr

	mu        sync.Mutex
	open      int
	busy      int              // running requests
	turns     uint64           // how often a connection began to wait
	strangers strangers        // running requests
	owners    map[int64]*owner // those with connections or running requests, by merchant
}

// The owners that are no merchant.
const (
	operators = 0
	nobody    = -1 // of connections without a request that was identified
)

// owner is who sends requests.
type owner struct {
	open    int       // connections whose last identified request was theirs
	waiting list.List // *connection of these without a running request, the longest wait first
	running int       // identified requests
}

// connection is one of connections.
type connection struct {
	net.Conn
	all *connections

	// Guarded by all.mu.
	owner    int64
	place    *list.Element // in waiting of the owner; nil: a request is running, or it is closed
	turn     uint64        // in which it began to wait
	requests int           // running; more than one with HTTP/2
	known    int           // those of them that are not strangers'
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
	admitted := &connection{Conn: conn, all: c, owner: nobody}
	c.owner(nobody).open++
	c.wait(admitted)
	return admitted
}

// owner returns an owner by merchant. The caller holds mu.
func (c *connections) owner(merchantID int64) *owner {
	if c.owners == nil {
		c.owners = make(map[int64]*owner)
	}
	o := c.owners[merchantID]
	if o == nil {
		o = new(owner)
		c.owners[merchantID] = o
	}
	return o
}

// drop removes an owner that has nothing any more. The caller holds mu.
func (c *connections) drop(merchantID int64) {
	if o := c.owners[merchantID]; o.open == 0 && o.running == 0 {
		delete(c.owners, merchantID)
	}
}

// wait lets an open connection wait for a request. The caller holds mu.
func (c *connections) wait(conn *connection) {
	c.turns++
	conn.turn = c.turns
	conn.place = c.owner(conn.owner).waiting.PushBack(conn)
}

// stopWaiting ends the wait of a connection, if it waits. The caller holds mu.
func (c *connections) stopWaiting(conn *connection) {
	if conn.place != nil {
		c.owner(conn.owner).waiting.Remove(conn.place)
		conn.place = nil
	}
}

// oldest returns the connection of an owner that waits for the longest time; nil: none waits.
func (o *owner) oldest() *connection {
	if first := o.waiting.Front(); first != nil {
		return first.Value.(*connection)
	}
	return nil
}

// few is how many requests whose token was not read yet are usual.
func (c *connections) few() int { return max(c.max/4, 2*probeReserve) }

// evictable returns an open connection that a new one may replace: of those that wait, the
// oldest one of the owner that has most connections. If that are few, one of strangers only
// comes before it. nil: there is none. The caller holds mu.
func (c *connections) evictable() *connection {
	var waiting *connection
	most := 0
	for _, o := range c.owners {
		oldest := o.oldest()
		if oldest != nil && (o.open > most || o.open == most && oldest.turn < waiting.turn) {
			waiting, most = oldest, o.open
		}
	}
	if most > c.max/4 {
		return waiting
	}
	for stranger := c.strangers.oldest(c.few()); stranger != nil; stranger = c.strangers.oldest(c.few()) {
		c.strangers.remove(stranger)
		switch {
		case stranger.conn.known > 0:
			go stranger.cut()
		case !stranger.conn.closed:
			stranger.cancel()
			return stranger.conn
		}
	}
	return waiting
}

// forget removes a connection. The caller holds all.mu.
func (c *connection) forget() {
	if c.closed {
		return
	}
	c.closed = true
	c.all.open--
	c.all.stopWaiting(c)
	c.all.owner(c.owner).open--
	c.all.drop(c.owner)
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
// refuse because the server is overloaded. At the end of requests, all contexts end.
//
// net/http ends the context of a request with HTTP/1.1 when the client sends no more. Such a
// client may still read the response (RFC 9112, 9.6), so what it has asked for goes on. If it
// has left, a long poll ends with its wait and a stream with its next write.
func (c *connections) handler(requests context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(*connection)
		ctx, cancel := context.WithCancel(r.Context())
		if r.ProtoMajor < 2 {
			ctx, cancel = context.WithCancel(context.WithoutCancel(r.Context()))
			defer context.AfterFunc(requests, cancel)()
		}
		defer cancel()
		r = r.WithContext(ctx)
		request := &running{conn: conn, began: time.Now(), http1: r.ProtoMajor < 2, control: http.NewResponseController(w), cancel: cancel}
		if c.client != nil {
			request.client = c.client(r)
		}
		if c.begin(request, isProbe(r)) {
			w.Header().Set("Connection", "close")
			r = web.MarkOverloaded(r)
		}
		defer c.end(request)
		next.ServeHTTP(w, web.OnIdentified(r, func(merchantID int64) bool { return c.identified(request, merchantID) }))
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
	c.stopWaiting(conn)
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

// identified is called when it is known which merchant sends a request; 0: an operator. It
// returns false if the merchant has a quarter of the connections already.
func (c *connections) identified(request *running, merchantID int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if request.known {
		return true
	}
	conn, o := request.conn, c.owner(merchantID)
	if conn.owner != merchantID && !conn.closed {
		c.owner(conn.owner).open--
		c.drop(conn.owner)
		conn.owner = merchantID
		o.open++
	}
	if merchantID != operators && o.running >= c.max/4 {
		return false
	}
	c.strangers.remove(request)
	request.known, request.merchantID = true, merchantID
	conn.known++
	o.running++
	return true
}

// end removes a running request from its connection, which waits if it was the last.
func (c *connections) end(request *running) {
	request.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.strangers.remove(request)
	conn := request.conn
	if request.known {
		conn.known--
		c.owner(request.merchantID).running--
		c.drop(request.merchantID)
	}
	conn.requests--
	if conn.requests == 0 && !conn.closed {
		c.wait(conn)
	}
}
