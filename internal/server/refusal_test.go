package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestRefusalsAreJSON sends what net/http refuses before a handler sees it.
func TestRefusalsAreJSON(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(http.ResponseWriter, *http.Request) {}, generous)
	for name, test := range map[string]struct {
		send   string
		status int
		body   string
	}{
		"garbage":         {"\x16\x03\x01 garbage\r\n\r\n", 400, `{"message":"Bad Request"}`},
		"no host":         {"GET / HTTP/1.1\r\n\r\n", 400, `{"message":"Bad Request"}`},
		"a bad escape":    {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, `{"message":"Bad Request"}`},
		"a large header":  {"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431, `{"message":"Request Header Fields Too Large"}`},
		"another coding":  {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n", 501, `{"message":"Not Implemented"}`},
		"another version": {"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 505, `{"message":"HTTP Version Not Supported"}`},
	} {
		for _, before := range []bool{false, true} {
			conn := s.dial(t, "")
			reader := bufio.NewReader(conn)
			if before {
				exchange(t, conn, reader, aRequest)
			}
			got, body := exchange(t, conn, reader, test.send)
			if got.status != test.status || body != test.body+"\n" || !got.close ||
				got.header.Get("Content-Type") != "application/json; charset=utf-8" || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s, after another request: %v: %+v %q", name, before, got, body)
			}
			if rest, err := io.ReadAll(reader); len(rest) > 0 {
				t.Errorf("%s: %q, error %v after the response", name, rest, err)
			}
		}
	}
}

// exchange sends a text and reads a response.
func exchange(t *testing.T, conn net.Conn, reader *bufio.Reader, text string) (result, string) {
	t.Helper()
	go func() { _, _ = io.WriteString(conn, text) }() // the server need not read it all
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%.60q: %v", text, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%.60q: %v", text, err)
	}
	return result{status: response.StatusCode, header: response.Header, close: response.Close}, string(body)
}

// TestBodyThatLooksLikeARefusal sends bodies with the text of a refusal in every part
// of the response, also while the client sends the next request.
func TestBodyThatLooksLikeARefusal(t *testing.T) {
	t.Parallel()
	refusal := "HTTP/1.1 400 Bad Request" + string(textRefusal) + "400 Bad Request"
	s := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		body := strings.Repeat("x", size) + refusal
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = io.WriteString(w, body[:size])
		_ = http.NewResponseController(w).Flush()
		_, _ = io.WriteString(w, refusal)
	}, generous)
	conn := s.dial(t, "")
	reader := bufio.NewReader(conn)
	for _, size := range []int{0, 1, 100, 4096, 8192} {
		request := "GET /" + strconv.Itoa(size) + " HTTP/1.1\r\nHost: x\r\n\r\n"
		for range 2 {
			_, body := exchange(t, conn, reader, request)
			if body != strings.Repeat("x", size)+refusal {
				t.Errorf("%d bytes before it: %d bytes ending with %.100q", size, len(body), body[max(0, len(body)-100):])
			}
		}
	}
}
