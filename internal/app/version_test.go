package app_test

import (
	"os"
	"regexp"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/testenv"
)

// TestVersion checks that the program and the packages of the clients have the version of
// the newest section of the changelog.
func TestVersion(t *testing.T) {
	t.Parallel()
	changes := testenv.Of(os.ReadFile("../../CHANGELOG.md")).Must(t)
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$`).FindSubmatch(changes)
	if newest == nil || app.Version() != "v"+string(newest[1]) {
		t.Fatalf("version %s, newest section %s", app.Version(), newest)
	}
	for _, name := range []string{"python/pyproject.toml", "typescript/package.json", "typescript/package-lock.json", "php/composer.json"} {
		text := testenv.Of(os.ReadFile("../../clients/" + name)).Must(t)
		if got := regexp.MustCompile(`version"?(?: =|:) "(.*)"`).FindSubmatch(text); got == nil || string(got[1]) != string(newest[1]) {
			t.Errorf("%s: version %q, want %s", name, got, newest[1])
		}
	}
}
