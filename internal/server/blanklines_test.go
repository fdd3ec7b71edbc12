package server

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"

	"merchantorders/internal/testenv"
)

// TestLineBreaksBetweenRequests sends a line break after each request, as old clients do after a
// body, and another request on the same connection. Bodies that end with line breaks arrive
// whole, also if the handler does not read them.
func TestLineBreaksBetweenRequests(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	s := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		body := "unread"
		if r.URL.Path != "/unread" {
			body = string(testenv.Of(io.ReadAll(r.Body)).Must(t))
		}
		if r.URL.Path == "/hold" {
			begun <- struct{}{}
			<-release
		}
		fmt.Fprintf(w, "%s %q", r.Method, body)
	}, generous)
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		for _, body := range []string{"", "{}", "{}\r\n", "\n", "a\r\n\r\n"} {
			for _, path := range []string{"/", "/unread", "/hold", "/chunked"} {
				for _, extra := range []string{"", "\n", "\r\n"} {
					for _, late := range []bool{false, true} {
						name := fmt.Sprintf("%s %s %q and %q, late: %t", method, path, body, extra, late)
						text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
						if path == "/chunked" {
							text = fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", method, path, len(body)+1, "x"+body)
						}
						if !late {
							text += extra
						}
						conn := s.dial(t, text)
						if path == "/hold" {
							<-begun
							if late {
								testenv.Of(io.WriteString(conn, extra)).Must(t)
							}
							release <- struct{}{}
						}
						reader := bufio.NewReader(conn)
						want := map[string]string{"/unread": "unread", "/chunked": "x" + body}
						if _, special := want[path]; !special {
							want[path] = body
						}
						testenv.Equal(t, name, fmt.Sprintf("200 %s %q", method, want[path]), response(t, name, reader))
						next := "GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
						if late && path != "/hold" {
							next = extra + next
						}
						testenv.Of(io.WriteString(conn, next)).Must(t)
						testenv.Equal(t, name+", the next request", `200 GET ""`, response(t, name, reader))
						testenv.NoError(t, conn.Close())
					}
				}
			}
		}
	}
	conn := s.dial(t, "\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
	testenv.Equal(t, "line breaks without end", "400 400 Bad Request", response(t, "", bufio.NewReader(conn)))
}

// response reads a response and returns its status and body.
func response(t *testing.T, name string, reader *bufio.Reader) string {
	t.Helper()
	r, err := http.ReadResponse(reader, nil)
	if err != nil {
		return fmt.Sprintf("%s: %v", name, err)
	}
	defer r.Body.Close()
	return fmt.Sprintf("%d %s", r.StatusCode, testenv.Of(io.ReadAll(r.Body)).Must(t))
}
