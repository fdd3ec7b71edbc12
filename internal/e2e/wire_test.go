package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestExpectContinue uploads with a client that waits for leave to send its
// body, as curl and PHP do with large ones: it gets it, or the refusal.
// Proves decision 6 (size of the body).
func TestExpectContinue(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
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
			testenv.Of(reader.ReadString('\n')).Must(t)
			testenv.Of(io.WriteString(conn, r.body)).Must(t)
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
// Proves decision 5 (size and time of bodies).
func TestBrokenOffBody(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			for _, r := range []request{v.upload(o, "a.pdf", "content"), v.reject(o)} {
				for _, header := range []string{
					fmt.Sprintf("Content-Length: %d\r\n\r\n", len(r.body)+1),
					"Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n", len(r.body)+1),
				} {
					conn := s.dial(t)
					text := r.method + " " + r.path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + s.token + "\r\n" + header + r.body
					testenv.Of(io.WriteString(conn, text)).Must(t)
					testenv.NoError(t, conn.CloseWrite())
					testenv.Of(io.Copy(io.Discard, conn)).Must(t)
				}
			}
			testenv.Equal(t, "state after half a body", "registered", v2.stateOf(t, s, o))
			testenv.Equal(t, "entries after half a body", 0, len(s.entries(t, o)))
		})
	})
}

// TestHalfClosedConnection sends whole requests and then nothing more, as a client may that
// still reads (RFC 9112, 9.6): each gets its response.
// Proves decision 5 (size and time of bodies).
func TestHalfClosedConnection(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			requests := []request{get("/v2/orders/export"), get("/v2/events?after=latest&wait=1")}
			answers := request{method: http.MethodPost, path: "/v2/orders/answers", header: http.Header{"Content-Type": {"application/x-ndjson"}}}
			for range 20 {
				requests = append(requests, v.accept(s.addOne(t)), v.upload(s.addOne(t), "a.pdf", "content"))
				answers.body += fmt.Sprintf(`{"orderReference":%q,"answer":"accept"}`+"\n", s.addOne(t).reference)
			}
			for _, r := range append(requests, answers) {
				conn := s.dial(t)
				text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
					r.method, r.path, s.token, r.header.Get("Content-Type"), len(r.body), r.body)
				testenv.Of(io.WriteString(conn, text)).Must(t)
				testenv.NoError(t, conn.CloseWrite())
				if a := readAnswer(t, bufio.NewReader(conn), r.path); a.status != http.StatusOK || r.path == answers.path && !strings.Contains(a.body, `"changed":20`) {
					t.Errorf("%s %s: status %d: %s", r.method, r.path, a.status, a.body)
				}
			}
		})
	})
}
