package backup

import (
	"testing"

	"merchantorders/internal/testenv"
)

// unsyncedFile counts what was written and not yet synced.
type unsyncedFile struct{ now, most int }

func (f *unsyncedFile) Write(p []byte) (int, error) {
	f.now += len(p)
	f.most = max(f.most, f.now)
	return len(p), nil
}

func (f *unsyncedFile) Sync() error {
	f.now = 0
	return nil
}

// TestSyncedWriter writes a large file.
func TestSyncedWriter(t *testing.T) {
	t.Parallel()
	file := new(unsyncedFile)
	w := &syncedWriter{file: file}
	for range 100 {
		testenv.Of(w.Write(make([]byte, 1<<20))).Must(t)
	}
	testenv.Equal(t, "most bytes to be synced", syncedBytes, file.most)
}
