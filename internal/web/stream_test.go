package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// streamServer is a server with a stream route.
type streamServer struct {
	*httptest.Server
	stop context.CancelFunc // begins to stop it
}

func startStream(t *testing.T, timeout time.Duration, handle StreamHandler) *streamServer {
	t.Helper()
	stopping, stop := context.WithCancel(t.Context())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, body := withRequestBody(w, r)
		_ = serveStream(timeout, handle)(w, &Request{Request: r, log: &requestLogEntry{}}) // nobody looks at the log
		body.drain()
	}))
	server.Config.BaseContext = func(net.Listener) context.Context { return WithStopping(context.Background(), stopping) }
	server.Start()
	t.Cleanup(server.Close)
	return &streamServer{server, stop}
}

// openStream sends a request whose body is what is written to the returned pipe.
func openStream(t *testing.T, s *streamServer, first string) (*io.PipeWriter, *bufio.Scanner) {
	t.Helper()
	body, send := io.Pipe()
	t.Cleanup(func() { _ = send.Close() })
	go func() { _, _ = io.WriteString(send, first) }()
	r := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, body)).Must(t)
	response, err := http.DefaultClient.Do(r)
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return send, bufio.NewScanner(response.Body)
}

// echo responds with every line, as soon as it arrives.
func echo(s *Stream) error {
	for lines := bufio.NewScanner(s); lines.Scan(); {
		if err := s.WriteLine(lines.Text()); err != nil {
			return err
		}
		if err := s.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func wantLine(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("line %q, error %v, want %q", lines.Text(), lines.Err(), want)
	}
}

// TestStreamBothWays sends lines after the responses to earlier ones, on one
// connection also with the next request.
// Proves decision 7 (results while the body arrives).
func TestStreamBothWays(t *testing.T) {
	t.Parallel()
	s := startStream(t, time.Minute, echo)
	for range 2 {
		send, lines := openStream(t, s, "one\n")
		wantLine(t, lines, `"one"`)
		_, _ = io.WriteString(send, "two\nthr")
		wantLine(t, lines, `"two"`)
		_, _ = io.WriteString(send, "ee")
		_ = send.Close()
		wantLine(t, lines, `"three"`)
		if lines.Scan() || lines.Err() != nil {
			t.Errorf("%q after the end, error %v", lines.Text(), lines.Err())
		}
	}
}

// TestStreamEndsWithServer stops a server while the client of a stream is silent: the
// handler ends on its own, and the Read that is still running does too.
// Proves decision 7 (a stream that breaks, stalls or meets a stop).
func TestStreamEndsWithServer(t *testing.T) {
	t.Parallel()
	s := startStream(t, time.Minute, func(s *Stream) error {
		go func() { _, _ = io.Copy(io.Discard, s) }()
		if err := s.Flush(); err != nil {
			return err
		}
		<-s.Context().Done()
		if err := s.WriteLine(context.Cause(s.Context()).Error()); err != nil {
			return err
		}
		return s.Flush()
	})
	_, lines := openStream(t, s, "one\n")
	s.stop()
	wantLine(t, lines, `"the server is stopping"`)
	s.Close() // waits for the request
}

// TestStreamStalls checks that a stream ends if its client sends nothing, and if it
// reads nothing.
// Proves decision 7 (a stream that breaks, stalls or meets a stop).
func TestStreamStalls(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	sending := startStream(t, 20*time.Millisecond, func(s *Stream) error {
		_ = s.Flush() // the client waits for the header
		_, err := io.Copy(io.Discard, s)
		ended <- err
		return err
	})
	openStream(t, sending, "one\ntw")
	if err := <-ended; err == nil {
		t.Error("a silent client has sent everything")
	}
	reading := startStream(t, 20*time.Millisecond, func(s *Stream) error {
		for line := strings.Repeat("x", 1<<16); ; {
			_ = s.WriteLine(line) // into memory
			if err := s.Flush(); err != nil {
				ended <- err
				return err
			}
		}
	})
	openStream(t, reading, "one\n")
	<-ended
}

// revocable are credentials that count how often they are looked at, until they are revoked.
type revocable struct {
	looks   atomic.Int64
	revoked atomic.Pointer[error]
}

// Authenticate implements Credentials.
func (c *revocable) Authenticate(http.Header, *Request) (token.Session, token.Grant, error) {
	c.looks.Add(1)
	if err := c.revoked.Load(); err != nil {
		return token.Session{}, token.Grant{}, *err
	}
	return token.Session{}, token.Grant{}, nil
}

// TestStreamLooksForRevocation has streams whose clients neither send nor take anything:
// they end soon after their token was revoked or their merchant suspended, and not because
// the database is out of reach.
func TestStreamLooksForRevocation(t *testing.T) {
	t.Parallel()
	for _, reason := range []error{ErrUnauthorized, ErrSuspended} {
		synctest.Test(t, func(t *testing.T) {
			credentials := &revocable{}
			r := &Request{Request: httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), credentials: credentials, log: &requestLogEntry{}}
			s, end := OpenResponse(httptest.NewRecorder(), r)
			passing := order.ErrUnavailable
			credentials.revoked.Store(&passing)
			time.Sleep(10 * checkInterval)
			if s.Context().Err() != nil || credentials.looks.Load() < 9 {
				t.Fatalf("after %d looks: %v", credentials.looks.Load(), context.Cause(s.Context()))
			}
			credentials.revoked.Store(&reason)
			select {
			case <-s.Context().Done():
			case <-time.After(checkInterval + time.Second):
				t.Error("the stream goes on")
			}
			if s.Ended(context.Canceled) == "" || !errors.Is(context.Cause(s.Context()), reason) {
				t.Errorf("ended: %q", s.Ended(context.Canceled))
			}
			end()
		})
	}
}

// TestExpansion reads compressed bodies: lines of orders, and a text that expands too much.
func TestExpansion(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		line func(n int) string
		want error
	}{
		"blank lines": {func(int) string { return "\n" }, ErrExpanded},
		"one letter":  {func(int) string { return "x\n" }, ErrExpanded},
		"answers":     {func(n int) string { return fmt.Sprintf(`{"orderReference":"SF-2026-%07d","answer":"accept"}`+"\n", n) }, nil},
	} {
		var compressed bytes.Buffer
		w := gzip.NewWriter(&compressed)
		size := int64(0)
		for n := 0; size < 8<<20; n++ {
			written := testenv.Of(io.WriteString(w, row.line(n))).Must(t)
			size += int64(written)
		}
		testenv.NoError(t, w.Close())
		sent := int64(compressed.Len())
		read, err := io.Copy(io.Discard, &gzipBody{compressed: &compressed})
		if !errors.Is(err, row.want) || row.want == nil && read != size || row.want != nil && read > minExpansion+maxExpansion*sent {
			t.Errorf("%s: %d of %d bytes, which were sent as %d: %v", name, read, size, sent, err)
		}
	}
}
