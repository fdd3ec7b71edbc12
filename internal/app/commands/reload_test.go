package commands_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

// notifySocket is the socket of systemd.
type notifySocket struct {
	*net.UnixConn
	path string
}

func listenNotify(t *testing.T) notifySocket {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	return notifySocket{socket, path}
}

// next returns the next message that is not one to skip.
func (n notifySocket) next(t *testing.T, skip string) string {
	t.Helper()
	testenv.NoError(t, n.SetReadDeadline(time.Now().Add(testenv.WaitTimeout)))
	for buffer := make([]byte, 4096); ; {
		size, err := n.Read(buffer)
		testenv.NoError(t, err)
		if message := string(buffer[:size]); message != skip {
			return message
		}
	}
}

const alive = "WATCHDOG=1"

// unit is a server in a process of its own, as a service with Type=notify.
type unit struct {
	*apptest.Process
	socket notifySocket
	log    *os.File // has a line as soon as it is written
}

func startUnit(t *testing.T, environ []string, flags ...string) *unit {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	testenv.NoError(t, err)
	u := &unit{socket: listenNotify(t), log: log}
	cmd := apptest.Command(t, append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen=127.0.0.1:0", "--admin-listen=none"}, flags...)...)
	cmd.Env = append(cmd.Env, append(environ, "NOTIFY_SOCKET="+u.socket.path, "WATCHDOG_USEC=300000")...)
	cmd.Stderr = log
	u.Process = apptest.Launch(t, cmd)
	return u
}

func (u *unit) logged(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(u.log.Name())
	testenv.NoError(t, err)
	return string(text)
}

// reload sends SIGHUP, and returns what the log then has.
func (u *unit) reload(t *testing.T) string {
	t.Helper()
	before := len(u.logged(t))
	testenv.NoError(t, syscall.Kill(u.PID(), syscall.SIGHUP))
	if message := u.socket.next(t, alive); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9]\d*\n$`).MatchString(message) {
		t.Errorf("systemd is told %q", message)
	}
	testenv.Equal(t, "message to systemd after the reload", "READY=1", u.socket.next(t, alive))
	return u.logged(t)[before:]
}

// TestNotify follows what a server tells systemd from its start to its end.
func TestNotify(t *testing.T) {
	t.Parallel()
	u := startUnit(t, nil)
	testenv.Equal(t, "first message to systemd", "READY=1", u.socket.next(t, ""))
	testenv.Send(t, "", "GET", u.Await(t)+"/readyz", "").WantStatus(t, 200)
	for range 3 {
		testenv.Equal(t, "second message to systemd", alive, u.socket.next(t, ""))
	}
	testenv.Equal(t, "exit code", 0, u.Stop(t, syscall.SIGTERM))
	testenv.Equal(t, "last message to systemd", "STOPPING=1", u.socket.next(t, alive))
}

// TestNotifyRefused starts a server with a wrong setting: it is never ready.
func TestNotifyRefused(t *testing.T) {
	t.Parallel()
	u := startUnit(t, nil, "--rate-limit=many")
	if code := u.Stop(t, 0); code != 2 { // by itself
		t.Errorf("exit code %d, want 2", code)
	}
	testenv.NoError(t, u.socket.SetReadDeadline(time.Now()))
	if size, err := u.socket.Read(make([]byte, 4096)); err == nil {
		t.Errorf("systemd gets %d bytes", size)
	}
}

// TestWatchdog checks that a server which no longer answers gives no sign of life. It is not
// parallel: the variables are those of the process.
func TestWatchdog(t *testing.T) {
	socket := listenNotify(t)
	t.Setenv("NOTIFY_SOCKET", socket.path)
	t.Setenv("WATCHDOG_USEC", "60000")
	var hangs atomic.Bool
	wrap := commands.WrapHandler(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hangs.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	log, writer := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- commands.Run(ctx, []string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen=127.0.0.1:0", "--admin-listen=none"},
			strings.NewReader(""), io.Discard, writer, nil, wrap)
		_ = writer.Close()
	}()
	for _, want := range []string{"READY=1", alive, alive} {
		testenv.Equal(t, "message to systemd", want, socket.next(t, ""))
	}
	hangs.Store(true)
	lines := bufio.NewScanner(log)
	failed := func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "the server does not answer itself") {
				return
			}
		}
		t.Fatalf("the log does not say that the server does not answer: %v", lines.Err())
	}
	failed()
	for message := ""; socket.SetReadDeadline(time.Now().Add(time.Millisecond)) == nil; { // what came before
		buffer := make([]byte, 4096)
		size, err := socket.Read(buffer)
		if err != nil {
			break
		}
		if message = string(buffer[:size]); message != alive {
			t.Errorf("systemd is told %q", message)
		}
	}
	failed()
	testenv.NoError(t, socket.SetReadDeadline(time.Now().Add(time.Millisecond)))
	if size, err := socket.Read(make([]byte, 4096)); err == nil {
		t.Errorf("systemd gets %d bytes", size)
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, log) }()
	testenv.Equal(t, "exit code", 0, <-ended)
}

// TestReload changes the settings of a server, and sends SIGHUP: what can be reloaded is in
// effect, what needs a restart is named, and what is wrong changes nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first, second := certtest.New(t, nextCentury), certtest.New(t, nextCentury)
	write := func(name, format string, args ...any) string {
		path := filepath.Join(folder, name)
		testenv.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(format, args...)), 0o600))
		return path
	}
	file := write("config.yaml", "tls-cert: %s\ntls-key: %s\n", first.Cert, first.Key)
	environment := write("environment", "MERCHANT_ORDERS_RATE_LIMIT=50\n")
	u := startUnit(t, []string{"MERCHANT_ORDERS_RATE_LIMIT=50", "MERCHANT_ORDERS_ENVIRONMENT_FILE=" + environment}, "--config", file)
	u.socket.next(t, "")
	probe := func(pair certtest.Pair) {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pair.Pool}}}
		response, err := client.Get(u.Await(t) + "/healthz")
		testenv.NoError(t, err)
		_ = response.Body.Close()
	}
	wants := func(log string, parts ...string) {
		t.Helper()
		var told []string
		for line := range strings.Lines(log) {
			if strings.Contains(line, "reloaded") {
				told = append(told, line)
			}
		}
		for _, part := range parts {
			if len(told) != 1 || !strings.Contains(told[0], part) {
				t.Errorf("not one line with %s:\n%s", part, log)
			}
		}
	}
	probe(first)
	wants(u.reload(t), `"msg":"settings reloaded","need_restart":""`)

	write("config.yaml", "tls-cert: %s\ntls-key: %s\n", second.Cert, second.Key)
	write("environment", "# of the package\nMERCHANT_ORDERS_RATE_LIMIT=60\nMERCHANT_ORDERS_LOG_LEVEL=\"debug\"\n")
	wants(u.reload(t), `"msg":"settings reloaded","need_restart":"rate-limit"`)
	probe(second)
	testenv.Eventually(t, "the log has probes", func() bool { return strings.Contains(u.logged(t), `"level":"DEBUG","msg":"request"`) })

	// One fault is enough, wherever it is.
	for name, text := range map[string]string{
		"config.yaml": "tls-cert: " + first.Cert + "\ntls-key: " + first.Key + "\nrate-limitt: 5\n", "environment": "MERCHANT_ORDERS_LOG_LEVEL\n",
	} {
		good, err := os.ReadFile(filepath.Join(folder, name))
		testenv.NoError(t, err)
		write(name, "%s", text)
		wants(u.reload(t), `"level":"ERROR","msg":"the settings are not reloaded: something is wrong, and nothing has changed","error":"`)
		probe(second)
		write(name, "%s", good)
	}
	write("environment", "MERCHANT_ORDERS_LOG_LEVEL=loud\nMERCHANT_ORDERS_RATE_LIMIT=many\n")
	wants(u.reload(t), "--log-level (MERCHANT_ORDERS_LOG_LEVEL): must be", "; --rate-limit (MERCHANT_ORDERS_RATE_LIMIT): must be")
	write("environment", "MERCHANT_ORDERS_LOG_LEVEL=error\n")
	testenv.Lacks(t, "log at the level error", u.reload(t), "reloaded")
	testenv.Equal(t, "exit code", 0, u.Stop(t, syscall.SIGTERM))
}

