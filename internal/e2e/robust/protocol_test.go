package robust

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// statusLines finds the responses in what came back over a connection.
var statusLines = regexp.MustCompile(`(?m)^HTTP/1\.[01] (\d{3}) `)

// TestRawProtocol sends what no decent client sends.
//
// It guards against responses that are not HTTP, requests that get a response
// twice or out of order, and a server that gives up. The bodies that only look
// whole are there so that none of them changes an order.
func TestRawProtocol(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 1)...)
	for _, tc := range rawCases(s.token) {
		t.Run(tc.name, func(t *testing.T) {
			if got, text := exchange(t, s.client, tc.send); got != tc.want {
				t.Errorf("statuses %s, want %s:\n%q", got, tc.want, text)
			}
			if fresh := s.ask(t, http.MethodGet, "/healthz", ""); fresh.status != http.StatusOK {
				t.Errorf("/healthz afterwards: %d %s", fresh.status, fresh.body)
			}
		})
	}
	if got := s.state(t, 1); got != "registered" {
		t.Errorf("one of these made the order %s", got)
	}
	if strings.Contains(s.Log(), "panic") {
		t.Error("there was a panic")
	}
	if code := s.Stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// rawCase is what is sent over one connection, and the statuses of all responses.
type rawCase struct{ name, send, want string }

