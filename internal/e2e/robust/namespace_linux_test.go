package robust

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// insideVariable says that a test it runs where it may mount file systems.
const insideVariable = "ROBUST_MAY_MOUNT"

const cannotMount = "no disk can be made full here, as this user may mount none, neither as root nor in a user namespace: %v"

// mayMount has the test that calls it run once more in a process that may mount
// file systems which nobody else sees, as `unshare --mount` does it, and with a
// user namespace too unless we are root. It reports whether this is that
// process. In the other one it returns when that has ended, and the test has
// its result.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		// Mounts made here are not to be seen outside.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			testenv.Unable(t, cannotMount, err)
		}
		return true
	}
	self, err := os.Executable()
	testenv.NoError(t, err)
	again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), insideVariable+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	output, err := again.CombinedOutput()
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		testenv.Unable(t, cannotMount, err)
	case strings.Contains(string(output), "--- SKIP: "+t.Name()):
		t.Skipf("%s", output)
	case err != nil:
		t.Errorf("%v:\n%s", err, output)
	case !strings.Contains(string(output), "--- PASS: "+t.Name()):
		t.Errorf("the test did not run:\n%s", output)
	}
	return false
}

// tinyDisk mounts a file system of a size, such as 1m, on a folder.
func tinyDisk(t *testing.T, dir, size string) {
	t.Helper()
	testenv.NoError(t, os.MkdirAll(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size="+size); err != nil {
		testenv.Unable(t, cannotMount, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}
