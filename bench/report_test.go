package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReportAligned(t *testing.T) {
	t.Parallel()
	r := newReport([]string{"one", "two"})
	r.add("one", "Médian", "1", "≤ 2", "")
	r.add("two", "Only there", "3", "", "how")
	r.add("two", "Médian", "4", "", "")
	var out strings.Builder
	if err := r.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"| What       | one | target | details | two | target | details |\n" +
		"|------------|-----|--------|---------|-----|--------|---------|\n" +
		"| Médian     | 1   | ≤ 2    |         | 4   |        |         |\n" +
		"| Only there |     |        |         | 3   |        | how     |\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 28_432.4: "28,432", 1_000_000: "1,000,000"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%v) = %s, want %s", n, got, want)
		}
	}
}