// rawCases are requests about the order sample(1), with its merchant's token.
func rawCases(token string) []rawCase {
	auth := "Host: localhost\r\nAuthorization: Bearer " + token + "\r\n"
	put := "PUT " + sample(1).v1() + " HTTP/1.1\r\n" + auth
	get := "GET /v2/orders HTTP/1.1\r\n" + auth + "\r\n"
	last := "GET /v2/orders HTTP/1.1\r\n" + auth + "Connection: close\r\n\r\n"
	return []rawCase{
		{"two at once", get + last, "200 200"},
		{"garbage after a request", get + "\x00\x01\x02 garbage\r\n\r\n", "200 400"},
		{"garbage alone", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		{"no HTTP at all", strings.Repeat("hello? ", 20) + "\r\n\r\n", "400"},
		{"empty lines", "\r\n\r\n\r\n\r\n", "400"},
		{"an unknown version", "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", "505"},
		{"the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404"},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n" + get, "200"},
		{"HTTP/1.0 kept open", "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + last, "200 200"},
		{"no host", "GET /healthz HTTP/1.1\r\n\r\n", "400"},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},

		{"a bad escape", "GET /v2/orders/%zz HTTP/1.1\r\n" + auth + "\r\n", "400"},
		{"half an escape", "GET /v2/orders/% HTTP/1.1\r\n" + auth + "\r\n", "400"},
		{"a bad escape in the query", "GET /v2/orders?page=%zz HTTP/1.1\r\n" + auth + "Connection: close\r\n\r\n", "400"},
		{"escapes of what no reference has", "GET /v2/orders/%00 HTTP/1.1\r\n" + auth + "\r\nGET /v2/orders/%FF HTTP/1.1\r\n" + auth +
			"\r\nGET /v2/orders/a%2Fb HTTP/1.1\r\n" + auth + "\r\nGET /v2/orders/%2e%2e HTTP/1.1\r\n" + auth + "\r\n" + last, "404 404 404 404 200"},
		{"out of the storage", "GET /storage/local/merchant-orders/invoices/%2e%2e/%2e%2e%2forders.db HTTP/1.1\r\n" + auth +
			"\r\nGET /storage/local/merchant-orders/invoices/../../../orders.db HTTP/1.1\r\n" + auth + "\r\n" + last, "404 404 200"},
		{"links that are none", "GET /files/355.1.1.1.x HTTP/1.1\r\n" + auth + "\r\nGET /files/%2e%2e%2forders.db HTTP/1.1\r\n" + auth +
			"\r\nGET /files/" + strings.Repeat("9.", 30_000) + " HTTP/1.1\r\n" + auth + "\r\n" + last, "404 404 404 200"},
		{"a whole address", "GET http://elsewhere.example/v2/orders HTTP/1.1\r\n" + auth + "\r\n" + last, "200 200"},
		{"a whole address without a path", "GET http://elsewhere.example HTTP/1.1\r\n" + auth + "\r\n" + last, "404 200"},
		{"no path", "OPTIONS * HTTP/1.1\r\n" + auth + "\r\n" + last, "404 200"},
		{"a tunnel", "CONNECT elsewhere.example:443 HTTP/1.1\r\n" + auth + "\r\n" + last, "404 200"},
		{"a method that is none", "FETCH /v2/orders HTTP/1.1\r\n" + auth + "\r\n" + last, "405 200"},

		{"a header of 1 MB", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "431"},
		{"a target of 1 MB", "GET /v2/orders?" + strings.Repeat("x", 1<<20) + " HTTP/1.1\r\n" + auth + "\r\n", "431"},
		{"100,000 headers", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X: y\r\n", 100_000) + "\r\n", "431"},
		{"a control character in a header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n", "400"},
		{"a folded header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\nConnection: close\r\n\r\n", "200"},
		{"two tokens", "GET /v2/orders HTTP/1.1\r\n" + auth + "Authorization: Bearer mo_x\r\nConnection: close\r\n\r\n", "401"},

		{"two lengths", put + "Content-Length: 14\r\nContent-Length: 15\r\n\r\n" + `{"status":"G"} `, "400"},
		{"a length that is none", put + "Content-Length: +14\r\n\r\n" + `{"status":"G"}`, "400"},
		{"a negative length", put + "Content-Length: -14\r\n\r\n" + `{"status":"G"}`, "400"},
		{"a length beyond 64 bits", put + "Content-Length: 18446744073709551630\r\n\r\n" + `{"status":"G"}`, "400"},
		{"an unknown coding", put + "Transfer-Encoding: xchunked\r\n\r\n" + `{"status":"G"}`, "501"},
		{"a space before the colon", put + "Transfer-Encoding : chunked\r\n\r\nE\r\n" + `{"status":"G"}` + "\r\n0\r\n\r\n", "400"},
		{"a bad chunk", put + "Transfer-Encoding: chunked\r\n\r\nE\r\n" + `{"status":"G"}` + "\r\nzz\r\n\r\n", "400"},
		{"a chunk too long to be one", put + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF0\r\n" + `{"status":"G"}`, "400"},
	}
}

// exchange sends bytes and reads until the server closes the connection. It
// returns the statuses of all responses, and the responses.
func exchange(t *testing.T, c client, send string) (statuses, responses string) {
	t.Helper()
	connection := c.connect(t)
	go func() { _, _ = io.WriteString(connection, send) }() // the server need not read it all
	// A connection closed before all was read may look broken at its end.
	got, err := io.ReadAll(connection)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server keeps the connection")
	}
	var all []string
	for _, found := range statusLines.FindAllStringSubmatch(string(got), -1) {
		all = append(all, found[1])
	}
	return strings.Join(all, " "), string(got)
}

// TestLengthAndChunks sends both a length and chunks, which proxies take for
// one and for the other, with a second request in what is left over.
//
// It guards that the server settles on one reading and sticks to it: it may
// refuse the request, or response the chunks and what is left over as a request
// of its own. Nothing may change without a response that says so.
func TestLengthAndChunks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Import(t, registered(1, 2)...)
	head := func(n sample) string {
		return "PUT " + n.v1() + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.token + "\r\n"
	}
	body := `{"status":"G"}`
	// By its length the first body ends in the middle of the hidden request.
	hidden := head(2) + fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	statuses, got := exchange(t, s.client, head(1)+fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n", len(chunks)+len(hidden))+chunks+hidden)
	first, second := s.state(t, 1), s.state(t, 2)
	t.Logf("responses %s; the first order is %s, the second %s", statuses, first, second)
	changed := 0
	for _, state := range []string{first, second} {
		if state == accepted {
			changed++
		}
	}
	if good := strings.Count(statuses, "200"); good != changed {
		t.Errorf("%d responses of success and %d orders changed:\n%q", good, changed, got)
	}
}
