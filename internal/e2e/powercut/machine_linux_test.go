package powercut

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// machine is a disk, the programs that run on it, and their power.
type machine struct {
	t     *testing.T
	disk  *disk
	place string // where the disk is mounted
	dice  *rand.Rand

	*mounted // while there is power

	mu      sync.Mutex // guards running, and held while a program starts
	on      bool
	running map[*program]bool
}

// program is a running program.
type program struct {
	cmd   *exec.Cmd
	ended <-chan struct{}
	code  int // once ended
}

func newMachine(t *testing.T, dice *rand.Rand) *machine {
	m := &machine{t: t, disk: newDisk(), place: t.TempDir(), dice: dice, running: make(map[*program]bool)}
	// Before the folder is removed: this process must not see the disk.
	t.Cleanup(func() {
		if m.on {
			m.powerOff()
		}
	})
	return m
}

// path is where programs see a file of the disk.
func (m *machine) path(name string) string { return filepath.Join(m.place, name) }

func (m *machine) powerOn() {
	m.t.Helper()
	m.mounted = mountDisk(m.t, m.disk, m.place)
	m.mu.Lock()
	m.on = true
	m.mu.Unlock()
}

// powerOff cuts the power, kills all programs and leaves what is on the disk.
func (m *machine) powerOff() {
	m.t.Helper()
	m.cutNow()
	m.mu.Lock()
	m.on = false
	killed := m.running
	m.running = make(map[*program]bool)
	m.mu.Unlock()
	for p := range killed {
		_ = p.cmd.Process.Kill() // it may have ended
	}
	close(m.ended)
	for p := range killed {
		<-p.ended
	}
	m.unmount(m.t)
	m.disk.cutPower(m.dice)
}

var errNoPower = errors.New("there is no power")

// start starts the program of the service.
func (m *machine) start(cmd *exec.Cmd) (*program, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on {
		return nil, errNoPower
	}
	ended, err := testenv.StartServer(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	p := &program{cmd: cmd, ended: done}
	m.running[p] = true
	go func() {
		defer close(done)
		<-ended
		p.code = cmd.ProcessState.ExitCode()
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.running, p)
	}()
	return p, nil
}

// result is what a command has ended with. The code is -1 if it was killed.
type result struct {
	code           int
	stdout, stderr string
}

// command runs a command on the data folder.
func (m *machine) command(stdin []byte, args ...string) result {
	cmd := apptest.Command(m.t, append([]string{"--data", m.path("data")}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	p, err := m.start(cmd)
	if err != nil {
		return result{-1, "", err.Error()}
	}
	<-p.ended
	return result{p.code, stdout.String(), stderr.String()}
}

// mustRun runs a command that must succeed, and returns its standard output.
func (m *machine) mustRun(stdin []byte, args ...string) string {
	m.t.Helper()
	got := m.command(stdin, args...)
	if got.code != 0 {
		m.t.Fatalf("merchant-orders %s: %+v", strings.Join(args, " "), got)
	}
	return strings.TrimSpace(got.stdout)
}

// service is a server, and a client of its merchant.
type service struct {
	apptest.Client
	*program
}

// serve starts a server and waits until it listens. It returns nil if the power is cut first.
func (m *machine) serve(token string) *service {
	m.t.Helper()
	cmd := apptest.Command(m.t, "serve", "--data", m.path("data"), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--rate-limit", "0", "--log-level", "warn")
	var log testenv.Log
	stdout, written := io.Pipe()
	cmd.Stdout, cmd.Stderr = written, &log
	listens := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if base, ok := strings.CutPrefix(lines.Text(), "Merchant Orders listens on "); ok {
				listens <- base
			}
		}
	}()
	p := testenv.Of(m.start(cmd)).Must(m.t)
	go func() {
		<-p.ended
		_ = written.Close()
	}()
	m.t.Cleanup(func() {
		if m.t.Failed() && log.String() != "" {
			m.t.Logf("log of a server:\n%s", log.String())
		}
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	m.t.Cleanup(transport.CloseIdleConnections)
	select {
	case base := <-listens:
		return &service{apptest.Client{Base: base, Token: token, HTTP: &http.Client{Transport: transport, Timeout: testenv.WaitTimeout}}, p}
	case <-m.pulled:
		return nil
	case <-p.ended:
		m.t.Fatalf("the server does not start on what the cut has left: exit code %d\n%s", p.code, log.String())
	case <-time.After(testenv.WaitTimeout):
		m.t.Fatalf("the server does not listen:\n%s", log.String())
	}
	return nil
}

// stop has a server stop gracefully.
func (s *service) stop(t *testing.T) {
	t.Helper()
	testenv.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	<-s.ended
	testenv.Equal(t, "the server's exit code", 0, s.code)
}
