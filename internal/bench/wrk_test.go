package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadFigures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out  string
		want pace
		ok   bool
	}{
		{"Running 2s test\nfigures 80000 2000000 190 950 0 0\n", pace{40_000, 190 * time.Microsecond, 950 * time.Microsecond, 0}, true},
		{"Running 2s test\nfigures 80000 2000000 190 950 3000 5000\n", pace{36_000, 190 * time.Microsecond, 950 * time.Microsecond, 8000}, true},
		{"Running 2s test\nfigures 80000 2000000 190 950 3000 5001\n", pace{}, false}, // too many
		{"Running 2s test\nfigures 0 2000000 0 0 0 0\n", pace{}, false},
		{"Running 2s test\nfigures 80000 2000000 190\n", pace{}, false},
		{"unable to connect\n", pace{}, false},
	} {
		got, err := readFigures(test.out)
		if (err == nil) != test.ok {
			t.Errorf("%q: error %v", test.out, err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(pace{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.out, diff)
		}
	}
}

// TestLoads has wrk ask a server that notes what it is asked for.
func TestLoads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		load load
		want map[string]bool // path, token and tag
	}{
		{"one", load{path: "/v2/orders?state=completed&page=2"}, map[string]bool{"/v2/orders?state=completed&page=2 Bearer secret ": true}},
		{"one with a tag", load{path: "/a", tag: `"7-1"`}, map[string]bool{`/a Bearer secret "7-1"`: true}},
		{"any", load{path: "/SF-" + anyNumber + "?x=1", form: "%03d", low: 8, high: 10}, map[string]bool{
			"/SF-008?x=1 Bearer secret ": true, "/SF-009?x=1 Bearer secret ": true, "/SF-010?x=1 Bearer secret ": true,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := make(map[string]bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[fmt.Sprintf("%s %s %s", r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("If-None-Match"))] = true
				mu.Unlock()
				_, _ = io.WriteString(w, "{}")
			}))
			defer server.Close()
			b := &bench{Options: small(), dir: t.TempDir()}
			p, err := b.wrk(t.Context(), server.URL, "secret", test.load, 1)
			if err != nil {
				t.Fatal(err)
			}
			if p.rate <= 0 || p.p50 <= 0 || p.p99 < p.p50 {
				t.Errorf("paces: %+v", p)
			}
			mu.Lock()
			defer mu.Unlock()
			if diff := cmp.Diff(test.want, asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadThatFails(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	b := &bench{Options: small(), dir: t.TempDir()}
	if p, err := b.wrk(t.Context(), server.URL, "", load{path: "/"}, 1); err == nil {
		t.Errorf("a server that refuses everything is measured: %v", p)
	}
}

// TestCeiling sees that the bare handler gives the very answer that it was
// started with.
func TestCeiling(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir()}
	b.ceiling = filepath.Join(b.dir, "ceiling")
	if err := build(t.Context(), b.ceiling, "merchantorders/internal/bench/ceiling"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		status int
		body   string
	}{
		{http.StatusOK, `{"order":{}}` + "\n"},
		{http.StatusOK, strings.Repeat("x", 100_000)},
		{http.StatusNotModified, ""},
	} {
		given := &http.Response{StatusCode: test.status, Header: http.Header{
			"Content-Type": {"application/json; charset=utf-8"}, "X-Request-Id": {"7"}, "Date": {"long ago"},
		}}
		if test.body != "" {
			given.Header.Set("Content-Length", fmt.Sprint(len(test.body)))
		}
		handler, err := b.startCeiling(t.Context(), given, []byte(test.body))
		if err != nil {
			t.Fatal(err)
		}
		c, err := dial(handler.base, "")
		if err != nil {
			t.Fatal(err)
		}
		answer, body, err := c.send(http.MethodGet, "/any", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != test.status || string(body) != test.body {
			t.Errorf("answer %d with %d bytes, want %d with %d", answer.StatusCode, len(body), test.status, len(test.body))
		}
		if test.body != "" && (answer.ContentLength != int64(len(test.body)) || answer.Header.Get("Content-Type") == "" || answer.Header.Get("X-Request-Id") != "") {
			t.Errorf("headers: %v", answer.Header)
		}
		c.close()
		if err := handler.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
}

// TestProcessFigures reads those of this process.
func TestProcessFigures(t *testing.T) {
	t.Parallel()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	p := &process{command: &exec.Cmd{Process: self}}
	for _, figure := range []string{"VmRSS", "VmHWM"} {
		if mb, err := p.memory(figure); err != nil || mb < 1 || mb > 100_000 {
			t.Errorf("%s: %v MB, %v", figure, mb, err)
		}
	}
	if _, err := p.memory("VmNone"); err == nil {
		t.Error("a figure that the system does not have is told")
	}
	own, err := ownProcessorTime()
	if err != nil {
		t.Fatal(err)
	}
	// What the system tells in hundredths was spent before or is spent after.
	if spent, err := p.processorTime(); err != nil || spent < own-time.Second || spent > own+time.Hour {
		t.Errorf("processor time %v, %v; own %v", spent, err, own)
	}
}
