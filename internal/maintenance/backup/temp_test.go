package backup

import (
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/testenv"
)

// TestTempOfKilledBackups makes a temporary folder beside that of a backup that runs, and one
// of a backup that was killed.
func TestTempOfKilledBackups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	running, remove, err := makeTemp(filepath.Join(dir, "a.tar"))
	testenv.NoError(t, err)
	killed := filepath.Join(dir, ".b.tar"+partial+"-123")
	testenv.NoError(t, os.Mkdir(killed, 0o700))
	for _, name := range []string{tempLock, "orders.db"} {
		testenv.NoError(t, os.WriteFile(filepath.Join(killed, name), nil, 0o600))
	}
	next, removeNext, err := makeTemp(filepath.Join(dir, "c.tar"))
	testenv.NoError(t, err)
	left := testenv.Of(filepath.Glob(filepath.Join(dir, ".*"))).Must(t)
	testenv.Equal(t, "folders", []string{running, next}, left)
	testenv.NoError(t, remove())
	testenv.NoError(t, removeNext())
}
