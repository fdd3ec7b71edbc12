package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/certtest"
	"merchantorders/internal/metrics"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// http2Server is a server with TLS whose client uses HTTP/2.
type http2Server struct {
	url    string
	client *http.Client
	stop   func()
	ended  chan error
}

func startHTTP2(t *testing.T, handler http.Handler, connections int, timeouts timeLimits) *http2Server {
	t.Helper()
	pair := certtest.New(t, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	read := func() (tls.Certificate, error) { return tls.LoadX509KeyPair(pair.Cert, pair.Key) }
	log := slog.New(slog.DiscardHandler)
	certificate := testenv.Of(NewCertificate(read, time.Now, log)).Must(t)
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pair.Pool}}
	ctx, stop := context.WithCancel(context.Background())
	s := &http2Server{
		url: "https://" + listener.Addr().String(), client: &http.Client{Transport: transport, Timeout: 2 * time.Minute},
		stop: stop, ended: make(chan error, 1),
	}
	options := Options{Connections: connections, Idle: time.Minute, TLS: certificate.TLS()}
	go func() { s.ended <- serve(ctx, listener, handler, log, options, timeouts) }()
	t.Cleanup(func() {
		stop()
		testenv.NoError(t, <-s.ended)
		transport.CloseIdleConnections()
	})
	return s
}

// send sends a request and returns the status of the response, 0 if there is none.
func (s *http2Server) send(t *testing.T, path string, body io.Reader) int {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, body)
	if err != nil {
		t.Error(err)
		return 0
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	testenv.Equal(t, fmt.Sprintf("%s: %s", path, response.Proto), 2, response.ProtoMajor)
	return response.StatusCode
}

// TestHTTP2Overloaded checks that the requests of one connection are counted each, so that
// one client leaves room for probes.
func TestHTTP2Overloaded(t *testing.T) {
	t.Parallel()
	hold, held := make(chan struct{}), make(chan struct{})
	inner := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			web.Identified(r, operators)
			held <- struct{}{}
			<-hold
		}
	})
	handler := web.Observe(inner, web.EncodeMessage, web.RequestLog{Logger: slog.New(slog.DiscardHandler)}, metrics.New(), time.Now)
	s := startHTTP2(t, handler, fewConnections, generous)
	statuses := make(chan int)
	for range fewConnections - probeReserve {
		go func() { statuses <- s.send(t, "/hold", nil) }()
		<-held
	}
	testenv.Equal(t, "another request: status", http.StatusServiceUnavailable, s.send(t, "/x", nil))
	testenv.Equal(t, "a probe: status", http.StatusOK, s.send(t, healthPath, nil))
	close(hold)
	for range fewConnections - probeReserve {
		testenv.Equal(t, "a request that was held: status", http.StatusOK, <-statuses)
	}
}

// stalling is a connection of a client that stops reading.
type stalling struct {
	net.Conn
	stalled *atomic.Bool
	resumed chan struct{} // closed at the end
}

func (c stalling) Read(p []byte) (int, error) {
	if c.stalled.Load() {
		<-c.resumed
	}
	return c.Conn.Read(p)
}

// TestHTTP2StalledConnection checks that responses end if nothing of the connection is read.
// Proves decision 7 (a stream that breaks, stalls or meets a stop).
func TestHTTP2StalledConnection(t *testing.T) {
	t.Parallel()
	const requests = 8 // whose flow control allows more than fits into the connection
	begin, ended := make(chan struct{}), make(chan struct{})
	tight := generous
	tight.request, tight.stall = time.Hour, 50*time.Millisecond
	s := startHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		err := control.Flush()
		<-begin
		for err == nil {
			_ = control.SetWriteDeadline(time.Now().Add(tight.stall))
			_, err = w.Write(make([]byte, 32<<10))
		}
		ended <- struct{}{}
	}), 1000, tight)
	conn := stalling{stalled: new(atomic.Bool), resumed: make(chan struct{})}
	defer close(conn.resumed)
	s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, address string) (_ net.Conn, err error) {
		conn.Conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return conn, err
	}
	for range requests {
		response, err := s.client.Get(s.url)
		testenv.NoError(t, err)
		defer response.Body.Close()
	}
	conn.stalled.Store(true)
	close(begin)
	for range requests {
		<-ended
	}
}
