package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// startStream starts a server with a stream route.
func startStream(t *testing.T, timeout time.Duration, handle StreamHandler) *testServer {
	t.Helper()
	return startServer(t, func(w http.ResponseWriter, r *http.Request) {
		r, body := withRequestBody(w, withLogEntry(r))
		_ = serveStream(timeout, handle)(w, r) // nobody looks at the log
		body.drain()
	}, generous)
}

// openStream sends a request whose body is what is written to the returned pipe.
func openStream(t *testing.T, s *testServer, first string) (*io.PipeWriter, *bufio.Scanner) {
	t.Helper()
	body, send := io.Pipe()
	t.Cleanup(func() { _ = send.Close() })
	go func() { _, _ = io.WriteString(send, first) }()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.listener.Addr().String(), body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
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
	s.cancel()
	wantLine(t, lines, `"the service is stopping"`)
	s.stop(t)
	if strings.Contains(s.log.String(), "cut off") {
		t.Errorf("the stream was cut off: %s", s.log.String())
	}
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
