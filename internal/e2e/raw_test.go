package e2e

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestRawRequests sends what no client library would: nothing gets a response twice,
// out of order or that is not HTTP, a redirect, or another's data. The bodies that
// only look whole are there so that none of them changes an order.
// Proves decision 1 (several headers), decision 5 (paths, methods; malformed HTTP, large
// headers), decision 6 (links that do not open).
func TestRawRequests(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		auth := "Host: localhost\r\nAuthorization: Bearer " + s.token + "\r\n"
		put := "PUT " + v1.order(o) + " HTTP/1.1\r\n" + auth
		list := "GET /v2/orders HTTP/1.1\r\n" + auth
		fetch := func(target string) string { return "GET " + target + " HTTP/1.1\r\n" + auth + "\r\n" }
		last := list + "Connection: close\r\n\r\n"
		const status = `{"status":"G"}`
		for _, test := range []struct{ name, send, want string }{
			{"two at once", list + "\r\n" + last, "200 200"},
			{"garbage after a request", list + "\r\n\x00\x01\x02 garbage\r\n\r\n", "200 400"},
			{"garbage alone", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
			{"no HTTP at all", strings.Repeat("hello? ", 20) + "\r\n\r\n", "400"},
			{"empty lines", "\r\n\r\n\r\n\r\n", "400"},
			{"an unknown version", "GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n", "505"},
			{"the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "404"},
			{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n" + list + "\r\n", "200"},
			{"HTTP/1.0 kept open", "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + last, "200 200"},
			{"no host", "GET /healthz HTTP/1.1\r\n\r\n", "400"},
			{"two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},

			{"a bad escape", fetch("/v2/orders/%zz"), "400"},
			{"half an escape", fetch("/v2/orders/%"), "400"},
			{"a bad escape in the query", "GET /v2/orders?page=%zz HTTP/1.1\r\n" + auth + "Connection: close\r\n\r\n", "400"},
			{"escapes of what no reference has", fetch("/v2/orders/%00") + fetch("/v2/orders/%FF") + fetch("/v2/orders/a%2Fb") + fetch("/v2/orders/%2e%2e") + last, "404 404 404 404 200"},
			{"raw bytes in the path", fetch("/v2/orders/\xff\xfe") + last, "404 200"},
			{"a backslash", fetch(`/v2\orders`) + last, "404 200"},
			{"a fragment", fetch("/v2/orders#x") + last, "404 200"},
			{"two slashes", "PUT //api/orders/" + v1.id(o) + " HTTP/1.1\r\nContent-Length: 0\r\n" + auth + "\r\n" + last, "404 200"},
			{"dots", "PUT /api/../api/orders/" + v1.id(o) + " HTTP/1.1\r\nContent-Length: 0\r\n" + auth + "\r\n" + last, "404 200"},
			{"out of the storage", fetch(s.storage+"/invoices/%2e%2e/%2e%2e%2forders.db") + fetch(s.storage+"/invoices/../../../orders.db") + last, "404 404 200"},
			{"links that are none", fetch("/files/355.1.1.1.x") + fetch("/files/%2e%2e%2forders.db") + fetch("/files/"+strings.Repeat("9.", 30_000)) + last, "404 404 404 200"},
			{"a whole address", fetch("http://elsewhere.example/v2/orders") + last, "200 200"},
			{"a whole address without a path", fetch("http://elsewhere.example") + last, "404 200"},
			{"no path", "OPTIONS * HTTP/1.1\r\n" + auth + "\r\n" + last, "404 200"},
			{"a tunnel", "CONNECT elsewhere.example:443 HTTP/1.1\r\n" + auth + "\r\n" + last, "404 200"},
			{"a method that is none", "FETCH /v2/orders HTTP/1.1\r\n" + auth + "\r\n" + last, "405 200"},

			{"a header of 1 MB", list + "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", "431"},
			{"a target of 1 MB", fetch("/v2/orders?" + strings.Repeat("x", 1<<20)), "431"},
			{"100,000 headers", list + strings.Repeat("X: y\r\n", 100_000) + "\r\n", "431"},
			{"a control character in a header", list + "X: a\x00b\r\n\r\n", "400"},
			{"a folded header", list + "X: a\r\n b\r\nConnection: close\r\n\r\n", "200"},
			{"the same token twice", list + "Authorization: Bearer " + s.token + "\r\nConnection: close\r\n\r\n", "401"},
			{"two tokens, the first good", list + "Authorization: Bearer mo_x\r\nConnection: close\r\n\r\n", "401"},
			{"two tokens, the second good", "GET /v2/orders HTTP/1.1\r\nAuthorization: Bearer mo_x\r\n" + auth + "Connection: close\r\n\r\n", "401"},

			{"two lengths", put + "Content-Length: 14\r\nContent-Length: 15\r\n\r\n" + status + " ", "400"},
			{"a length that is none", put + "Content-Length: +14\r\n\r\n" + status, "400"},
			{"a negative length", put + "Content-Length: -14\r\n\r\n" + status, "400"},
			{"a length beyond 64 bits", put + "Content-Length: 18446744073709551630\r\n\r\n" + status, "400"},
			{"an unknown coding", put + "Transfer-Encoding: xchunked\r\n\r\n" + status, "501"},
			{"a space before the colon", put + "Transfer-Encoding : chunked\r\n\r\nE\r\n" + status + "\r\n0\r\n\r\n", "400"},
			{"a bad chunk", put + "Transfer-Encoding: chunked\r\n\r\nE\r\n" + status + "\r\nzz\r\n\r\n", "400"},
			{"a bare LF after the size of a chunk", put + "Transfer-Encoding: chunked\r\n\r\nE\n" + status + "\r\n0\r\n\r\n", "400"},
			{"a chunk too long to be one", put + "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF0\r\n" + status, "400"},
		} {
			t.Run(test.name, func(t *testing.T) {
				if got, text := s.exchange(t, test.send); got != test.want {
					t.Errorf("statuses %s, want %s:\n%.2000q", got, test.want, text)
				}
				s.do(t, get("/healthz")).ok(t)
			})
		}
		testenv.Equal(t, "state after all of them", "registered", v2.stateOf(t, s, o))
		testenv.Lacks(t, "log", s.Log(), `"panic"`, "panic serving") // a request id may have these letters
	})
}

// TestLengthAndChunks sends both a length and chunks, which proxies take for one and
// for the other, with a second request in what is left over. The server may refuse
// the request, or take the chunks and what is left over as a request of its own, but
// nothing may change without a response that says so.
// Proves decision 5 (paths, methods).
func TestLengthAndChunks(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		orders := s.addMany(t, 2)
		head := func(o placed) string {
			return "PUT " + v1.order(o) + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.token + "\r\n"
		}
		const body = `{"status":"G"}`
		// By its length the first body ends in the middle of the hidden request.
		hidden := head(orders[1]) + fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		statuses, _ := s.exchange(t, head(orders[0])+fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n", len(chunks)+len(hidden))+chunks+hidden)
		changed := 0
		for _, o := range orders {
			if v2.stateOf(t, s, o) == "in-processing" {
				changed++
			}
		}
		testenv.Equal(t, "responses of success and orders changed", changed, strings.Count(statuses, "200"))
	})
}
