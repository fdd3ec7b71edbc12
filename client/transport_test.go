package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// step is the distance of the bytes at which responses are truncated.
func step() int {
	if testenv.All() {
		return 1
	}
	return 7
}

// TestBrokenJSON truncates every successful response at every byte, with a matching
// Content-Length.
func TestBrokenJSON(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			var length atomic.Int64
			f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				response(w, 200, call.good[:length.Load()])
			})
			for n := 0; n < len(call.good); n += step() {
				length.Store(int64(n))
				testenv.Equal(t, fmt.Sprintf("%d bytes: tries", n), 1, wantKind(t, call.do(t.Context(), f.client), client.ErrResponse).Tries)
			}
			length.Store(int64(len(call.good)))
			testenv.NoError(t, call.do(t.Context(), f.client))
		})
	}
}

// TestUnexpectedResponses checks responses with status 200 that v2 does not define.
func TestUnexpectedResponses(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"no content type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, goodList)
		},
		"another content type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		},
		"null":            always(200, "null"),
		"an array":        always(200, "[]"),
		"an empty object": always(200, "{}"),
		"text after it":   func(w http.ResponseWriter, _ *http.Request) { response(w, 200, "{}{}") },
		"success false":   always(200, `{"success":false,"order":{},"orders":[{}],"events":null,"invoice":null,"invoices":null}`),
		"wrong types":     always(200, `{"success":"true","order":[],"params":[],"orders":{},"events":{},"invoice":[],"invoices":{}}`),
		"wrong times": always(200, `{"success":1,"order":{"id":"SF-1","createdAt":"soon"},"params":{"page":1,"dateFrom":"soon"},"events":[{"at":"soon"}],`+
			`"invoice":{"created_at":"soon"},"invoices":[{"created_at":"soon"}]}`),
		"endless": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for piece := strings.Repeat(" ", 64<<10); r.Context().Err() == nil; {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.example/x", http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, handler)
			for _, call := range calls {
				if name == "endless" && call.name != "list" && call.name != "accept" {
					continue // 32 MiB each
				}
				if e := wantKind(t, call.do(t.Context(), f.client), client.ErrResponse); e.Tries != 1 || e.RequestID == "" {
					t.Errorf("%s: %+v", call.name, e)
				}
			}
		})
	}
}

// TestEndlessError checks that an error with an endless body has the kind of its
// status.
func TestEndlessError(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<10)); err != nil {
				return
			}
		}
	})
	_, err := f.client.Order(t.Context(), "SF-1")
	wantKind(t, err, client.ErrUnauthorized)
}

// cutter is a server that truncates some of its responses.
type cutter struct {
	net.Listener
	response string
	length   atomic.Int64 // bytes of the next response
	done     sync.WaitGroup
}

// newCutter truncates the response to every first request of a pair; with always,
// every response.
func newCutter(t *testing.T, body string, always bool) *cutter {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	c := &cutter{Listener: listener}
	c.response = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	c.done.Go(func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			send := c.response
			if always || n%2 == 0 {
				send = send[:c.length.Load()]
			}
			if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, request.Body)
				_, _ = io.WriteString(conn, send)
			}
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = listener.Close(); c.done.Wait() })
	return c
}

func (c *cutter) client(t *testing.T, options ...client.Option) *client.Client {
	t.Helper()
	options = append(options, client.WithSleep(func(ctx context.Context, _ time.Duration) error { return ctx.Err() }))
	made := testenv.Of(client.New("http://"+c.Addr().String(), secret, options...)).Must(t)
	return made
}

// TestCutAnywhere cuts the connection at every byte of the response and its header.
// The second attempt is complete.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			server := newCutter(t, call.good, false)
			c := server.client(t, client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
			for n := 0; n < len(server.response); n += step() {
				server.length.Store(int64(n))
				testenv.Equal(t, fmt.Sprintf("cut after %d bytes", n), nil, call.do(t.Context(), c))
			}
		})
	}
}

func TestCutAlways(t *testing.T) {
	t.Parallel()
	for _, call := range calls {
		server := newCutter(t, call.good, true)
		c := server.client(t, client.WithTries(3), client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
		once := server.client(t, client.WithoutWriteRetries(), client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
		for _, n := range []int{0, 10, len(server.response) - 1} {
			server.length.Store(int64(n))
			if e := wantKind(t, call.do(t.Context(), c), client.ErrTransport); e.Tries != 3 || e.RequestID == "" {
				t.Errorf("%s, cut after %d bytes: %+v", call.name, n, e)
			}
			e := wantKind(t, call.do(t.Context(), once), client.ErrTransport)
			testenv.Equal(t, call.name+" without retries of writes: tries", map[bool]int{true: 1, false: client.DefaultTries}[call.write], e.Tries)
		}
	}
}

// TestTimeout calls a service that never responds.
func TestTimeout(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	f := newFake(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}, client.WithTimeout(10*time.Millisecond), client.WithTries(2))
	t.Cleanup(func() { close(end) })
	for _, call := range calls {
		e := wantKind(t, call.do(t.Context(), f.client), client.ErrTransport)
		if !e.Timeout() || !errors.Is(e, context.DeadlineExceeded) || e.RequestID == "" || e.Tries != 2 {
			t.Errorf("%s: %+v", call.name, e)
		}
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, goodOrder))
	f.Close()
	_, err := f.client.Order(t.Context(), "SF-1")
	if e := wantKind(t, err, client.ErrTransport); e.Tries != client.DefaultTries || e.RequestID == "" || e.Timeout() {
		t.Errorf("%+v", e)
	}
}

// TestRedirects checks that the token is not sent to another host.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "elsewhere")
	})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/storage/here.pdf":
			http.Redirect(w, r, "/storage/moved.pdf", http.StatusFound)
		case "/storage/moved.pdf":
			_, _ = io.WriteString(w, "moved")
		case "/storage/round.pdf":
			http.Redirect(w, r, "/storage/round.pdf", http.StatusFound)
		default:
			http.Redirect(w, r, other.URL+"/x.pdf", http.StatusTemporaryRedirect)
		}
	}, client.WithTries(1))

	for _, call := range calls {
		e := wantKind(t, call.do(t.Context(), f.client), client.ErrResponse)
		testenv.Contains(t, call.name, e.Message, "a redirect to "+other.URL)
	}
	if n := len(other.requests()); n != 0 {
		t.Fatalf("%d redirects were followed", n)
	}

	for path, want := range map[string]string{"/storage/here.pdf": "moved", "/away.pdf": "elsewhere"} {
		testenv.Equal(t, "file of "+path, want, string(testenv.Of(f.client.DownloadInvoice(t.Context(), client.Invoice{ID: 1, URL: f.URL + path})).Must(t).Content))
	}
	_, err := f.client.DownloadInvoice(t.Context(), client.Invoice{ID: 1, URL: f.URL + "/storage/round.pdf"})
	wantKind(t, err, client.ErrTransport)
	testenv.Of(f.client.DownloadInvoice(t.Context(), client.Invoice{ID: 1, URL: other.URL + "/direct.pdf"})).Must(t)
	for _, request := range other.requests() {
		testenv.Equal(t, fmt.Sprintf("%s got", request.URL), "", request.Header.Get("Authorization"))
	}
	trusting := f.newClient(t, client.WithStorage(other.URL))
	testenv.Of(trusting.DownloadInvoice(t.Context(), client.Invoice{ID: 1, URL: other.URL + "/trusted.pdf"})).Must(t)
	requests := other.requests()
	testenv.Equal(t, "the named storage got", "Bearer "+secret, requests[len(requests)-1].Header.Get("Authorization"))
}
