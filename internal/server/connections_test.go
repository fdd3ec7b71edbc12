package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
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
				<-s.hold
			}
		})
		log := slog.New(slog.DiscardHandler)
		handler := web.Observe(inner, web.EncodeMessage, web.RequestLog{Logger: log}, metrics.New(), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(ctx, s, handler, log, Options{Connections: fewConnections, Idle: time.Hour})
		}()
		test(t, s)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
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
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
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
			if got := ask(t, late, "/x"); got.status != http.StatusOK {
				t.Errorf("late connection %d: status %d", i, got.status)
			}
		}
		for i, conn := range silent {
			if isOpen(conn) != (i >= 3) {
				t.Errorf("silent connection %d is open: %v", i, i < 3)
			}
		}
		if got := ask(t, used, "/x"); got.status != http.StatusOK {
			t.Errorf("the used connection: status %d", got.status)
		}
		close(s.hold)
		if got := read(t, busy); got.status != http.StatusOK {
			t.Errorf("the busy connection: status %d", got.status)
		}
	})
}

// TestProbesHaveRoom makes all connections busy but those reserved for probes: other
// requests are refused, and probes are not.
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
				if got := ask(t, s.dial(t, ""), path); got.status != http.StatusOK {
					t.Errorf("%s: status %d", path, got.status)
				}
			}
		}
		close(s.hold)
		synctest.Wait()
		if got := ask(t, s.dial(t, ""), "/x"); got.status != http.StatusOK {
			t.Errorf("afterwards: status %d", got.status)
		}
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
	waits := func() bool { return all.waiting.Len() == 1 && all.waiting.Front().Value == conn }
	for _, step := range []struct {
		name  string
		do    func()
		busy  int
		waits bool
	}{
		{"a request", func() { all.begin(conn) }, 1, false},
		{"a second one", func() { all.begin(conn) }, 2, false},
		{"one ends", func() { all.end(conn) }, 1, false},
		{"a third one", func() { all.begin(conn) }, 2, false},
		{"another ends", func() { all.end(conn) }, 1, false},
		{"the last ends", func() { all.end(conn) }, 0, true},
		{"a request again", func() { all.begin(conn) }, 1, false},
		{"closed", func() { conn.Close() }, 1, false},
		{"it ends", func() { all.end(conn) }, 0, false},
	} {
		step.do()
		if all.busy != step.busy || waits() != step.waits || !step.waits && all.waiting.Len() != 0 {
			t.Errorf("%s: %d requests run, it waits: %v, %d wait", step.name, all.busy, waits(), all.waiting.Len())
		}
	}
}
