package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb/sqlite"
	"merchantorders/internal/testenv"
)

// The environment variable makes the test program run backUpToFullDisk on its
// last argument, the data folder. exitSkip says that this user may not mount.
const (
	fullDiskVariable = "BACKUP_TEST_FULL_DISK"
	exitSkip         = 3
)

// TestDiskFull runs backUpToFullDisk in a mount namespace of its own.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 250)
	self, err := os.Executable()
	testenv.NoError(t, err)
	command := exec.CommandContext(t.Context(), self, in.Folder)
	command.Env = append(os.Environ(), fullDiskVariable+"="+t.TempDir())
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

// backUpToFullDisk backs up a data folder to a mount point, on file systems with
// too little space for the snapshot of the database, and for its copy.
func backUpToFullDisk(data, mountPoint string) error {
	info, err := os.Stat(filepath.Join(data, "orders.db"))
	if err != nil {
		return err
	}
	db, err := sqlite.Open(context.Background(), filepath.Join(data, "orders.db"), migrations.Options{})
	if err != nil {
		return err
	}
	files, err := disk.Open(filepath.Join(data, "files"))
	if err != nil {
		return err
	}
	in := maintenance.Installation{DB: db, Files: files}
	for _, size := range []int64{info.Size() / 2, info.Size() * 3 / 2} {
		if err := mountSmall(mountPoint, size); err != nil {
			fmt.Println(err)
			os.Exit(exitSkip)
		}
		path := filepath.Join(mountPoint, "b.tar")
		_, err := backup.Create(context.Background(), in, path, maintenancetest.Now, "", new(maintenance.Reporter))
		if err == nil || !strings.Contains(err.Error(), "no space left on the disk of "+path+"; nothing was left behind") {
			return fmt.Errorf("on a disk of %d bytes: error %v", size, err)
		}
		if entries, err := os.ReadDir(mountPoint); len(entries) > 0 || err != nil {
			return fmt.Errorf("left behind: %v, error %v", entries, err)
		}
	}
	return errors.Join(db.Close(), files.Close())
}

// mountSmall mounts a file system of a size.
func mountSmall(mountPoint string, size int64) error {
	// Do not propagate the mounts to other namespaces.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Mount("tmpfs", mountPoint, "tmpfs", 0, fmt.Sprintf("size=%d", size))
}
