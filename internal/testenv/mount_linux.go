package testenv

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// mountVariable says that a test runs where it may mount file systems.
const mountVariable = "MERCHANT_ORDERS_TEST_MOUNT"

const cannotMount = "this user may mount no file system, neither as root nor in a user namespace: %v"

// MayMount runs the test that calls it once more in a process that may mount file
// systems which nobody else sees, as `unshare --mount` does, with a user namespace
// unless the user is root. It reports whether this is that process. In the other one it
// returns when that has ended, and the test has its result.
func MayMount(t *testing.T) bool {
	t.Helper()
	if os.Getenv(mountVariable) != "" {
		// Mounts made here are not to be seen outside.
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			Unable(t, cannotMount, err)
		}
		return true
	}
	self, err := os.Executable()
	NoError(t, err)
	again := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), mountVariable+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		again.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	signalWhenParentEnds(again, syscall.SIGKILL)
	runtime.LockOSThread() // see StartServer
	output, err := again.CombinedOutput()
	runtime.UnlockOSThread()
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EINVAL):
		Unable(t, cannotMount, err)
	case strings.Contains(string(output), "--- SKIP: "+t.Name()):
		t.Skipf("%s", output)
	case err != nil:
		t.Errorf("%v:\n%s", err, output)
	case !strings.Contains(string(output), "--- PASS: "+t.Name()):
		t.Errorf("the test did not run:\n%s", output)
	default:
		for line := range strings.Lines(string(output)) {
			if place, text, ok := strings.Cut(strings.TrimSpace(line), ".go:"); ok && !strings.Contains(place, " ") {
				t.Log(place + ".go:" + strings.TrimSpace(text))
			}
		}
	}
	return false
}

// SmallDisk mounts an empty file system on a folder until the test ends. options are
// those of tmpfs, such as size=1m.
func SmallDisk(t *testing.T, dir, options string) {
	t.Helper()
	NoError(t, os.MkdirAll(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,"+options); err != nil {
		Unable(t, cannotMount, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// FillDisk writes a file until there is no room left, and returns its path.
func FillDisk(t *testing.T, dir string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, "ballast"))
	NoError(t, err)
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	// The file system may refuse it here too.
	_ = file.Close()
	return file.Name()
}
