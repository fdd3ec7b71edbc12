package bench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRun runs the whole of it with as little as possible.
func TestRun(t *testing.T) {
	t.Parallel()
	options := Options{Small: 100, Large: 200, Requests: 2, Uploads: 3, Changes: 6, Clients: 2, Dir: t.TempDir()}
	var table, progress bytes.Buffer
	if err := Run(t.Context(), options, &table, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	lines := strings.Split(strings.TrimSpace(table.String()), "\n")
	for _, line := range lines {
		if strings.Count(line, "|") != 5 {
			t.Errorf("no row of four cells: %s", line)
		}
		// The numbers must be there, whatever they are.
		if strings.Contains(line, "NaN") || strings.Contains(line, "Inf") {
			t.Errorf("no figure: %s", line)
		}
	}
	if want := len(readings) + 10; len(lines)-2 != want {
		t.Errorf("%d figures, want %d:\n%s", len(lines)-2, want, &table)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, wrong := range []Options{
		{},
		{Small: 99, Large: 200, Requests: 1, Uploads: 1, Changes: 1, Clients: 1},
		{Small: 200, Large: 199, Requests: 1, Uploads: 1, Changes: 1, Clients: 1},
		{Small: 100, Large: 200, Uploads: 1, Changes: 1, Clients: 1},
	} {
		var out bytes.Buffer
		if err := Run(t.Context(), wrong, &out, &out); err == nil || out.Len() > 0 {
			t.Errorf("%+v: error %v, output %q", wrong, err, &out)
		}
	}
}

func TestFiguresAlign(t *testing.T) {
	t.Parallel()
	var f figures
	f.add("Médian", "1", "≤ 2", "")
	var out strings.Builder
	if err := f.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"| What   | Figure | Target | How |\n" +
		"|--------|--------|--------|-----|\n" +
		"| Médian | 1      | ≤ 2    |     |\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 28_432.4: "28,432", 1_000_000: "1,000,000"} {
		if got := thousands(n); got != want {
			t.Errorf("%v is shown as %s, want %s", n, got, want)
		}
	}
}

// TestEveryOrderHasItsTime sees that a merchant's orders lie on as many moments
// as there are orders, shuffled or not, all within the three years.
func TestEveryOrderHasItsTime(t *testing.T) {
	t.Parallel()
	for _, shuffled := range []bool{false, true} {
		m := &merchant{id: 1, first: 1, count: 500}
		seen := make(map[string]bool)
		for n := range m.count {
			_, rest, _ := strings.Cut(string(m.document(n, shuffled)), `"createdAt":"`)
			moment, _, _ := strings.Cut(rest, `"`)
			if moment < "2023-11-21" || moment > "2026-11-21" {
				t.Fatalf("order %d is of %s", n, moment)
			}
			seen[moment] = true
		}
		if len(seen) != m.count {
			t.Errorf("shuffled %v: %d moments of %d orders", shuffled, len(seen), m.count)
		}
	}
}
