package release

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// machine is a machine of its own, see testdata/boot. What a test installs there
// is gone afterwards.
type machine struct {
	first string // process id of its first process
}

// boot starts a machine. The test fails unless systemd has started everything
// without an error.
func boot(t *testing.T) machine {
	t.Helper()
	for program, debianPackage := range map[string]string{
		"unshare": "util-linux", "systemctl": "systemd", "ip": "iproute2", "dpkg": "dpkg", "curl": "curl",
	} {
		testenv.Program(t, program, debianPackage)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can start a machine of its own")
	}
	group := "merchant-orders-" + strconv.Itoa(os.Getpid()) + "-" + t.Name()
	cmd := exec.Command("bash", "testdata/boot", t.TempDir(), group)
	log := testenv.Of(os.Create(filepath.Join(t.TempDir(), "log"))).Must(t)
	cmd.Stdout, cmd.Stderr = log, log
	testenv.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the log says why
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		removeGroup(t, group)
		_ = log.Close()
	})
	var m machine
	for end := time.Now().Add(testenv.WaitTimeout); ; time.Sleep(20 * time.Millisecond) {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
		m.first = strings.TrimSpace(string(children))
		state, err := m.run("", "systemctl", "is-system-running", "--wait")
		if m.first != "" && err == nil {
			return m
		}
		select {
		case <-ended:
		default:
			if time.Now().Before(end) && strings.TrimSpace(state) != "degraded" {
				continue
			}
		}
		failed, _ := m.run("", "systemctl", "--failed", "--no-pager")
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("the machine does not start: %s\n%s%s", state, failed, text)
	}
}

// removeGroup removes the control group of a machine, which is empty once the
// kernel has ended all its processes.
func removeGroup(t *testing.T, name string) {
	t.Helper()
	mounts := testenv.Of(exec.Command("findmnt", "--noheadings", "--output", "TARGET", "--types", "cgroup2").Output()).Must(t)
	root := filepath.Join(strings.Fields(string(mounts))[0], name)
	for end := time.Now().Add(testenv.WaitTimeout); ; time.Sleep(20 * time.Millisecond) {
		var folders []string
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				folders = append(folders, path)
			}
			return nil // it may be gone
		})
		slices.Reverse(folders) // the inner ones first
		for _, folder := range folders {
			_ = os.Remove(folder)
		}
		if _, err := os.Stat(root); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the control group %s stays", root)
		}
	}
}

// run runs a command as root and returns its output.
func (m machine) run(stdin string, command ...string) (string, error) {
	enter := []string{"--target", m.first, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root", "--wd", "--"}
	cmd := exec.Command("nsenter", append(enter, command...)...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"}
	cmd.Stdin = strings.NewReader(stdin)
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// script runs a shell script as root, which ends at the first error, and returns
// its output. The test fails if the script fails.
func (m machine) script(t *testing.T, text string) string {
	t.Helper()
	output, err := m.run(text, "bash", "-euo", "pipefail", "-s")
	if err != nil {
		log, _ := m.run("", "journalctl", "--no-pager", "--lines=50", "--output=cat")
		t.Fatalf("%s\n%v:\n%s\njournal:\n%s", text, err, output, log)
	}
	return output
}

// put copies a file to a path on the machine.
func (m machine) put(t *testing.T, from, to string) {
	t.Helper()
	content := testenv.Of(os.ReadFile(from)).Must(t)
	testenv.NoError(t, os.WriteFile("/proc/"+m.first+"/root"+to, content, 0o644))
}
