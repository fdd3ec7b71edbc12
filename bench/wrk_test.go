package main

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

	"merchantorders/internal/testenv"
)

func TestParseWrkResult(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		out  string
		want wrkResult
		ok   bool
	}{
		{"Running 2s test\nresult 80000 2000000 190 950 0 0\n", wrkResult{40_000, 190 * time.Microsecond, 950 * time.Microsecond, 0}, true},
		{"Running 2s test\nresult 80000 2000000 190 950 3000 5000\n", wrkResult{36_000, 190 * time.Microsecond, 950 * time.Microsecond, 8000}, true},
		{"Running 2s test\nresult 80000 2000000 190 950 3000 5001\n", wrkResult{}, false}, // more than a tenth failed
		{"Running 2s test\nresult 0 2000000 0 0 0 0\n", wrkResult{}, false},
		{"Running 2s test\nresult 80000 2000000 190\n", wrkResult{}, false},
		{"unable to connect\n", wrkResult{}, false},
	} {
		got, err := parseWrkResult(test.out)
		if (err == nil) != test.ok {
			t.Errorf("%q: error %v", test.out, err)
		}
		testenv.Equal(t, test.out, test.want, got)
	}
}

// TestLoads checks the requests that wrk sends.
func TestLoads(t *testing.T) {
	t.Parallel()
	needWrk(t)
	for _, test := range []struct {
		name string
		load load
		want map[string]bool // path, token and entity tag
	}{
		{"one", load{path: "/v2/orders?state=completed&page=2"}, map[string]bool{"/v2/orders?state=completed&page=2 Bearer secret ": true}},
		{"conditional", load{path: "/a", etag: `"7-1"`}, map[string]bool{`/a Bearer secret "7-1"`: true}},
		{"random", load{path: "/SF-" + numberPlaceholder + "?x=1", numberFormat: "%03d", low: 8, high: 10}, map[string]bool{
			"/SF-008?x=1 Bearer secret ": true, "/SF-009?x=1 Bearer secret ": true, "/SF-010?x=1 Bearer secret ": true,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			got := make(map[string]bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				got[fmt.Sprintf("%s %s %s", r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("If-None-Match"))] = true
				mu.Unlock()
				_, _ = io.WriteString(w, "{}")
			}))
			defer server.Close()
			b := &benchmark{options: smallOptions(), workDir: t.TempDir()}
			result := testenv.Of(b.wrk(t.Context(), server.URL, "secret", test.load, 1)).Must(t)
			if result.rate <= 0 || result.p50 <= 0 || result.p99 < result.p50 {
				t.Errorf("result: %+v", result)
			}
			mu.Lock()
			defer mu.Unlock()
			testenv.Equal(t, "requests", test.want, got)
		})
	}
}

func TestFailedLoad(t *testing.T) {
	t.Parallel()
	needWrk(t)
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	b := &benchmark{options: smallOptions(), workDir: t.TempDir()}
	if result, err := b.wrk(t.Context(), server.URL, "", load{path: "/"}, 1); err == nil {
		t.Errorf("a server that refuses every request was measured: %v", result)
	}
}

// TestBareHandler checks that the bare handler sends the response that it was
// started with.
func TestBareHandler(t *testing.T) {
	t.Parallel()
	b := &benchmark{workDir: t.TempDir()}
	b.bareHandlerPath = filepath.Join(b.workDir, "barehandler")
	testenv.NoError(t, build(t.Context(), ".", b.bareHandlerPath, "./barehandler"))
	for _, test := range []struct {
		status int
		body   string
	}{
		{http.StatusOK, `{"order":{}}` + "\n"},
		{http.StatusOK, strings.Repeat("x", 100_000)},
		{http.StatusNotModified, ""},
	} {
		given := &http.Response{StatusCode: test.status, Header: http.Header{
			"Content-Type": {"application/json"}, "X-Request-Id": {"7"}, "Date": {"long ago"},
		}}
		if test.body != "" {
			given.Header.Set("Content-Length", fmt.Sprint(len(test.body)))
		}
		handler := testenv.Of(b.startBareHandler(t.Context(), given, []byte(test.body))).Must(t)
		c := testenv.Of(dial(handler.baseURL, "")).Must(t)
		response, body, err := c.send(http.MethodGet, "/any", "", nil)
		testenv.NoError(t, err)
		if response.StatusCode != test.status || string(body) != test.body {
			t.Errorf("status %d, %d bytes, want %d, %d bytes", response.StatusCode, len(body), test.status, len(test.body))
		}
		if test.body != "" && (response.ContentLength != int64(len(test.body)) || response.Header.Get("Content-Type") == "" || response.Header.Get("X-Request-Id") != "") {
			t.Errorf("headers: %v", response.Header)
		}
		c.close()
		testenv.Equal(t, "stop", nil, handler.stop())
	}
}

// TestProcess measures this process.
func TestProcess(t *testing.T) {
	t.Parallel()
	self := testenv.Of(os.FindProcess(os.Getpid())).Must(t)
	p := &process{command: &exec.Cmd{Process: self}}
	for _, name := range []string{"VmRSS", "VmHWM"} {
		if mb, err := p.memory(name); err != nil || mb < 1 || mb > 100_000 {
			t.Errorf("%s: %v MB, %v", name, mb, err)
		}
	}
	if _, err := p.memory("VmNone"); err == nil {
		t.Error("memory returned a value that the system does not have")
	}
	own := testenv.Of(ownProcessorTime()).Must(t)
	// The two clocks have different resolutions.
	if spent, err := p.processorTime(); err != nil || spent < own-time.Second || spent > own+time.Hour {
		t.Errorf("processor time %v, %v; own %v", spent, err, own)
	}
}