// TestHangupEndsCommands sends SIGHUP to a command that is no server.
func TestHangupEndsCommands(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"nohup"}} {
		f := folder(t)
		f.Merchant(t, 355)
		p := apptest.Command(t, "import", "-", "--data", f.Data)
		if args != nil {
			p.Path, p.Args = testenv.Program(t, "nohup", "coreutils"), append(args, p.Args...)
		}
		stdin, err := p.StdinPipe()
		testenv.NoError(t, err)
		testenv.NoError(t, p.Start())
		testenv.Eventually(t, "the command reads", func() bool {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Pid))
			// Bit 0 of the caught signals is SIGHUP.
			return err == nil && regexp.MustCompile(`(?m)^SigCgt:\s*\w*[13579bdf]$`).Match(status)
		})
		testenv.NoError(t, p.Process.Signal(syscall.SIGHUP))
		if args != nil {
			testenv.NoError(t, stdin.Close())
		}
		err = p.Wait()
		if got := p.ProcessState.ExitCode(); (got == 0) != (args != nil) {
			t.Errorf("%q: %v", args, err)
		}
		_ = stdin.Close()
	}
}

// TestServeWaitsInVain checks the exit code of a server whose database or bucket stays out of
// reach: systemd starts it again after that one, and not after 2.
func TestServeWaitsInVain(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refusing.Close()
	wrong := apptest.Folder{Data: filepath.Join(t.TempDir(), "data"), Settings: []string{"--storage=s3://bucket?region=eu-central-1&endpoint=" + refusing.URL}}
	wrong.Run(t, "", "serve", "--listen=127.0.0.1:0", "--admin-listen=none", "--wait=1h").WantText(t, 2, "the credentials do not allow this")
	for name, settings := range map[string][]string{
		"database": {"--database=postgres://x@127.0.0.1:1/x?sslmode=disable", "--storage=file://" + t.TempDir()},
		"bucket":   {"--storage=s3://bucket?region=eu-central-1&endpoint=http://127.0.0.1:1"},
	} {
		for wait, want := range map[string]int{"0s": 2, "1s": 6} {
			f := apptest.Folder{Data: filepath.Join(t.TempDir(), "data"), Settings: settings}
			got := f.Run(t, "", "serve", "--listen=127.0.0.1:0", "--admin-listen=none", "--wait="+wait)
			if got.Code != want || strings.Contains(got.Stderr, "waiting for the "+name) != (want == 6) {
				t.Errorf("%s, --wait %s: %+v", name, wait, got)
			}
		}
	}
}
