package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// buildPrograms builds the bare handler and, unless the options name a program, the
// service as a release has it.
func (b *benchmark) buildPrograms(ctx context.Context) error {
	b.bareHandlerPath = filepath.Join(b.workDir, "barehandler")
	if err := build(ctx, ".", b.bareHandlerPath, "./barehandler"); err != nil {
		return err
	}
	if b.program != "" {
		var err error
		b.programPath, err = filepath.Abs(b.program)
		return err
	}
	release := exec.CommandContext(ctx, "bash", "../scripts/release")
	folder := filepath.Join(b.workDir, "release")
	release.Env = append(os.Environ(), "OUT="+folder, "FORMATS=program", "TARGETS="+runtime.GOOS+"/"+runtime.GOARCH)
	if out, err := release.CombinedOutput(); err != nil {
		return fmt.Errorf("scripts/release: %w:\n%s", err, out)
	}
	built, err := filepath.Glob(folder + "/merchant-orders_*")
	if err != nil || len(built) != 1 {
		return fmt.Errorf("scripts/release built %q: %w", built, err)
	}
	b.programPath = built[0]
	return nil
}

// build builds a package of the module in moduleDir.
func build(ctx context.Context, moduleDir, output, pkg string) error {
	command := exec.CommandContext(ctx, "go", "build", "-o", output, pkg)
	command.Dir = moduleDir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w:\n%s", pkg, err, out)
	}
	return nil
}

// process is a running server: the service or the bare handler.
type process struct {
	baseURL   string        // http://...
	adminURL  string        // of the operators; empty for the bare handler
	startTime time.Duration // from the start until it listened
	command   *exec.Cmd
}

// startProcess starts a server that writes its address to standard output.
func startProcess(command *exec.Cmd) (*process, error) {
	p := &process{command: command}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if _, admin, ok := strings.Cut(lines.Text(), "admin listener is "); ok {
			p.adminURL = admin
		}
		if _, base, ok := strings.Cut(lines.Text(), "listens on "); ok {
			p.baseURL, p.startTime = base, time.Since(start)
			return p, nil
		}
	}
	return nil, errors.Join(errors.New("the server ended before it listened"), lines.Err(), command.Wait())
}

// stop sends SIGTERM and waits until the server has ended. The bare handler
// ends by the signal, the service with exit code 0.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := p.command.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
		return nil
	}
	return err
}

// startBareHandler starts the bare handler with a response of the service: it
// sends the same status, body and Content-* headers.
func (b *benchmark) startBareHandler(ctx context.Context, response *http.Response, body []byte) (*process, error) {
	same := &http.Response{
		StatusCode: response.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header),
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(string(body))),
	}
	for name, values := range response.Header {
		if strings.HasPrefix(name, "Content-") {
			same.Header[name] = values
		}
	}
	var text strings.Builder
	if err := same.Write(&text); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, b.bareHandlerPath)
	command.Stdin = strings.NewReader(text.String())
	command.Stderr = os.Stderr
	return startProcess(command)
}

// memory returns a value of /proc/PID/status in MB: VmRSS is the memory that
// the server uses now, VmHWM the maximum so far.
func (p *process) memory(name string) (float64, error) {
	status, err := os.ReadFile(p.procFile("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(value)[0])
			return float64(kilobytes) / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no %s", name)
}

// processorTime returns the user and system time of the server, with a
// resolution of a hundredth of a second.
func (p *process) processorTime() (time.Duration, error) {
	text, err := os.ReadFile(p.procFile("stat"))
	if err != nil {
		return 0, err
	}
	// The program's name before the bracket may contain spaces.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, errors.New("/proc/PID/stat has no processor time")
	}
	ticks := 0
	for _, field := range []int{user, system} {
		n, err := strconv.Atoi(fields[field])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

func (p *process) procFile(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.command.Process.Pid), name)
}
