package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFiguresAlign(t *testing.T) {
	t.Parallel()
	f := newFigures([]string{"one", "two"})
	f.add("one", "Médian", "1", "≤ 2", "")
	f.add("two", "Only there", "3", "", "how")
	f.add("two", "Médian", "4", "", "")
	var out strings.Builder
	if err := f.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"| What       | one | asked | how | two | asked | how |\n" +
		"|------------|-----|-------|-----|-----|-------|-----|\n" +
		"| Médian     | 1   | ≤ 2   |     | 4   |       |     |\n" +
		"| Only there |     |       |     | 3   |       | how |\n"
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
