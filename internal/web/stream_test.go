package web

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
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
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, body)
	testenv.NoError(t, err)
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
