package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// fewConnections is a small bound on connections.
const fewConnections = 16

// boundedServer is a server with a bound on connections, in a test with a fake clock.
type boundedServer struct {
	*pipeListener
	hold chan struct{} // requests of /hold end when it is closed
}

// withBoundedServer runs test on a server with few connections.
func withBoundedServer(t *testing.T, test func(t *testing.T, s *boundedServer)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &boundedServer{pipeListener: newPipeListener(), hold: make(chan struct{})}
		inner := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hold" {
				web.Identified(r, operators)
				<-s.hold
			}
		})
		log := slog.New(slog.DiscardHandler)
		handler := web.Observe(inner, web.EncodeMessage, web.RequestLog{Logger: log}, metrics.New(), time.Now)
		stop, wait := run(t, s, handler, log, Options{Connections: fewConnections, Idle: time.Hour})
		test(t, s)
		stop()
		wait()
	})
}

// begin sends a request on a connection.
func begin(t *testing.T, conn net.Conn, path string) {
	t.Helper()
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Errorf("%s: %v", path, err)
	}
	synctest.Wait()
}

// result is what a test looks at in a response.
type result struct {
	status int
	header http.Header
	close  bool
}

// ask sends a request and reads the response.
func ask(t *testing.T, conn net.Conn, path string) result {
	t.Helper()
	begin(t, conn, path)
	return read(t, conn)
}

// read reads a response.
func read(t *testing.T, conn net.Conn) result {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	testenv.NoError(t, err)
	defer response.Body.Close()
	testenv.Of(io.Copy(io.Discard, response.Body)).Must(t)
	return result{status: response.StatusCode, header: response.Header, close: response.Close}
}

// isOpen reports whether the server has left a connection open that it has nothing
// to send on.
func isOpen(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, io.EOF)
}

// TestConnectionsAreBounded opens more connections than there may be: those that
// have waited for the longest time are closed, and busy ones are not.
// Proves decision 5 (connections, slow clients).
func TestConnectionsAreBounded(t *testing.T) {
	withBoundedServer(t, func(t *testing.T, s *boundedServer) {
		busy := s.dial(t, "")
		begin(t, busy, "/hold")
		used := s.dial(t, "")
		var silent []net.Conn
		for range fewConnections - 2 {
			silent = append(silent, s.dial(t, ""))
		}
		ask(t, used, "/x") // no longer the one that waits for the longest time
		for i := range 3 {
			late := s.dial(t, "")
			testenv.Equal(t, fmt.Sprintf("late connection %d: status", i), http.StatusOK, ask(t, late, "/x").status)
		}
		for i, conn := range silent {
			testenv.Equal(t, fmt.Sprintf("silent connection %d is open", i), i >= 3, isOpen(conn))
		}
		testenv.Equal(t, "the used connection: status", http.StatusOK, ask(t, used, "/x").status)
		close(s.hold)
		testenv.Equal(t, "the busy connection: status", http.StatusOK, read(t, busy).status)
	})
}

// TestProbesHaveRoom makes all connections busy but those reserved for probes: other
// requests are refused, and probes are not.
// Proves decision 5 (connections, slow clients).
func TestProbesHaveRoom(t *testing.T) {
	withBoundedServer(t, func(t *testing.T, s *boundedServer) {
		for range fewConnections - probeReserve {
			begin(t, s.dial(t, ""), "/hold")
		}
		for range 3 * probeReserve {
			refused := ask(t, s.dial(t, ""), "/x")
			if refused.status != http.StatusServiceUnavailable || !refused.close || refused.header.Get("Retry-After") == "" {
				t.Errorf("another request: status %d, headers %v", refused.status, refused.header)
			}
			s.dial(t, "") // and one that sends nothing
			for _, path := range []string{healthPath, readyPath, readyPath + "/"} {
				testenv.Equal(t, path+": status", http.StatusOK, ask(t, s.dial(t, ""), path).status)
			}
		}
		close(s.hold)
		synctest.Wait()
		testenv.Equal(t, "afterwards: status", http.StatusOK, ask(t, s.dial(t, ""), "/x").status)
	})
}

