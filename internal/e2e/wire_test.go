package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// dial opens a connection to the service for a client that writes its requests
// by hand.
func (s *service) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.BaseURL, "http://"))
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	testenv.NoError(t, conn.SetDeadline(time.Now().Add(responseTimeout)))
	return conn
}

// readAnswer reads a response from a connection.
func readAnswer(t *testing.T, reader *bufio.Reader, what string) response {
	t.Helper()
	raw, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("%s: read the response: %v", what, err)
	}
	defer raw.Body.Close()
	body, err := io.ReadAll(raw.Body)
	if err != nil {
		t.Fatalf("%s: read the response's body: %v", what, err)
	}
	return response{request: request{path: what}, status: raw.StatusCode, header: raw.Header, body: string(body)}
}

// TestHugeBody announces a body of 100 MB and sends as much of it as the
// service takes: the refusal comes, and comes without the rest.
func TestHugeBody(t *testing.T) {
	const size = 100_000_000
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		inEachVersion(t, func(t *testing.T, v version) {
			for _, test := range []struct{ name, length, chunk string }{
				{"announced", fmt.Sprintf("Content-Length: %d\r\n\r\n", size), strings.Repeat("A", 1<<16)},
				{"in chunks", "Transfer-Encoding: chunked\r\n\r\n", "10000\r\n" + strings.Repeat("A", 1<<16) + "\r\n"},
			} {
				t.Run(test.name, func(t *testing.T) {
					conn := s.dial(t)
					head := "POST " + v.invoices(o) + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.token + "\r\n" + test.length
					sent := make(chan int)
					go func() {
						n, err := io.WriteString(conn, head)
						for err == nil && n < size {
							var more int
							more, err = io.WriteString(conn, test.chunk)
							n += more
						}
						sent <- n
					}()
					readAnswer(t, bufio.NewReader(conn), test.name).wantRefusal(t, v, sizeTooBig, o)
					_ = conn.Close()
					if n := <-sent; n >= size {
						t.Errorf("all of %d bytes were taken in", n)
					}
				})
			}
		})
		if got := s.entries(t, o); len(got) != 0 {
			t.Errorf("the order shows %v", got)
		}
	})
}

// TestExpectContinue uploads with a client that waits for leave to send its
// body, as curl and PHP do with large ones: it gets it, or the refusal.
func TestExpectContinue(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			r := v.upload(o, "a.pdf", "content")
			begin := func(token string) (net.Conn, *bufio.Reader) {
				conn := s.dial(t)
				_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
					r.path, token, len(r.body))
				testenv.NoError(t, err)
				return conn, bufio.NewReader(conn)
			}
			conn, reader := begin(s.token)
			if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
				t.Fatalf("the service does not ask for the body: %q, %v", line, err)
			}
			if _, err := reader.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, r.body); err != nil {
				t.Fatal(err)
			}
			if a := readAnswer(t, reader, "upload"); a.status != 200 {
				t.Errorf("status %d: %s", a.status, a.body)
			}
			_, reader = begin("mo_nonsense")
			if a := readAnswer(t, reader, "upload without a token"); a.status != 401 {
				t.Errorf("without a token: status %d: %s", a.status, a.body)
			}
		})
	})
}

// TestBrokenOffBody ends a connection in the middle of a body: nothing is done.
func TestBrokenOffBody(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			for _, r := range []request{v.upload(o, "a.pdf", "content"), v.reject(o)} {
				for _, header := range []string{
					fmt.Sprintf("Content-Length: %d\r\n\r\n", len(r.body)+1),
					"Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n", len(r.body)+1),
				} {
					conn := s.dial(t)
					text := r.method + " " + r.path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.token + "\r\n" + header + r.body
					if _, err := io.WriteString(conn, text); err != nil {
						t.Fatal(err)
					}
					testenv.NoError(t, conn.(*net.TCPConn).CloseWrite())
					if _, err := io.Copy(io.Discard, conn); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got := v2.stateOf(t, s, o); got != "registered" {
				t.Errorf("half a body has moved the order to %s", got)
			}
			if got := s.entries(t, o); len(got) != 0 {
				t.Errorf("half a body has left %v", got)
			}
		})
	})
}

// TestRawRequests writes requests that no client library would: none is
// gets a redirect, another's data or no response.
func TestRawRequests(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		auth := "Authorization: Bearer " + s.token + "\r\n"
		tests := []struct {
			name, text string
			status     []int
		}{
			{"absolute address", "GET http://elsewhere.example/v2/orders HTTP/1.1\r\nHost: x\r\n" + auth, []int{200}},
			{"HTTP/1.0", "GET /v2/orders HTTP/1.0\r\n" + auth, []int{200}},
			{"asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n", []int{404, 405}},
			{"two slashes", "PUT //api/orders/" + v1.id(o) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + auth, []int{404}},
			{"dots", "PUT /api/../api/orders/" + v1.id(o) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + auth, []int{404}},
			{"backslash", "GET /v2\\orders HTTP/1.1\r\nHost: x\r\n" + auth, []int{404}},
			{"fragment", "GET /v2/orders#x HTTP/1.1\r\nHost: x\r\n" + auth, []int{200, 400, 404}},
			{"two Authorization headers", "GET /v2/orders HTTP/1.1\r\nHost: x\r\n" + auth + auth, []int{401}},
			{"two Authorization headers, the first good", "GET /v2/orders HTTP/1.1\r\nHost: x\r\n" + auth + "Authorization: Bearer mo_x\r\n", []int{401}},
			{"two Authorization headers, the second good", "GET /v2/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mo_x\r\n" + auth, []int{401}},
			{"no Host", "GET /v2/orders HTTP/1.1\r\n" + auth, []int{400}},
			{"raw bytes in the path", "GET /v2/orders/\xff\xfe HTTP/1.1\r\nHost: x\r\n" + auth, []int{400, 404}},
			{"broken escape", "GET /v2/orders/%zz HTTP/1.1\r\nHost: x\r\n" + auth, []int{400}},
			{"two lengths", "PUT " + v1.order(o) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n" + auth, []int{400}},
			{"header of 1 MB", "GET /v2/orders HTTP/1.1\r\nHost: x\r\n" + auth + "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n", []int{431}},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				conn := s.dial(t)
				go func() { _, _ = io.WriteString(conn, test.text+"\r\n") }()
				a := readAnswer(t, bufio.NewReader(conn), test.name)
				found := false
				for _, status := range test.status {
					found = found || a.status == status
				}
				if !found {
					t.Errorf("status %d, want one of %v: %s", a.status, test.status, a.short())
				}
			})
		}
		if got := v2.stateOf(t, s, o); got != "registered" {
			t.Errorf("one of them has moved the order to %s", got)
		}
	})
}
