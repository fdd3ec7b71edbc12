package internal_test

import (
	"os"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestModulesOfBenchmark compares versions of modules: scripts/test would compile SQLite
// once more for another version of a module that it needs.
func TestModulesOfBenchmark(t *testing.T) {
	ours, its := moduleVersions(t, "../go.mod"), moduleVersions(t, "../bench/go.mod")
	compared := 0
	for name, version := range its {
		if want, ok := ours[name]; ok {
			compared++
			testenv.Equal(t, "bench/go.mod: "+name, want, version)
		}
	}
	if compared < 10 {
		t.Errorf("%d modules in both, want 10 or more", compared)
	}
}

// moduleVersions returns the versions in a go.mod file by module.
func moduleVersions(t *testing.T, file string) map[string]string {
	t.Helper()
	content := testenv.Of(os.ReadFile(file)).Must(t)
	versions := make(map[string]string)
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) >= 2 && strings.HasPrefix(fields[1], "v") {
			versions[fields[0]] = fields[1]
		}
	}
	return versions
}
