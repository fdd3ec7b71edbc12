package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// smallOptions are the options of the smallest possible run.
func smallOptions() options {
	return options{
		databases: []string{sqlite, postgres}, small: 100, large: 1200, oneDay: 100, rounds: 1, slice: time.Second,
		requests: 2, grown: 3, uploads: 3, accepts: 20, answers: 20, clients: 2,
		program: os.Getenv("MERCHANT_ORDERS_TEST_PROGRAM"), // scripts/test builds it once
	}
}

// needWrk skips the test if wrk is not installed. If all tests run, it fails instead.
func needWrk(t *testing.T) {
	t.Helper()
	if err := findWrk(); err != nil {
		testenv.Unable(t, "%v", err)
	}
}

// TestRun runs every kind of measurement on both databases, as small as
// possible.
func TestRun(t *testing.T) {
	t.Parallel()
	needWrk(t)
	if installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(installed) == 0 {
		testenv.Unable(t, "PostgreSQL is not installed")
	}
	o := smallOptions()
	o.dir = t.TempDir()
	o.only = regexp.MustCompile(`^(Disk|Growth by each kind|Export.*|Deliveries.*|Far.*|Return.*|v2 order, random(, during 200.*)?|List, in a rare state|Growth, (console, one order|operator, overview)|Accepts.*|Answers.*|Uploads.*|\d+ concurrent uploads.*)$`)
	var table, progress bytes.Buffer
	if err := run(t.Context(), o, &table, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	for line := range strings.Lines(table.String()) {
		if line != "\n" && strings.Count(line, "|") != 5 {
			t.Errorf("want four cells: %s", line)
		}
	}
	for _, name := range []string{
		"Disk: durable writes", "Program", "Import", "Start", "Memory, idle", "v2 order, random", "v2 order, random, during 200 accepts/s",
		"Memory, after the reads", "List, in a rare state: B/A", "List, in a rare state: C/A",
		"Growth, console, one order: B/A", "Growth, console, one order: C/A", "Growth, operator, overview: all/A",
		"Growth by each kind, merchants: 10×/1×", "Growth by each kind, deliveries: 10×/1×",
		"Export, an order: B/A", "Export, peak memory over idle", "Deliveries of the marketplace's webhook",
		"Deliveries answered after 100 ms, receivers and events of each: 1, 1,200", "Deliveries answered after 100 ms, receivers and events of each: 12, 100",
		"Accepts, relative to bare updates", "Return after a crash", "Far database, list of 10, 304, 5ms", "Answers, 20 in one request", "Accepts beside answers, 99th percentile", "Accepts beside an export, 99th percentile", "Accepts beside check, 99th percentile", "Accepts beside the retention, 99th percentile", "Uploads of 4,000,000 bytes, processor time", "3 concurrent uploads of 4,000,000 bytes: memory",
	} {
		testenv.Contains(t, "progress", progress.String(), "\n    "+name+": ")
	}
	testenv.Lacks(t, "tables", table.String(), "list of 100")
}

// TestNothingLeft runs a measurement that has too few orders.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	needWrk(t)
	o := smallOptions()
	o.dir, o.databases, o.only = t.TempDir(), []string{sqlite}, regexp.MustCompile("random, during as many")
	var table, progress bytes.Buffer
	if err := run(t.Context(), o, &table, &progress); err == nil || !strings.Contains(err.Error(), "no registered orders are left") || table.Len() > 0 {
		t.Errorf("error %v, tables\n%s", err, &table)
	}
}

// TestReport compares tables with what docs/performance.md holds, and refuses rows without a
// measurement.
func TestReport(t *testing.T) {
	t.Parallel()
	page := testenv.Of(os.ReadFile("../docs/performance.md")).Must(t)
	r := newReport([]string{sqlite, postgres})
	for n, job := range jobs {
		r.add(sqlite, job.row+"!", result{fmt.Sprintf("%d.50", n), "≤ 1.00", "10/s"})
		if !bytes.Contains(page, []byte("\n| "+job.job+" |")) {
			t.Errorf("docs/performance.md has no %s", job.job)
		}
	}
	r.add(sqlite, "Growth, a: B/A", result{"1,200.00", "≥ 1.00", ""})
	r.add(postgres, "Growth, b: B/A", result{"2.00", "< 2", ""})
	var text strings.Builder
	testenv.NoError(t, errors.Join(r.check(), r.write(&text)))
	testenv.Contains(t, "text", text.String(),
		"| what somebody waits for | goal | SQLite | PostgreSQL |\n|---|---|---|---|\n",
		"| "+jobs[0].job+" | ≤ 1.00 | 0.50: 10/s |  |\n",
		"| "+jobs[1].job+" | ≤ 1.00 | **1.50**: 10/s |  |\n",
		"\n\n| measured | goal | SQLite | PostgreSQL |\n",
		"| Growth: B/A (2) | ≥ 1.00; < 2 | 1,200.00 | **2.00** |\n",
	)
	for _, empty := range []result{{value: "0/s"}, {value: "0.50", details: "p50 1 ms; 0 accepts/s"}, {value: "NaN"}} {
		r := newReport([]string{sqlite})
		if r.add(sqlite, "row", empty); r.check() == nil {
			t.Errorf("%+v measures something", empty)
		}
	}
}

