package apptest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// ProgramVariable is the environment variable with the path of a built program.
// scripts/test builds it once for the tests of all packages.
const ProgramVariable = "MERCHANT_ORDERS_TEST_PROGRAM"

// built is the program, which is built at most once in a test process.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Build builds the program, once in a test process, and returns its path; if
// ProgramVariable is set, its value. The TestMain of a package that calls it must
// call Main.
func Build(t testing.TB) string {
	t.Helper()
	testenv.Need(t, "the built program")
	if path := os.Getenv(ProgramVariable); path != "" {
		return path
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "merchant-orders-"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", program(), "merchantorders/cmd/merchant-orders").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w:\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatalf("build the program: %v", built.err)
	}
	return program()
}

func program() string { return filepath.Join(built.dir, "merchant-orders") }

// Main runs the tests of a package, deletes the program of Build, and returns the
// exit code: func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }.
func Main(m *testing.M) int {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	return code
}

// Command returns a command of the built program. Its environment has no settings
// of the service.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return command(Build(t), args...)
}

func command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MERCHANT_ORDERS_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	return cmd
}

// Process is a server in a separate process.
type Process struct {
	Folder
	BaseURL string // http://127.0.0.1:PORT

	cmd         *exec.Cmd
	stdout, log *output
	ended       chan struct{}
}

// StartProcess starts the built program as a server on a free port and a data
// folder, which may have data. flags are further flags of serve. The process is
// killed when the test ends, if it still runs.
func StartProcess(t testing.TB, data string, flags ...string) *Process {
	t.Helper()
	return StartProgram(t, Build(t), data, flags...)
}

// StartProgram is like StartProcess, with a program that the caller has built.
func StartProgram(t testing.TB, program, data string, flags ...string) *Process {
	t.Helper()
	// The port of operators would be the same as that of another process which is gone.
	p := Launch(t, command(program, append([]string{"serve", "--data", data, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", noLimits}, flags...)...))
	p.Folder = Folder{Data: data}
	p.Await(t)
	return p
}

// Launch starts a server by a command, and does not wait until it listens. Log has what it
// writes to standard error, unless the command has a place for that. The process is killed
// when the test ends, if it still runs.
func Launch(t testing.TB, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{cmd: cmd, stdout: newOutput(), log: newOutput(), ended: make(chan struct{})}
	p.cmd.Stdout = p.stdout
	if p.cmd.Stderr == nil {
		p.cmd.Stderr = p.log
	}
	showAfterFailure(t, p.log)
	testenv.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.ended)
		// cmd.ProcessState has the result as well.
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() { p.Kill(t) })
	return p
}

// Await waits until a launched server listens, sets BaseURL and returns it.
func (p *Process) Await(t testing.TB) string {
	t.Helper()
	p.BaseURL = p.stdout.address(t, p.ended, p.log)
	return p.BaseURL
}

// Kill kills the process with SIGKILL and waits for its end. It does nothing if
// the process has ended.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("kill the server: %v", err)
	}
	<-p.ended
}

// Stop sends a signal, waits for the end and returns the exit code.
func (p *Process) Stop(t testing.TB, signal syscall.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("stop the server: %v", err)
	}
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// PID returns the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns what the server wrote to standard error so far.
func (p *Process) Log() string { return p.log.String() }

// Memory returns what the process holds in MB, by its name in /proc/PID/status: VmRSS is what
// it holds now, VmHWM the most that it has held.
func (p *Process) Memory(t testing.TB, name string) int { return Status(t, p.PID(), name) >> 10 }

// Status returns a number in /proc/PID/status by its name.
func Status(t testing.TB, pid int, name string) int {
	t.Helper()
	text := testenv.Of(os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))).Must(t)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			number := testenv.Of(strconv.Atoi(strings.Fields(value)[0])).Must(t)
			return number
		}
	}
	t.Fatalf("no %s in the status of process %d", name, pid)
	return 0
}
