package e2e

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// unpacked returns the response with its body unpacked, which has to be
// compressed.
func (a response) unpacked(t *testing.T) response {
	t.Helper()
	if a.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s: %d bytes, headers %v", a, len(a.body), a.header)
		return a
	}
	reader, err := gzip.NewReader(strings.NewReader(a.body))
	testenv.NoError(t, err)
	text, err := io.ReadAll(reader)
	testenv.NoError(t, err)
	a.body = string(text)
	return a
}

// TestCompression asks for lists, orders, events, the operator's merchants, pages and
// what they load with and without compression: the same text, in fewer bytes; and for
// what is too small, for files and for what a client does not take.
// Proves decision 5 (compression).
func TestCompression(t *testing.T) {
	alone(t, sqlite, func(t *testing.T, s *service) {
		s = s.adding(t, 355, "Store 355")
		orders := s.addMany(t, 40)
		s.Import(t, []byte(strings.ReplaceAll(richDocument, "\n", "")))
		rich := placed{number: numberAt(t, richDocument, "orderId"), reference: textAt(t, richDocument, "reference")}
		for range 15 {
			s.another(t)
		}
		for _, r := range []request{
			get(v1.list("items_per_page", "50")), get(v2.list("itemsPerPage", "50")), get(v1.order(rich)), get(v2.order(rich)),
			events(""), get("/operator/merchants").by(s.operator),
			get("/docs"), get("/docs/guide/errors.md"), get("/docs/reference/v2"), get("/openapi/v2.yaml"), get("/openapi/v2.json"),
			get("/"), get("/console/assets/console.css"), get("/console/assets/live.js"), get("/docs/assets/states.svg"),
		} {
			plain, packed := s.send(t, r), s.send(t, r.with("Accept-Encoding", "br;q=1.0, gzip;q=0.8, *;q=0.1"))
			if len(packed.body) >= len(plain.body)*3/4 || plain.header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %d bytes instead of %d", packed, len(packed.body), len(plain.body))
			}
			unpacked := packed.unpacked(t)
			if unpacked.status != 200 || unpacked.body != plain.body {
				t.Errorf("%s: another body than uncompressed", packed)
			}
			if vary := plain.header.Get("Vary"); !strings.HasPrefix(vary, "Accept-Encoding") || packed.header.Get("Vary") != vary {
				t.Errorf("%s: Vary is %q", packed, vary)
			}
		}
		file := s.uploaded(t, v1, orders[0], "a.pdf", longText)
		for _, r := range []request{
			get(v1.list("items_per_page", "1")).with("Accept-Encoding", "gzip"), v1.accept(orders[1]).with("Accept-Encoding", "gzip"),
			get(v1.order(placed{number: 1})).with("Accept-Encoding", "gzip"), get(s.path(t, file.url)).with("Accept-Encoding", "gzip"),
			get(v1.list("items_per_page", "50")).with("Accept-Encoding", "gzip;q=0"), get(v1.list("items_per_page", "50")).with("Accept-Encoding", "br"),
		} {
			a := s.do(t, r)
			if a.header.Get("Content-Encoding") != "" || a.header.Get("Content-Length") != asJSON(t, len(a.body)) {
				t.Errorf("%s: %d bytes, headers %v", a, len(a.body), a.header)
			}
		}
	})
}
