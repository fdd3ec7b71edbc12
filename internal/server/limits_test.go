package server

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/testenv"
)

// pipeListener accepts connections within the process, so that a test can run the
// limits on a fake clock.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{} }

func (l *pipeListener) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	l.conns <- server
	testenv.Of(io.WriteString(client, text)).Must(t)
	return client
}

// TestServerTimeouts checks each time limit to the second.
// Proves decision 5 (connections, slow clients).
func TestServerTimeouts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       time.Duration
	}{
		{"no request at all", "", 5 * time.Second},
		{"half a header", "GET / HTTP/1.1\r\nHost: ", 5 * time.Second},
		{"half a body", "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", 120 * time.Second},
		{"half a body that is not read", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", 120 * time.Second},
		{"no second request", aRequest, 30 * time.Second},
		{"half a second header", aRequest + "GET / HTT", 5 * time.Second},
		{"a response that is not read", "GET /long HTTP/1.1\r\nHost: x\r\n\r\n", 120 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				listener, cut := newPipeListener(), make(chan time.Time, 1)
				handler := func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/body":
						_, _ = io.Copy(io.Discard, r.Body)
					case "/long":
						// The client does not read, so that writing fails in the end.
						for err := error(nil); err == nil; {
							_, err = w.Write(make([]byte, 1<<10))
						}
						cut <- time.Now()
					}
				}
				stop, wait := run(t, listener, http.HandlerFunc(handler), slog.New(slog.DiscardHandler), Options{Connections: fewConnections, Idle: 30 * time.Second})
				start := time.Now()
				conn := listener.dial(t, test.text)
				if !strings.Contains(test.text, "/long") {
					_, _ = io.Copy(io.Discard, conn)
					cut <- time.Now()
				}
				testenv.Equal(t, "cut after", test.want, (<-cut).Sub(start))
				conn.Close()
				stop()
				wait()
			})
		})
	}
}

func TestStopTakesTenSeconds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, request string
		work, want    time.Duration
		body, log     string
	}{
		{"a request that ends in time", aRequest, 9 * time.Second, 9 * time.Second, "finished", ""},
		{"a request that does not", aRequest, time.Hour, 10 * time.Second, "", "running requests were cut off"},
		// The server notices the end of this connection only when it reads from it.
		{"half a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf", time.Hour, 10 * time.Second, "", "running requests were cut off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				listener, log := newPipeListener(), new(testenv.Log)
				handler := func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(test.work):
						_, _ = io.WriteString(w, "finished")
					case <-r.Context().Done():
					}
				}
				stop, wait := run(t, listener, http.HandlerFunc(handler), slog.New(slog.NewTextHandler(log, nil)), Options{Connections: fewConnections, Idle: 30 * time.Second})
				conn := listener.dial(t, test.request)
				synctest.Wait()
				start := time.Now()
				stop()
				response, _ := io.ReadAll(conn)
				if !strings.HasSuffix(string(response), test.body) || (test.body == "") != (len(response) == 0) {
					t.Errorf("response %q", response)
				}
				wait()
				if logged := log.String(); !strings.Contains(logged, test.log) || (test.log == "") != (logged == "") {
					t.Errorf("log %s", logged)
				}
				// The server checks twice a second whether all requests have ended.
				if got := time.Since(start); got < test.want || got > test.want+time.Second {
					t.Errorf("stopped after %s, want %s", got, test.want)
				}
			})
		})
	}
}
