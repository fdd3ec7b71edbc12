package app_test

import (
	"os"
	"regexp"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/testenv"
)

// TestVersion checks that the program has the version of the newest section of the changelog.
func TestVersion(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile("../../CHANGELOG.md")
	testenv.NoError(t, err)
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$`).FindSubmatch(changes)
	if newest == nil || app.Version() != "v"+string(newest[1]) {
		t.Errorf("version %s, newest section %s", app.Version(), newest)
	}
}
