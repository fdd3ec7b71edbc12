package web_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// longText is a text whose JSON is long enough to be compressed.
var longText = strings.Repeat("Ελληνικά <b> ", 400)

// text returns a handler that responds with a text as JSON and a tag, or with 304 to
// any If-None-Match.
func text(value, tag string) web.Handler {
	return func(w http.ResponseWriter, r *web.Request) error {
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
	return func(w http.ResponseWriter, _ *web.Request) error {
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
	testenv.NoError(t, err)
	plain := testenv.Of(io.ReadAll(reader)).Must(t)
	return string(plain)
}

const gzipPlease = "Accept-Encoding: deflate, gzip;q=0.8"

// TestCompressed checks that a compressed response decompresses to the plain one, with
// another tag.
// Proves decision 5 (compression).
func TestCompressed(t *testing.T) {
	t.Parallel()
	long := func(mediaType string) web.Route {
		return public("GET", "/"+mediaType, raw(200, map[string]string{"Content-Type": mediaType + "; charset=utf-8"}, longText))
	}
	server, sent := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/long", text(longText, `"915664-17"`)), public("GET", "/untagged", text(longText, "")), public("PATCH", "/long", text(longText, "")),
		long("text/html"), long("text/css"), long("text/javascript"), long("text/markdown"), long("image/svg+xml"), long("application/yaml"),
	}}), map[int]bool{}
	for request, tag := range map[string]string{
		"GET /long": `"915664-17-gzip"`, "GET /untagged": "", "PATCH /long": "",
		"GET /text/html": "", "GET /text/css": "", "GET /text/javascript": "", "GET /text/markdown": "", "GET /image/svg+xml": "", "GET /application/yaml": "",
	} {
		plain, packed := server.ask(t, request), server.ask(t, request, gzipPlease)
		sent[len(plain.body)], sent[len(packed.body)] = true, true
		testenv.Equal(t, request, plain.body, unzip(t, packed.body))
		if len(packed.body) > len(plain.body)/2 || packed.status != 200 || plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: status %d, %d bytes instead of %d", request, packed.status, len(packed.body), len(plain.body))
		}
		want := plain.header.Clone()
		want.Set("Content-Encoding", "gzip")
		if tag != "" {
			want.Set("ETag", tag)
		}
		for _, own := range []string{"X-Request-Id", "Date", "Content-Length"} {
			packed.header.Del(own)
			want.Del(own)
		}
		testenv.Equal(t, fmt.Sprintf("headers of %s", request), want, packed.header)
		if got := plain.header.Values("Vary"); !cmp.Equal(got, []string{"Accept-Encoding"}) {
			t.Errorf("%s as it is: Vary %q", request, got)
		}
	}
	server.stop()
	for _, line := range server.log.Lines(t, "request") {
		delete(sent, int(line["bytes"].(float64)))
	}
	if len(sent) > 0 {
		t.Errorf("the log does not have these numbers of bytes: %v", sent)
	}
}

// TestNotCompressed checks the responses that pass through unchanged.
// Proves decision 5 (compression).
func TestNotCompressed(t *testing.T) {
	t.Parallel()
	json := map[string]string{"Content-Type": "application/json"}
	with := func(more ...string) map[string]string {
		all := map[string]string{"Content-Type": "application/json", "Content-Length": "5000"}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	long := strings.Repeat("x", 5000)
	for name, test := range map[string]struct {
		handle  web.Handler
		status  int
		body    string
		headers []string
	}{
		"short":             {text("short", ""), 200, "\"short\"\n", nil},
		"a byte too short":  {raw(200, with("Content-Length", "1399"), long[:1399]), 200, long[:1399], nil},
		"a file":            {raw(200, with("Content-Type", "application/pdf"), long), 200, long, nil},
		"metrics":           {raw(200, with("Content-Type", "text/plain"), long), 200, long, nil},
		"encoded already":   {raw(200, with("Content-Encoding", "br"), long), 200, long, nil},
		"a part":            {raw(206, with("Content-Range", "bytes 0-4999/9000"), long), 206, long, nil},
		"no content":        {raw(204, json), 204, "", nil},
		"not modified":      {raw(304, map[string]string{"ETag": `"1"`}), 304, "", nil},
		"an error":          {func(http.ResponseWriter, *web.Request) error { return errors.New("a fault") }, 500, `{"form":"rest","error":500}` + "\n", nil},
		"a panic":           {func(http.ResponseWriter, *web.Request) error { panic("on the way") }, 500, `{"form":"top","error":500}` + "\n", nil},
		"not accepted":      {raw(200, with(), long), 200, long, []string{"Accept-Encoding: br, gzip;q=0"}},
		"another's page":    {raw(200, with(), long), 200, long, []string{gzipPlease, "Sec-Fetch-Site: cross-site"}},
		"a neighbor's page": {raw(200, with(), long), 200, long, []string{gzipPlease, "Sec-Fetch-Site: same-site"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.headers == nil {
				test.headers = []string{gzipPlease}
			}
			got := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{public("GET", "/x", test.handle)}}).ask(t, "GET /x", test.headers...)
			if got.status != test.status || got.body != test.body || got.cut {
				t.Errorf("status %d, %d bytes, cut %v: %.60s", got.status, len(got.body), got.cut, got.body)
			}
			if encoding := got.header.Get("Content-Encoding"); encoding != "" && name != "encoded already" || got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("Content-Encoding %q, Vary %q", encoding, got.header.Get("Vary"))
			}
		})
	}
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{public("GET", "/x", text(longText, "")), public("POST", "/x", text(longText, ""))}})
	for _, method := range []string{"HEAD", "POST"} {
		if got := server.ask(t, method+" /x", gzipPlease); got.status != 200 || got.header.Get("Content-Encoding") != "" || got.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: %+v", method, got)
		}
	}
}

// TestFlushWhileCompressing checks that what is flushed of a response that is not
// compressed is sent before its end.
func TestFlushWhileCompressing(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/x", func(w http.ResponseWriter, _ *web.Request) error {
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "first")
			_ = http.NewResponseController(w).Flush()
			<-read
			return nil
		}),
	}})
	stop := sync.OnceFunc(func() { close(read) })
	defer time.AfterFunc(patience, stop).Stop()
	request := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.address+"/x", nil)).Must(t)
	request.Header.Set("Accept-Encoding", "gzip")
	response, err := http.DefaultClient.Do(request)
	testenv.NoError(t, err)
	defer response.Body.Close()
	first := make([]byte, len("first"))
	if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "first" {
		t.Errorf("%q, error %v", first, err)
	}
	select {
	case <-read:
		t.Error("the response came at its end")
	default:
		stop()
	}
}
