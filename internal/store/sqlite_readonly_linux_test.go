package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// TestSQLiteReadOnlyFolder opens databases in a folder that may not be written
// to: one that would have to be made, and one that is there.
func TestSQLiteReadOnlyFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	there := filepath.Join(folder, "there.db")
	openTest(t, there)
	for _, file := range []string{there, there + ".lock"} {
		testenv.NoError(t, os.Chmod(file, 0o644))
	}
	testenv.NoError(t, os.Chmod(folder, 0o555))
	t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
	for _, path := range []string{filepath.Join(folder, "new.db"), there} {
		err := openUnprivileged(t, path)
		if err == nil || !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that says so", path, err)
		}
	}
}

// TestSQLiteReadOnlyDisk opens a database on a file system that has become read-only.
func TestSQLiteReadOnlyDisk(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	folder := filepath.Join(t.TempDir(), "disk")
	testenv.SmallDisk(t, folder, "")
	path := filepath.Join(folder, "orders.db")
	db := testenv.Of(OpenSQLite(t.Context(), path, Options{})).Must(t)
	testenv.NoError(t, db.Close())
	testenv.NoError(t, syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	testenv.Of(OpenSQLite(t.Context(), path, Options{})).WantError(t, "the open", syscall.EROFS)
}

// openUnprivileged opens a database without the rights of the administrator,
// for whom no folder is read-only.
func openUnprivileged(t *testing.T, path string) error {
	t.Helper()
	failed := make(chan error)
	go func() {
		// The thread is never given back: it ends with the goroutine.
		runtime.LockOSThread()
		if os.Getuid() == 0 {
			const nobody = 65534
			if err := syscall.Setfsuid(nobody); err != nil {
				failed <- err
				return
			}
		}
		db, err := OpenSQLite(t.Context(), path, Options{})
		if err == nil {
			_ = db.Close()
		}
		failed <- err
	}()
	return <-failed
}
