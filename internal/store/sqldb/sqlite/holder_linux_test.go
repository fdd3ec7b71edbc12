package sqlite

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// TestDescribeProcess describes a process that is stopped.
func TestDescribeProcess(t *testing.T) {
	t.Parallel()
	process := exec.Command("sleep", "1000")
	testenv.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	id := strconv.Itoa(process.Process.Pid)
	testenv.NoError(t, process.Process.Signal(syscall.SIGSTOP))
	testenv.Eventually(t, "the process is stopped", func() bool {
		return strings.HasPrefix(describeProcess(id), "process "+id+" (sleep 1000), which is stopped: ")
	})
}