// TestBacklogFindsGaps sends events to receivers, in order, repeated, and with one left out.
func TestBacklogFindsGaps(t *testing.T) {
	t.Parallel()
	for want, bodies := range map[string][]string{
		"<nil>":                               {`{"seq":1}`, `{"events":[{"seq":1},{"seq":2}]}`, `{"events":[{"seq":3}]}`},
		"event 3 of merchant 0 comes after 1": {`{"events":[{"seq":1},{"seq":3}]}`, `{"seq":2}`, `{"seq":3}`},
	} {
		b := &backlog{received: make([]int, 1), wanted: 3, end: make(chan error, 1)}
		for _, body := range bodies {
			b.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/0", strings.NewReader(body)))
		}
		if got := fmt.Sprint(<-b.end); got != want {
			t.Errorf("%v: %s, want %s", bodies, got, want)
		}
	}
}

// TestScale runs the measurement of many stores, as small as possible.
func TestScale(t *testing.T) {
	t.Parallel()
	needWrk(t)
	o := smallOptions()
	o.databases, o.stores, o.large, o.dir = []string{sqlite}, 3, 1000, t.TempDir()
	var table, progress bytes.Buffer
	if err := run(t.Context(), o, &table, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	testenv.Contains(t, "progress", progress.String(), "    Scale, 1,000 orders: import: ", "    Scale, v2 accept: 99th percentile: ", ": no findings")
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*options){
		"no database":         func(o *options) { o.databases = nil },
		"unknown database":    func(o *options) { o.databases = []string{"sqlite"} },
		"too small":           func(o *options) { o.small = 99 },
		"large below small":   func(o *options) { o.large = 99 },
		"one day below small": func(o *options) { o.oneDay = 99 },
		"no rounds":           func(o *options) { o.rounds = 0 },
		"no requests":         func(o *options) { o.requests = 0 },
		"no rows":             func(o *options) { o.grown = 0 },
		"no uploads":          func(o *options) { o.uploads = 0 },
		"too many uploads":    func(o *options) { o.uploads = 301 },
		"no changes":          func(o *options) { o.accepts = 0 },
		"no clients":          func(o *options) { o.clients = 0 },
		"stores without":      func(o *options) { o.stores = 121 },
		"no slice":            func(o *options) { o.slice = 0 },
		"half a second":       func(o *options) { o.slice = 3 * time.Second / 2 },
	} {
		o := smallOptions()
		change(&o)
		var out bytes.Buffer
		if err := run(t.Context(), o, &out, &out); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, output %q", name, err, &out)
		}
	}
	testenv.Equal(t, "valid options", nil, smallOptions().check())
}

// TestOrderTimes checks that a merchant's orders all have different times,
// shuffled or not, within the three years or the day.
func TestOrderTimes(t *testing.T) {
	t.Parallel()
	for _, m := range []*merchant{{id: 1, first: 1, count: 500}, {id: 1, first: 1, count: 500, oneDay: true}} {
		for _, shuffled := range []bool{false, true} {
			oldest := "2023-11-21"
			if m.oneDay {
				oldest = "2026-11-20T00:"
			}
			seen := make(map[string]bool)
			for n := range m.count {
				_, after, _ := strings.Cut(string(m.document(n, shuffled)), `"createdAt":"`)
				created, _, _ := strings.Cut(after, `"`)
				if created < oldest || created >= "2026-11-21" {
					t.Fatalf("order %d was created at %s", n, created)
				}
				seen[created] = true
			}
			testenv.Equal(t, fmt.Sprintf("shuffled %v: different orders", shuffled), m.count, len(seen))
		}
	}
}

// TestOrderStates checks how many orders are in the rare state, and that all
// orders of an acceptable merchant are registered.
func TestOrderStates(t *testing.T) {
	t.Parallel()
	count := func(m *merchant, state string) int {
		n := 0
		for i := range m.count {
			if strings.Contains(string(m.document(i, false)), `"state":"`+state+`"`) {
				n++
			}
		}
		return n
	}
	testenv.Equal(t, "orders of 1,000 in the rare state", 10, count(&merchant{id: 1, first: 1, count: 1000}, rareState))
	testenv.Equal(t, "registered orders of 300", 300, count(&merchant{id: 1, first: 1, count: 300, acceptable: true}, "registered"))
}
