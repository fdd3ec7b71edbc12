package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

func take(t *testing.T, path string) (*fileLock, bool) {
	t.Helper()
	lock := testenv.Of(lockFile(t.Context(), path)).Must(t)
	return lock, lock.alone
}

func release(t *testing.T, locks ...*fileLock) {
	t.Helper()
	for _, lock := range locks {
		testenv.NoError(t, lock.Unlock())
	}
}

func TestFileLockDetectsOtherServers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "serve.lock")
	first, alone := take(t, path)
	if !alone {
		t.Fatal("the first is not alone")
	}
	testenv.NoError(t, first.share(t.Context()))
	second, alone := take(t, path)
	if alone {
		t.Error("the second is alone beside the first")
	}
	release(t, first)
	third, alone := take(t, path)
	if alone {
		t.Error("the third is alone beside the second")
	}
	release(t, second, third)
	fourth, alone := take(t, path)
	if !alone {
		t.Error("after all others are released the fourth is not alone")
	}
	release(t, fourth)
}

func TestFileLockWaitsForExclusiveOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "serve.lock")
	first, _ := take(t, path)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ended, path); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to wait until its context ends", err)
	}

	second := make(chan bool)
	go func() {
		lock, err := lockFile(t.Context(), path)
		if err == nil {
			err = lock.Unlock()
		}
		second <- err == nil && !lock.alone
	}()
	testenv.NoError(t, first.share(t.Context()))
	if !<-second {
		t.Error("the second did not get the lock beside the first")
	}
	release(t, first)
}

// TestLocksOfOneInstallation spells the paths of one installation in several ways.
func TestLocksOfOneInstallation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, link := filepath.Join(dir, "data"), filepath.Join(dir, "link")
	database := filepath.Join(dir, "link.db")
	testenv.NoError(t, os.Mkdir(data, 0o700))
	testenv.NoError(t, errors.Join(os.Symlink(data, link), os.Symlink("data/orders.db", database)))
	lock := func(c config.Config) *ServeLocks {
		t.Helper()
		locks, err := (&Opener{Settings: c}).LockForServe(t.Context())
		if err == nil {
			err = locks.share(t.Context())
		}
		testenv.NoError(t, err)
		t.Cleanup(func() { _ = locks.Release() })
		return locks
	}
	if first := lock(config.Config{Data: data}); !first.AloneInFolder() || !first.AloneInDatabase() {
		t.Fatal("the first server is not alone")
	}
	for _, c := range []config.Config{
		{Data: link}, {Data: data + "/../data/"},
		{Data: data, Database: "sqlite://" + data + "/orders.db"},
		{Data: t.TempDir(), Database: "sqlite://" + database},
		{Data: t.TempDir(), Database: "sqlite://" + link + "/./orders.db"},
	} {
		if locks := lock(c); locks.AloneInDatabase() {
			t.Errorf("%+v: alone in the database", c)
		}
	}
	if locks := lock(config.Config{Data: link, Database: "sqlite://" + dir + "/other.db"}); locks.AloneInFolder() {
		t.Error("another database: alone in the folder")
	}
	if locks := lock(config.Config{Data: t.TempDir()}); !locks.AloneInFolder() || !locks.AloneInDatabase() {
		t.Error("another folder: not alone")
	}
}
