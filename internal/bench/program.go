package bench

import (
	"bufio"
	"bytes"
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

// build finds the program, or builds it.
func (b *bench) build(ctx context.Context) error {
	if b.Program != "" {
		var err error
		b.program, err = filepath.Abs(b.Program)
		return err
	}
	b.program = filepath.Join(b.dir, "merchant-orders")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", b.program, "merchantorders/cmd/merchant-orders").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	return nil
}

// command returns the program with arguments, on the data folder, without
// settings from the environment.
func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, b.program, append([]string{"--data", filepath.Join(b.dir, "data")}, args...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MERCHANT_ORDERS_") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// run runs a command and returns what it wrote to standard output.
func (b *bench) run(ctx context.Context, args ...string) (string, error) {
	command := b.command(ctx, args...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w:\n%s", args[0], err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

// server is a running server.
type server struct {
	base    string
	took    time.Duration // from its start until it said that it listens
	command *exec.Cmd
	log     *os.File
}

const listens = "Merchant Orders listens on "

// start starts a server with its default settings but no limits, on a free port. Its log goes
// to a file, as it would.
func (b *bench) start(ctx context.Context) (*server, error) {
	log, err := os.OpenFile(filepath.Join(b.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	s := &server{command: b.command(ctx, "serve", "--listen", "127.0.0.1:0", "--rate-limit", "0"), log: log}
	s.command.Stderr = log
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if base, ok := strings.CutPrefix(lines.Text(), listens); ok {
			s.base, s.took = base, time.Since(began)
			return s, nil
		}
	}
	return nil, errors.Join(errors.New("the server does not listen"), s.command.Wait())
}

// stop stops the server and waits for its end.
func (s *server) stop() error {
	defer func() { _ = s.log.Close() }()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return s.command.Wait()
}

// memory returns a figure of the server in MB: VmRSS is what it holds now,
// VmHWM the most that it has held.
func (s *server) memory(figure string) (float64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.command.Process.Pid), "status"))
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

// client talks to a server as a merchant.
type client struct {
	base  string
	token string
	http  *http.Client
}

// client returns a client that keeps as many connections open.
func (s *server) client(m *merchant, connections int) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	return &client{base: s.base, token: m.token, http: &http.Client{Transport: transport}}
}

// close closes the connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// do sends a request, which must succeed, and returns the answer's body and
// the time from the first byte sent to the last one read.
func (c *client) do(ctx context.Context, method, path string, body io.Reader) ([]byte, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	took := time.Since(began)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return text, took, err
}
