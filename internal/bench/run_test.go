package bench

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// small is as little as a run can have.
func small() Options {
	return Options{
		Databases: []string{SQLite, Postgres}, Small: 100, Large: 200, OneDay: 100, Rounds: 1, Slice: time.Second,
		Requests: 2, Uploads: 3, Changes: 20, Clients: 2,
	}
}

// TestRun runs every kind of measurement on both databases with as little as
// possible.
func TestRun(t *testing.T) {
	t.Parallel()
	options := small()
	options.Dir = t.TempDir()
	options.Only = regexp.MustCompile(`^(Disk|v2 order, any of all(, beside all.*|, of the bare.*)?|v2 order, 304|List, in a rare state|Accepts.*|Uploads.*|\d+ uploads.*)$`)
	var table, progress bytes.Buffer
	if err := Run(t.Context(), options, &table, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	for _, line := range lines {
		if strings.Count(line, "|") != 8 {
			t.Errorf("no row of seven cells: %s", line)
		}
		// The numbers must be there, whatever they are.
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			t.Errorf("no figure: %s", line)
		}
	}
	for _, what := range []string{
		"Disk: durable writes", "Program", "Import", "Start", "Memory, idle", "v2 order, any of all", "v2 order, any of all, beside all accepts that go",
		"Memory, after all this", "List, in a rare state: B/A", "List, in a rare state: C/A", "v2 order, any of all, of the bare query's rate",
		"Accepts, of the rate of bare updates", "Uploads of 4,000,000 bytes, processor time", "3 uploads of 4,000,000 bytes at once: memory",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "| "+what+" ") }) {
			t.Errorf("no row %q in\n%s", what, &table)
		}
	}
	if strings.Contains(table.String(), "list of 100") {
		t.Errorf("rows that nobody asked for in\n%s", &table)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]func(*Options){
		"no database":         func(o *Options) { o.Databases = nil },
		"unknown database":    func(o *Options) { o.Databases = []string{"sqlite"} },
		"too small":           func(o *Options) { o.Small = 99 },
		"large below small":   func(o *Options) { o.Large = 99 },
		"one day below small": func(o *Options) { o.OneDay = 99 },
		"no rounds":           func(o *Options) { o.Rounds = 0 },
		"no requests":         func(o *Options) { o.Requests = 0 },
		"no uploads":          func(o *Options) { o.Uploads = 0 },
		"too many uploads":    func(o *Options) { o.Uploads = 301 },
		"no changes":          func(o *Options) { o.Changes = 0 },
		"no clients":          func(o *Options) { o.Clients = 0 },
		"no slice":            func(o *Options) { o.Slice = 0 },
		"half a second":       func(o *Options) { o.Slice = 3 * time.Second / 2 },
	} {
		options := small()
		wrong(&options)
		var out bytes.Buffer
		if err := Run(t.Context(), options, &out, &out); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, output %q", name, err, &out)
		}
	}
	if err := small().check(); err != nil {
		t.Errorf("what is right is refused: %v", err)
	}
}

// TestEveryOrderHasItsTime sees that a merchant's orders lie on as many moments
// as there are orders, shuffled or not, all within the three years or the day.
func TestEveryOrderHasItsTime(t *testing.T) {
	t.Parallel()
	for _, m := range []*merchant{{id: 1, first: 1, count: 500}, {id: 1, first: 1, count: 500, oneDay: true}} {
		for _, shuffled := range []bool{false, true} {
			oldest := "2023-11-21"
			if m.oneDay {
				oldest = "2026-11-20T00:"
			}
			seen := make(map[string]bool)
			for n := range m.count {
				_, rest, _ := strings.Cut(string(m.document(n, shuffled)), `"createdAt":"`)
				moment, _, _ := strings.Cut(rest, `"`)
				if moment < oldest || moment >= "2026-11-21" {
					t.Fatalf("order %d is of %s", n, moment)
				}
				seen[moment] = true
			}
			if len(seen) != m.count {
				t.Errorf("shuffled %v: %d moments of %d orders", shuffled, len(seen), m.count)
			}
		}
	}
}

// TestStates sees that the rare state is rare but there, and that orders that
// are to be accepted can be.
func TestStates(t *testing.T) {
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
	if got := count(&merchant{id: 1, first: 1, count: 1000}, rareState); got != 10 {
		t.Errorf("%d of 1,000 orders are in the rare state", got)
	}
	if got := count(&merchant{id: 1, first: 1, count: 300, new: true}, "registered"); got != 300 {
		t.Errorf("%d of 300 orders can be accepted", got)
	}
}
