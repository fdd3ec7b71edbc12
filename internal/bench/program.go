package bench

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
	"strconv"
	"strings"
	"syscall"
	"time"
)

// build builds the bare handler and, unless it is there already, the program.
func (b *bench) build(ctx context.Context) error {
	b.ceiling = filepath.Join(b.dir, "ceiling")
	if err := build(ctx, b.ceiling, "merchantorders/internal/bench/ceiling"); err != nil {
		return err
	}
	if b.Program != "" {
		var err error
		b.program, err = filepath.Abs(b.Program)
		return err
	}
	b.program = filepath.Join(b.dir, "merchant-orders")
	return build(ctx, b.program, "merchantorders/cmd/merchant-orders")
}

func build(ctx context.Context, path, name string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}

// process is a running server: the service, or a bare handler.
type process struct {
	base    string        // its address, http://...
	took    time.Duration // from its start until it said that it listens
	command *exec.Cmd
}

// startProcess starts a server, which says on standard output where it listens.
func startProcess(command *exec.Cmd) (*process, error) {
	p := &process{command: command}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if _, base, ok := strings.Cut(lines.Text(), "listens on "); ok {
			p.base, p.took = base, time.Since(began)
			return p, nil
		}
	}
	return nil, errors.Join(errors.New("the server does not listen"), command.Wait())
}

// stop stops the server and waits for its end.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	err := p.command.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) && !ended.Exited() {
		return nil // by the signal, as a bare handler does
	}
	return err
}

// startCeiling starts a bare handler that gives an answer of the service again.
func (b *bench) startCeiling(ctx context.Context, answer *http.Response, body []byte) (*process, error) {
	same := &http.Response{
		StatusCode: answer.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: make(http.Header),
		ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(string(body))),
	}
	for name, values := range answer.Header {
		if strings.HasPrefix(name, "Content-") {
			same.Header[name] = values
		}
	}
	var text strings.Builder
	if err := same.Write(&text); err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, b.ceiling)
	command.Stdin = strings.NewReader(text.String())
	command.Stderr = os.Stderr
	return startProcess(command)
}

// memory returns a figure of the server in MB: VmRSS is what it holds now,
// VmHWM the most that it has held.
func (p *process) memory(figure string) (float64, error) {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, figure+":"); ok {
			kilobytes, err := strconv.Atoi(strings.Fields(value)[0])
			return float64(kilobytes) / 1024, err
		}
	}
	return 0, fmt.Errorf("the system does not tell %s", figure)
}

// processorTime returns the time that the server has spent on a processor, its
// system calls included, to a hundredth of a second.
func (p *process) processorTime() (time.Duration, error) {
	text, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0, err
	}
	// What is before the bracket is a name, which may have anything in it.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const user, system = 11, 12
	if len(fields) <= system {
		return 0, errors.New("the system does not tell the processor time")
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

func (p *process) proc(file string) string {
	return filepath.Join("/proc", strconv.Itoa(p.command.Process.Pid), file)
}
