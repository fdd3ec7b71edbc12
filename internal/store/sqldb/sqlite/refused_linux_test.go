package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// TestRefusedChange has a disk refuse changes of a database that can be read, first because it is
// full, then because files may not grow.
func TestRefusedChange(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	for _, test := range []struct {
		name   string
		refuse func(dir string) (undo func() error)
		cause  string
	}{
		{"full", func(dir string) func() error {
			ballast := testenv.FillDisk(t, dir)
			return func() error { return os.Remove(ballast) }
		}, syscall.ENOSPC.Error()},
		{"files of a limited size", func(string) func() error {
			var before syscall.Rlimit
			testenv.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
			testenv.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 12, Max: before.Max}))
			return func() error { return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) }
		}, syscall.EFBIG.Error()},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		testenv.SmallDisk(t, dir, "size=2m")
		path := filepath.Join(dir, "orders.db")
		db := openTest(t, path)
		testenv.NoError(t, count(t, db, 1))
		testenv.NoError(t, db.TakesChanges(t.Context()))
		undo := test.refuse(dir)
		for count(t, db, 1) == nil { // in the room that the files have
		}
		found, err := Examine(t.Context(), path)
		for range 2 {
			if err := db.TakesChanges(t.Context()); err == nil || !strings.Contains(err.Error(), test.cause) || !db.Unavailable(err) {
				t.Errorf("%s: %v, want %q", test.name, err, test.cause)
			}
		}
		testenv.NoError(t, undo())
		if err != nil || found.Unusable == nil || !strings.Contains(found.Unusable.Problem, test.cause) {
			t.Errorf("%s: doctor finds %v, %v", test.name, found.Unusable, err)
		}
		testenv.NoError(t, db.TakesChanges(t.Context()))
		testenv.NoError(t, count(t, db, 1))
		if found, err = Examine(t.Context(), path); err != nil || found.Unusable != nil {
			t.Errorf("%s, and undone: doctor finds %v, %v", test.name, found.Unusable, err)
		}
	}
}
