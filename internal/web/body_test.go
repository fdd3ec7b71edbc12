package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// readers returns routes that respond with the length of a small body (POST
// /small) and of a large one (POST /upload), and routes that respond (PATCH /deaf)
// and refuse (POST /no) without reading the body.
func readers() []web.RouteGroup {
	length := func(limit int64, before func(*web.Request)) web.Handler {
		return func(w http.ResponseWriter, r *web.Request) error {
			before(r)
			body, err := web.ReadBody(r, limit)
			if err != nil {
				return err
			}
			return web.WriteJSON(w, http.StatusOK, len(body))
		}
	}
	return []web.RouteGroup{{Errors: web.EncodeMessage, Routes: []web.Route{
		public("POST", "/small", length(web.MaxBody, func(*web.Request) {})),
		public("POST", "/upload", length(8<<20, web.ExtendUploadDeadline)),
		public("PATCH", "/deaf", func(w http.ResponseWriter, _ *web.Request) error { return web.WriteJSON(w, http.StatusOK, "done") }),
		public("POST", "/no", func(http.ResponseWriter, *web.Request) error { return web.ErrUnauthorized }),
	}}}
}

// clock is a writer that records the read deadlines of its connection.
type clock struct {
	http.ResponseWriter
	deadlines []time.Time
}

func (c *clock) SetReadDeadline(at time.Time) error {
	c.deadlines = append(c.deadlines, at)
	return nil
}

// TestBodyDeadlines checks how much time a client gets for a body, and that the
// deadline is removed when the body is read: the server would take it for the end
// of the connection while the handler is still running.
// Proves decision 5 (size and time of bodies).
func TestBodyDeadlines(t *testing.T) {
	t.Parallel()
	const none = -1
	router := web.NewRouter(web.RouterConfig{}, readers()...)
	for _, test := range []struct {
		name, path, body string
		method           string
		want             []time.Duration
	}{
		{"a body read", "/small", "abc", "POST", []time.Duration{10 * time.Second, none}},
		{"an upload read", "/upload", "abc", "POST", []time.Duration{10 * time.Second, 60 * time.Second, none}},
		{"no body", "/small", "", "POST", nil},
		{"a body refused", "/no", "abc", "POST", []time.Duration{10 * time.Second, 2 * time.Second, 2 * time.Second, none}},
		{"a body that is ignored", "/deaf", "abc", "PATCH", []time.Duration{10 * time.Second, 2 * time.Second, none}},
	} {
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		if test.body == "" {
			r.Body = http.NoBody
		}
		w := &clock{ResponseWriter: httptest.NewRecorder()}
		before := time.Now()
		router.ServeHTTP(w, r)
		after := time.Now()
		if len(w.deadlines) != len(test.want) {
			t.Errorf("%s: %d deadlines, want %d", test.name, len(w.deadlines), len(test.want))
			continue
		}
		for i, want := range test.want {
			got := w.deadlines[i]
			switch {
			case want == none && !got.IsZero():
				t.Errorf("%s: deadline %d remains at the end", test.name, i)
			case want != none && (got.Before(before.Add(want)) || got.After(after.Add(want))):
				t.Errorf("%s: deadline %d is %s away, want %s", test.name, i, got.Sub(before), want)
			}
		}
	}
}

// dial opens a connection to a server.
func (r *running) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := testenv.Of(net.Dial("tcp", r.address)).Must(t)
	t.Cleanup(func() { _ = conn.Close() })
	testenv.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn, bufio.NewReader(conn)
}

