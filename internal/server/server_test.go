package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// generous are timeouts that no test reaches.
var generous = timeLimits{header: time.Minute, request: time.Minute, stall: time.Minute, stop: time.Minute}

// roomy are settings that no test reaches.
var roomy = Options{Connections: 1000, Idle: time.Minute}

// run serves until stop is called. wait returns when the server has ended, without an error.
func run(t *testing.T, listener net.Listener, handler http.Handler, log *slog.Logger, options Options) (stop, wait func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, handler, log, options) }()
	return stop, func() {
		t.Helper()
		testenv.NoError(t, <-ended)
	}
}

// closingListener has a channel that is closed with it.
type closingListener struct {
	net.Listener
	once   sync.Once
	closed chan struct{}
}

func (l *closingListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// testServer is a server on its own port.
type testServer struct {
	listener *closingListener
	cancel   context.CancelFunc
	ended    chan error
	log      bytes.Buffer // read it only after the server has ended
}

func startServer(t *testing.T, handler http.HandlerFunc, timeouts timeLimits) *testServer {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	s := &testServer{listener: &closingListener{Listener: listener, closed: make(chan struct{})}, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	log := slog.New(slog.NewTextHandler(&s.log, nil))
	go func() {
		s.ended <- serve(ctx, s.listener, handler, log, roomy, timeouts)
		close(s.ended)
	}()
	t.Cleanup(func() { s.stop(t) })
	return s
}

// stop stops the server and checks that it stops without an error.
func (s *testServer) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	testenv.NoError(t, <-s.ended)
}

// dial opens a connection and sends a text. Reading from it fails after some
// minutes.
func (s *testServer) dial(t *testing.T, text string) net.Conn {
	t.Helper()
	conn := testenv.Of(net.Dial("tcp", s.listener.Addr().String())).Must(t)
	t.Cleanup(func() { conn.Close() })
	testenv.NoError(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	testenv.Of(io.WriteString(conn, text)).Must(t)
	return conn
}

// wantCut checks that the server closes a connection without sending anything.
func wantCut(t *testing.T, conn net.Conn) {
	t.Helper()
	testenv.Of(io.ReadAll(conn)).Want(t, "read before the cut", []byte{})
}

const aRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

func refuse(t *testing.T) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { t.Error("a request that was not whole reached the handler") }
}

func TestHeadersAreBounded(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(http.ResponseWriter, *http.Request) {}, generous)
	for size, want := range map[int]int{60 << 10: 200, 80 << 10: 431} {
		conn := s.dial(t, "GET / HTTP/1.1\r\nHost: x\r\nX-Long: "+strings.Repeat("a", size)+"\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		testenv.NoError(t, err)
		response.Body.Close()
		testenv.Equal(t, fmt.Sprintf("a header of %d bytes: status", size), want, response.StatusCode)
	}
}

func TestStopFinishesRequests(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	s := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quick" {
			return
		}
		close(started)
		<-release
		testenv.Equal(t, "the context of a request that had time left", nil, r.Context().Err())
		_, _ = io.WriteString(w, "finished")
	}, generous)
	idle := s.dial(t, "GET /quick HTTP/1.1\r\nHost: x\r\n\r\n")
	idleReader := bufio.NewReader(idle)
	first, err := http.ReadResponse(idleReader, nil)
	if err != nil || first.Close {
		t.Fatalf("%+v, error %v", first, err)
	}
	defer func() { _ = first.Body.Close() }()
	slow := s.dial(t, aRequest)
	<-started

	s.cancel()
	<-s.listener.closed
	wantCut(t, idle)
	if conn, err := net.Dial("tcp", s.listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("a stopping server accepts connections")
	}
	select {
	case err := <-s.ended:
		t.Fatalf("the stop did not wait: %v", err)
	default:
	}

	close(release)
	reader := bufio.NewReader(slow)
	response, err := http.ReadResponse(reader, nil)
	testenv.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if string(body) != "finished" || err != nil || !response.Close {
		t.Errorf("body %q, error %v, Connection: close %v", body, err, response.Close)
	}
	wantCut(t, slow)
	s.stop(t)
	if s.log.Len() > 0 {
		t.Errorf("log: %s", s.log.String())
	}
}

func TestServeFails(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.NoError(t, err)
	listener.Close()
	err = Serve(t.Context(), listener, refuse(t), slog.New(slog.DiscardHandler), roomy)
	testenv.Equal(t, "a closed listener", net.ErrClosed, err)
}

func TestServeAfterStop(t *testing.T) {
	t.Parallel()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.NoError(t, Serve(ctx, listener, refuse(t), slog.New(slog.DiscardHandler), roomy))
	testenv.Of(listener.Accept()).WantError(t, "the listener is left open", net.ErrClosed)
}
