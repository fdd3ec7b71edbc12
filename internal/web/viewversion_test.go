package web_test

import (
	"testing"

	"merchantorders/internal/web"
)

func TestViewVersion(t *testing.T) {
	t.Parallel()
	seen := make(map[string][]string)
	for _, parts := range [][]string{{"1", "2", "a", "b"}, {"1", "2", "a", "c"}, {"1", "3", "a", "b"}, {"1", "2", "ab", ""}, {"12", "a", "b"}, {`1", "2`, "a", "b"}} {
		got := web.ViewVersion(parts...)
		if seen[got] != nil || len(got) != 8 || got != web.ViewVersion(parts...) {
			t.Errorf("%q: %s, as %q", parts, got, seen[got])
		}
		seen[got] = parts
	}
}