// TestConnectionWithSeveralRequests checks that a connection with HTTP/2 waits only
// when none of its requests is running, so that it is not closed before.
func TestConnectionWithSeveralRequests(t *testing.T) {
	t.Parallel()
	all := &connections{max: 1000}
	server, client := net.Pipe()
	defer client.Close()
	conn := all.admit(server)
	request := &running{conn: conn, cancel: func() {}}
	waits := func() bool { return conn.place != nil && all.owner(nobody).oldest() == conn }
	for _, step := range []struct {
		name  string
		do    func()
		busy  int
		waits bool
	}{
		{"a request", func() { all.begin(request, false) }, 1, false},
		{"a second one", func() { all.begin(request, false) }, 2, false},
		{"one ends", func() { all.end(request) }, 1, false},
		{"a third one", func() { all.begin(request, false) }, 2, false},
		{"another ends", func() { all.end(request) }, 1, false},
		{"the last ends", func() { all.end(request) }, 0, true},
		{"a request again", func() { all.begin(request, false) }, 1, false},
		{"closed", func() { conn.Close() }, 1, false},
		{"it ends", func() { all.end(request) }, 0, false},
	} {
		step.do()
		if n := all.owner(nobody).waiting.Len(); all.busy != step.busy || waits() != step.waits || !step.waits && n != 0 {
			t.Errorf("%s: %d requests run, it waits: %v, %d wait", step.name, all.busy, waits(), n)
		}
	}
}

// admit opens a connection to a server, which returns nil if it has no room.
func admit(t *testing.T, all *connections) *connection {
	server, client := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	return all.admit(server)
}

// TestStrangersGiveWay fills a server with requests: a new one takes the place of the
// oldest stranger's of the client that has most, and is refused if there is none.
func TestStrangersGiveWay(t *testing.T) {
	t.Parallel()
	one, two := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for _, strangers := range []int{2, 3, 20} {
		synctest.Test(t, func(t *testing.T) {
			all, contexts := &connections{max: 72}, make(map[*running]context.Context)
			begin := func(client netip.Addr, known bool) (*running, bool) {
				ctx, cancel := context.WithCancel(t.Context())
				r := &running{conn: admit(t, all), client: client, began: time.Now(), http1: true, cancel: cancel}
				contexts[r] = ctx
				refused := all.begin(r, false)
				if known {
					all.identified(r, operators)
				}
				if refused {
					all.end(r)
				}
				synctest.Wait() // for cut
				return r, refused
			}
			alone, _ := begin(one, false)
			oldest, _ := begin(two, false)
			for range strangers - 2 {
				begin(two, false)
			}
			for all.busy < all.max-probeReserve {
				begin(two, true)
			}
			if strangers <= all.few() {
				if _, refused := begin(two, true); !refused {
					t.Errorf("%d strangers: a request took the place of one whose token was not read yet", strangers)
				}
				time.Sleep(strangerTime)
			}
			cut := func(r *running) bool { return r.conn.closed && contexts[r].Err() != nil }
			if _, refused := begin(two, true); refused || strangers > 2 && (!cut(oldest) || cut(alone)) {
				t.Errorf("%d strangers: refused %v, the oldest of the client with most is cut: %v", strangers, refused, cut(oldest))
			}
			time.Sleep(strangerTime)
			for range strangers - 1 {
				if _, refused := begin(two, true); refused {
					t.Errorf("%d strangers: refused before all have given way", strangers)
				}
			}
			if _, refused := begin(two, true); !refused || !cut(alone) || !cut(oldest) {
				t.Errorf("%d strangers: refused %v after all have given way", strangers, refused)
			}
		})
	}
}

// TestStrangersGiveWayToConnections opens connections while requests of strangers have all:
// new ones take their places, until only requests of others are left.
func TestStrangersGiveWayToConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := &connections{max: 3}
		conns := []*connection{admit(t, all), admit(t, all), admit(t, all)}
		for i, conn := range conns {
			for range 2 { // as with HTTP/2
				r := &running{conn: conn, began: time.Now(), cancel: func() {}}
				all.begin(r, true)
				if i == 2 {
					all.identified(r, operators)
				}
			}
		}
		time.Sleep(strangerTime)
		for i := range 3 {
			conn := admit(t, all)
			if (conn != nil) != (i < 2) || all.open != 3 || conn != nil && !conns[i].closed {
				t.Fatalf("connection %d: %v, %d are open", i, conn != nil, all.open)
			}
			if conn != nil {
				r := &running{conn: conn, began: time.Now(), cancel: func() {}}
				all.begin(r, true)
				all.identified(r, operators)
			}
		}
	})
}

