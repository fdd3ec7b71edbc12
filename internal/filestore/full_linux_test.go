package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
)

// TestDiskFull has fillDisk run where it may mount a tiny file system that
// nobody else sees: in a mount namespace, in a user namespace too unless we
// are root.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	command := play(t, "full", t.TempDir())
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == exitSkip, errors.Is(err, fs.ErrPermission):
		t.Skipf("this user may not mount a file system, so a full disk is not tested: %v: %s", err, output)
	case err != nil:
		t.Errorf("%v: %s", err, output)
	}
}

// fillDisk mounts a file system of 256 KiB and 32 files on dir and fills it.
func fillDisk(dir string) error {
	// Mounts made here are not to be seen outside.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: make mounts private: %w", errCannot, err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,nr_inodes=32"); err != nil {
		return fmt.Errorf("%w: mount: %w", errCannot, err)
	}
	disk, err := filestore.OpenDisk(dir)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(disk *filestore.Disk, dir string) error
	}{
		{"no space for bytes", fullOfBytes},
		{"room again", roomAgain},
		{"no space for the order's folder", fullOfFiles},
		{"room again", roomAgain},
	} {
		if err := step.run(disk, dir); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := noDrafts(dir); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// fullOfBytes writes a draft until the disk is full.
func fullOfBytes(disk *filestore.Disk, _ string) error {
	ctx := context.Background()
	draft, err := disk.Stage(ctx)
	if err != nil {
		return err
	}
	defer draft.Abort()
	for err == nil {
		_, err = draft.Write(make([]byte, 48<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("write: %w, want ENOSPC", err)
	}
	if err := disk.Check(ctx); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("check: %v, want ENOSPC", err)
	}
	path := order.InvoicePath("SF-full", "a.pdf")
	if err := draft.Commit(ctx, path); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("publish: %v, want ENOSPC", err)
	}
	return missing(disk, path)
}

// fullOfFiles takes every place for a file while a draft is on its way.
func fullOfFiles(disk *filestore.Disk, dir string) error {
	ctx := context.Background()
	draft, err := disk.Stage(ctx)
	if err != nil {
		return err
	}
	defer draft.Abort()
	if _, err := draft.Write([]byte("content")); err != nil {
		return err
	}
	for i := 0; err == nil; i++ {
		junk := filepath.Join(dir, "junk"+strconv.Itoa(i))
		err = os.WriteFile(junk, nil, 0o600)
		defer func() { _ = os.Remove(junk) }()
	}
	path := order.InvoicePath("SF-no-place", "a.pdf")
	if err := draft.Commit(ctx, path); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("publish: %v, want ENOSPC", err)
	}
	if _, err := disk.Stage(ctx); err != nil {
		return fmt.Errorf("the discarded draft still takes a place: %w", err)
	}
	if err := disk.RemoveStagedFiles(farFuture); err != nil {
		return err
	}
	return missing(disk, path)
}

// roomAgain stores a file and removes it.
func roomAgain(disk *filestore.Disk, _ string) error {
	ctx := context.Background()
	if err := disk.Check(ctx); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	draft, err := disk.Stage(ctx)
	if err != nil {
		return err
	}
	defer draft.Abort()
	if _, err := draft.Write(make([]byte, 100<<10)); err != nil {
		return err
	}
	path := order.InvoicePath("SF-room", "a.pdf")
	if err := draft.Commit(ctx, path); err != nil {
		return err
	}
	return disk.Remove(ctx, path)
}

// missing returns an error if there is anything under path.
func missing(disk *filestore.Disk, path string) error {
	if _, err := disk.Open(context.Background(), path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open %s: %v, want fs.ErrNotExist", path, err)
	}
	return nil
}
