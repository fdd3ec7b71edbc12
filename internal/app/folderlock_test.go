package app

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func take(t *testing.T, path string) (*folderLock, bool) {
	t.Helper()
	lock, alone, err := lockFolder(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return lock, alone
}

func release(t *testing.T, locks ...*folderLock) {
	t.Helper()
	for _, lock := range locks {
		if err := lock.release(); err != nil {
			t.Error(err)
		}
	}
}

func TestFolderLockDetectsOtherServers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "serve.lock")
	first, alone := take(t, path)
	if !alone {
		t.Fatal("the first is not alone")
	}
	if err := first.share(t.Context()); err != nil {
		t.Fatal(err)
	}
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

func TestFolderLockWaitsForExclusiveOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "serve.lock")
	first, _ := take(t, path)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := lockFolder(ended, path); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to wait until its context ends", err)
	}

	second := make(chan bool)
	go func() {
		lock, alone, err := lockFolder(t.Context(), path)
		if err == nil {
			err = lock.release()
		}
		second <- err == nil && !alone
	}()
	if err := first.share(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !<-second {
		t.Error("the second did not get the lock beside the first")
	}
	release(t, first)
}