// TestMerchantsHaveAQuarter has a merchant send as many requests as it can: it has a quarter
// of the connections, and the others that it opens give way to new ones.
// Proves decision 5 (connections, slow clients).
func TestMerchantsHaveAQuarter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const greedy, others = 355, 356
		all := &connections{max: 72}
		begin := func(merchantID int64) (r *running, admitted bool) {
			conn := admit(t, all)
			if conn == nil {
				t.Fatalf("no connection for merchant %d", merchantID)
			}
			r = &running{conn: conn, began: time.Now(), http1: true, cancel: func() {}}
			if all.begin(r, false) {
				t.Fatalf("no request of merchant %d", merchantID)
			}
			admitted = all.identified(r, merchantID)
			testenv.Equal(t, "admitted again", admitted, all.identified(r, merchantID))
			return r, admitted
		}
		first, _ := begin(greedy)
		for n := 2; n <= 3*all.max; n++ { // those beyond the quarter stay open and end never
			if _, admitted := begin(greedy); admitted != (n <= all.max/4) {
				t.Fatalf("request %d is admitted: %v", n, admitted)
			}
			time.Sleep(strangerTime)
		}
		for range all.max / 4 {
			if _, admitted := begin(others); !admitted {
				t.Error("a request of another merchant is refused")
			}
			if _, admitted := begin(operators); !admitted {
				t.Error("a request of an operator is refused")
			}
			synctest.Wait() // for cut
		}
		all.end(first)
		if _, admitted := begin(greedy); !admitted {
			t.Error("a request in the place of another one is refused")
		}
	})
}

// TestKnownConnectionsGiveWay has connections send a request with a token, and then one
// without: they give way as those of strangers do. One with a request that is known stays.
func TestKnownConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		all := &connections{max: 3}
		begin := func(conn *connection) *running {
			r := &running{conn: conn, began: time.Now(), control: http.NewResponseController(httptest.NewRecorder()), cancel: func() {}}
			all.begin(r, true)
			return r
		}
		conns := []*connection{admit(t, all), admit(t, all), admit(t, all)}
		for i, conn := range conns {
			known := begin(conn)
			all.identified(known, operators)
			begin(conn)
			if i > 0 {
				all.end(known)
			}
		}
		time.Sleep(strangerTime)
		for i, want := range []bool{true, true, false} {
			conn := admit(t, all)
			testenv.Equal(t, fmt.Sprintf("connection %d is open", i), want, conn != nil)
			if conn != nil {
				all.identified(begin(conn), operators)
			}
		}
		if conns[0].closed || !conns[1].closed || !conns[2].closed {
			t.Errorf("closed: %v, %v, %v", conns[0].closed, conns[1].closed, conns[2].closed)
		}
	})
}

// TestConnectionsOfOthersStay has a merchant with one connection that waits, longer than all
// others, while another one has many that wait, and then many with requests beyond its
// quarter: new connections never take the place of the one.
func TestConnectionsOfOthersStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const greedy, other = 355, 356
		all := &connections{max: 72}
		use := func(merchantID int64, end bool) *connection {
			conn := admit(t, all)
			r := &running{conn: conn, began: time.Now(), http1: true, cancel: func() {}}
			all.begin(r, false)
			all.identified(r, merchantID)
			if end {
				all.end(r)
			}
			return conn
		}
		stays := use(other, true)
		for n := range 4 * all.max {
			use(greedy, n < 2*all.max)
			if stays.closed {
				t.Fatalf("connection %d took its place", n)
			}
			time.Sleep(strangerTime)
		}
		for id := range int64(all.max) { // others that have as much do
			use(1000+id, true)
		}
		if !stays.closed {
			t.Error("it stays though others have waited for less time")
		}
	})
}
