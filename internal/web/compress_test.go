package web_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/metrics"
	"merchantorders/internal/web"
)

// longText is a text whose JSON is long enough to be compressed.
var longText = strings.Repeat("Ελληνικά <b> ", 400)

// text returns a handler that responds with a text as JSON and a tag, or with 304 to
// any If-None-Match.
func text(value, tag string) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
		return web.WriteJSON(w, http.StatusOK, value)
	}
}

// raw returns a handler that responds with headers and a body in pieces.
func raw(status int, headers map[string]string, pieces ...string) web.Handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
		}
		return nil
	}
}

func unzip(t *testing.T, body string) string {
	t.Helper()
	reader, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatalf("not compressed: %v", err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func compressible() web.RouteGroup {
	return web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/long", text(longText, `"915664-17"`)),
		public("GET", "/weak", text(longText, `W/"1"`)),
		public("GET", "/untagged", text(longText, "")),
		public("GET", "/short", text("short", `"1"`)),
		public("GET", "/error", func(http.ResponseWriter, *http.Request) error { return errors.New("a fault") }),
	}}
}

const gzipPlease = "Accept-Encoding: deflate, gzip;q=0.8"

// TestCompressed checks that a compressed response decompresses to the plain one,
// with another length and tag, and that HEAD has the same headers.
func TestCompressed(t *testing.T) {
	t.Parallel()
	server, sent := serve(t, tokens{}, compressible()), map[int]bool{}
	for path, tag := range map[string]string{"/long": `"915664-17-gzip"`, "/weak": `W/"1"`, "/untagged": ""} {
		plain, packed, head := server.ask(t, "GET "+path), server.ask(t, "GET "+path, gzipPlease), server.ask(t, "HEAD "+path, gzipPlease)
		sent[len(plain.body)], sent[len(packed.body)] = true, true
		if diff := cmp.Diff(plain.body, unzip(t, packed.body)); diff != "" {
			t.Errorf("%s (-plain +unpacked):\n%s", path, diff)
		}
		if len(packed.body) > len(plain.body)/2 || packed.status != 200 {
			t.Errorf("%s: status %d, %d bytes instead of %d", path, packed.status, len(packed.body), len(plain.body))
		}
		want := plain.header.Clone()
		want.Set("Content-Encoding", "gzip")
		want.Set("Content-Length", strconv.Itoa(len(packed.body)))
		if tag != "" {
			want.Set("ETag", tag)
		}
		for name, got := range map[string]http.Header{"GET": packed.header, "HEAD": head.header} {
			for _, own := range []string{"X-Request-Id", "Date"} {
				got.Del(own)
				want.Del(own)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers of %s %s (-want +got):\n%s", name, path, diff)
			}
		}
		if got := plain.header.Values("Vary"); !cmp.Equal(got, []string{"Accept-Encoding"}) {
			t.Errorf("%s as it is: Vary %q", path, got)
		}
		if head.body != "" {
			t.Errorf("HEAD %s has a body", path)
		}
	}
	server.stop()
	for _, line := range server.log.lines(t, "request") {
		delete(sent, int(line["bytes"].(float64)))
	}
	if len(sent) > 0 {
		t.Errorf("the log does not have these numbers of bytes: %v", sent)
	}
}