// TestResponseBeforeReset checks that a client that sends everything before it reads
// gets the response, although no handler reads the body.
func TestResponseBeforeReset(t *testing.T) {
	t.Parallel()
	const size = 12 << 20
	declared := "Content-Length: " + strconv.Itoa(size)
	chunk := "10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n"
	var sending sync.Mutex
	for _, test := range []struct {
		name, request, header string
		status                int
		body                  string
	}{
		{"refused", "POST /no", declared, 401, `{"message":"Unauthorized"}`},
		{"too long", "POST /small", declared, 400, `{"message":"Invalid payload."}`},
		{"upload too long", "POST /upload", declared, 400, `{"message":"Invalid payload."}`},
		{"ignored", "PATCH /deaf", declared, 200, `"done"`},
		{"no such path", "POST /nowhere", declared, 404, `{"message":"Not Found"}`},
		{"no such method", "PUT /no", declared, 405, `{"message":"Method Not Allowed"}`},
		{"refused, chunked", "POST /no", "Transfer-Encoding: chunked", 401, `{"message":"Unauthorized"}`},
		{"too long, chunked", "POST /small", "Transfer-Encoding: chunked", 400, `{"message":"Invalid payload."}`},
		{"upload too long, chunked", "POST /upload", "Transfer-Encoding: chunked", 400, `{"message":"Invalid payload."}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, tokens{}, readers()...)
			conn, from := server.dial(t)
			text := test.request + " HTTP/1.1\r\nHost: x\r\n" + test.header + "\r\n\r\n"
			if test.header == declared {
				text += strings.Repeat("x", size)
			} else {
				text += strings.Repeat(chunk, size/0x10000) + "0\r\n\r\n"
			}
			// One after the other: the service drops what does not arrive within two seconds.
			sending.Lock()
			_, err := io.WriteString(conn, text)
			sending.Unlock()
			testenv.NoError(t, err)
			got := readReply(t, from, "")
			if got.status != test.status || strings.TrimSpace(got.body) != test.body {
				t.Errorf("%d %s, want %d %s", got.status, got.body, test.status, test.body)
			}
			testenv.Equal(t, "Connection", "close", got.header.Get("Connection"))
		})
	}
}

// TestResponseWithoutBody checks that a refusal waits at most 2 seconds for the body
// of a client that expects 100 Continue or stops sending.
func TestResponseWithoutBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, headers, body string }{
		{"expecting 100", "Content-Length: 100000000\r\nExpect: 100-continue\r\n", ""},
		{"long and stalled", "Content-Length: 100000000\r\n", "abc"},
		{"short and stalled", "Content-Length: 10\r\n", "abc"},
		{"chunked and stalled", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, tokens{}, readers()...)
			conn, from := server.dial(t)
			testenv.Of(io.WriteString(conn, "POST /no HTTP/1.1\r\nHost: x\r\n"+test.headers+"\r\n"+test.body)).Must(t)
			testenv.Equal(t, "status", http.StatusUnauthorized, readReply(t, from, "").status)
			// The connection closes, since the rest of the body never arrives.
			testenv.Equal(t, "bytes left", 0, len(testenv.Of(io.ReadAll(from)).Must(t)))
		})
	}
}

// TestConnectionReused checks that the connection can be reused after a body small
// enough to be drained.
func TestConnectionReused(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, readers()...)
	conn, from := server.dial(t)
	for _, request := range []struct {
		text string
		want int
	}{
		{"PATCH /deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200},
		{"POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 401},
		{"POST /no HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 401},
		{"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200},
		{"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200},
	} {
		testenv.Of(io.WriteString(conn, request.text)).Must(t)
		testenv.Equal(t, fmt.Sprintf("%.20q", request.text), request.want, readReply(t, from, "").status)
	}
}

// TestDrainIsBounded checks that an endless body is not drained forever.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, readers()...)
	conn, from := server.dial(t)
	testenv.Of(io.WriteString(conn, "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n")).Must(t)
	if got := readReply(t, from, ""); got.status != http.StatusUnauthorized {
		t.Fatalf("%d %s", got.status, got.body)
	}
	piece := make([]byte, 1<<20)
	sent := 0
	for range 1000 {
		n, err := conn.Write(piece)
		sent += n
		if err != nil {
			break
		}
	}
	if sent == 1000<<20 {
		t.Error("all of 1 GB was taken")
	}
}
