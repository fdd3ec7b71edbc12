package disk_test

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

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestDiskFull runs fillDisk in a mount namespace, where it can mount a small
// file system that no other process sees. Users other than root need a user
// namespace too.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	command := runRole(t, "full", t.TempDir())
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
		testenv.Unable(t, "this user may not mount a file system: %v: %s", err, output)
	case err != nil:
		t.Errorf("%v: %s", err, output)
	}
}

// fillDisk mounts a file system of 256 KiB and 32 files on dir and fills it.
func fillDisk(dir string) error {
	// Do not propagate the mounts to other namespaces.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: make mounts private: %w", errCannot, err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,nr_inodes=32"); err != nil {
		return fmt.Errorf("%w: mount: %w", errCannot, err)
	}
	files, err := disk.Open(dir)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(files *disk.Store, dir string) error
	}{
		{"no space for bytes", fullOfBytes},
		{"space again", freeAgain},
		{"no inode for the order's folder", fullOfFiles},
		{"space again", freeAgain},
	} {
		if err := step.run(files, dir); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if err := noStagedFiles(dir); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// fullOfBytes writes a staged file until the disk is full.
func fullOfBytes(files *disk.Store, _ string) error {
	ctx := context.Background()
	staged, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	for err == nil {
		_, err = staged.Write(make([]byte, 48<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("write: %w, want ENOSPC", err)
	}
	if err := files.Check(ctx); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("check: %v, want ENOSPC", err)
	}
	path := order.InvoicePath("SF-full", "a.pdf")
	if err := staged.Commit(ctx, path); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("commit: %v, want ENOSPC", err)
	}
	return missing(files, path)
}

// fullOfFiles uses every inode while a file is staged.
func fullOfFiles(files *disk.Store, dir string) error {
	ctx := context.Background()
	staged, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := staged.Write([]byte("content")); err != nil {
		return err
	}
	for i := 0; err == nil; i++ {
		junk := filepath.Join(dir, "junk"+strconv.Itoa(i))
		err = os.WriteFile(junk, nil, 0o600)
		defer func() { _ = os.Remove(junk) }()
	}
	path := order.InvoicePath("SF-no-inode", "a.pdf")
	if err := staged.Commit(ctx, path); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("commit: %v, want ENOSPC", err)
	}
	if _, err := files.Stage(ctx); err != nil {
		return fmt.Errorf("the aborted file still takes an inode: %w", err)
	}
	if err := files.RemoveStagedFiles(farFuture); err != nil {
		return err
	}
	return missing(files, path)
}

// freeAgain stores a file and removes it.
func freeAgain(files *disk.Store, _ string) error {
	ctx := context.Background()
	if err := files.Check(ctx); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	staged, err := files.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Abort()
	if _, err := staged.Write(make([]byte, 100<<10)); err != nil {
		return err
	}
	path := order.InvoicePath("SF-room", "a.pdf")
	if err := staged.Commit(ctx, path); err != nil {
		return err
	}
	return files.Remove(ctx, path)
}

// missing returns an error if there is a file with this path.
func missing(files *disk.Store, path string) error {
	if _, err := files.Open(context.Background(), path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open %s: %v, want fs.ErrNotExist", path, err)
	}
	return nil
}