// TestNotCompressed checks the responses that pass through unchanged.
func TestNotCompressed(t *testing.T) {
	t.Parallel()
	json := map[string]string{"Content-Type": "application/json; charset=utf-8"}
	with := func(headers map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for name, value := range headers {
			all[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	long := strings.Repeat("x", 5000)
	for name, test := range map[string]struct {
		handle web.Handler
		status int
		body   string
		vary   bool
	}{
		"short":            {text("short", ""), 200, "\"short\"\n", true},
		"a byte too short": {raw(200, with(json, "Content-Length", "1399"), long[:1399]), 200, long[:1399], true},
		"no length":        {raw(200, json, long), 200, long, true},
		"in two pieces":    {raw(200, with(json, "Content-Length", "5000"), long[:3000], long[3000:]), 200, long, true},
		"a file":           {raw(200, map[string]string{"Content-Type": "application/pdf", "Content-Length": "5000"}, long), 200, long, false},
		"metrics":          {raw(200, map[string]string{"Content-Type": "text/plain", "Content-Length": "5000"}, long), 200, long, false},
		"encoded already":  {raw(200, with(json, "Content-Length", "5000", "Content-Encoding", "br"), long), 200, long, true},
		"a part":           {raw(206, with(json, "Content-Length", "5000", "Content-Range", "bytes 0-4999/9000"), long), 206, long, true},
		"no content":       {raw(204, json), 204, "", true},
		"not modified":     {raw(304, map[string]string{"ETag": `"1"`}), 304, "", true},
		"a file unchanged": {raw(304, map[string]string{"ETag": `"1"`, "Content-Disposition": "attachment"}), 304, "", false},
		"an error":         {func(http.ResponseWriter, *http.Request) error { return errors.New("a fault") }, 500, `{"form":"rest","error":500}` + "\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{public("GET", "/x", test.handle)}})
			got := server.ask(t, "GET /x", gzipPlease)
			if got.status != test.status || got.body != test.body || got.cut {
				t.Errorf("status %d, %d bytes, cut %v: %.60s", got.status, len(got.body), got.cut, got.body)
			}
			if encoding := got.header.Get("Content-Encoding"); encoding != "" && name != "encoded already" {
				t.Errorf("Content-Encoding %q", encoding)
			}
			if vary := got.header.Get("Vary") != ""; vary != test.vary {
				t.Errorf("Vary %q", got.header.Get("Vary"))
			}
		})
	}
}

// TestNotModifiedTag checks that a 304 has the tag of the representation that the
// client has.
func TestNotModifiedTag(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, compressible())
	for _, test := range []struct{ path, known, accept, want string }{
		{"/long", `"915664-17-gzip"`, gzipPlease, `"915664-17-gzip"`},
		{"/long", `"x", "915664-17-gzip"`, gzipPlease, `"915664-17-gzip"`},
		{"/long", `"915664-17"`, gzipPlease, `"915664-17"`},
		{"/long", `*`, gzipPlease, `"915664-17"`},
		{"/long", `"915664-17"`, "X-Other: 1", `"915664-17"`},
		{"/weak", `W/"1"`, gzipPlease, `W/"1"`},
	} {
		got := server.ask(t, "GET "+test.path, "If-None-Match: "+test.known, test.accept)
		if got.status != 304 || got.header.Get("ETag") != test.want || got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s, known %s: status %d, headers %v", test.path, test.known, got.status, got.header)
		}
	}
}

// TestHeldHeader checks that a header that is held back for its body is sent when no
// body follows, and not sent when another response replaces it.
func TestHeldHeader(t *testing.T) {
	t.Parallel()
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "5000")
		w.WriteHeader(http.StatusAccepted)
	}
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/panics", func(w http.ResponseWriter, _ *http.Request) error { begin(w); panic("on the way") }),
		public("HEAD", "/bodiless", func(w http.ResponseWriter, _ *http.Request) error { begin(w); return nil }),
		public("GET", "/flushes", func(w http.ResponseWriter, _ *http.Request) error {
			begin(w)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			_, err := io.Copy(w, bytes.NewReader(make([]byte, 5000)))
			return err
		}),
		public("GET", "/twice", func(w http.ResponseWriter, _ *http.Request) error {
			begin(w)
			w.WriteHeader(http.StatusTeapot)
			_, err := io.Copy(w, bytes.NewReader(make([]byte, 5000)))
			return err
		}),
	}})
	for path, want := range map[string]int{"GET /panics": 500, "HEAD /bodiless": 202, "GET /flushes": 202, "GET /twice": 202} {
		got := server.ask(t, path, gzipPlease)
		if got.status != want || got.cut || got.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// BenchmarkCompress measures what compression adds to a list of 100.
func BenchmarkCompress(b *testing.B) {
	body := strings.Repeat(`{"id":"SF-2026-123456","state":"registered","countryCode":"GR","totalItemsAmount":3180,"customer":{"firstName":"Μαρία"}},`, 250)
	handler := web.Observe(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(200)
		_, _ = io.WriteString(w, body)
	}), form("top"), web.RequestLog{Logger: slog.New(slog.DiscardHandler)}, metrics.New(), ticking())
	for name, header := range map[string]http.Header{"plain": {}, "gzip": {"Accept-Encoding": {"gzip"}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(nowhere{}, &http.Request{Method: "GET", Header: header})
			}
		})
	}
}

// nowhere is a response that is discarded.
type nowhere http.Header

func (n nowhere) Header() http.Header       { return http.Header(n) }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
