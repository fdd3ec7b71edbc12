package robust

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// run runs a command of the program as a process and returns its exit code and
// what it wrote.
func run(t *testing.T, args ...string) apptest.Result {
	t.Helper()
	command := apptest.Command(t, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); command.ProcessState == nil {
		t.Error(err)
		return apptest.Result{Code: -1}
	}
	return apptest.Result{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// TestRevocationIsEffectiveAtOnce revokes tokens by the command line, while the
// server that takes them runs and their connections stay open.
//
// It guards that a token is looked up at each request: with one cached for a
// second, the request after the revocation passes.
func TestRevocationIsEffectiveAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, by := range []string{"id", "text"} {
		c := newClient(t, s.BaseURL, s.Token(t, "--merchant", fmt.Sprint(apptest.MerchantID)))
		for range 3 {
			if got := c.ask(t, http.MethodGet, "/v2/orders", ""); got.status != http.StatusOK {
				t.Fatalf("good token: %d %s", got.status, got.body)
			}
		}
		name := c.token
		if by == "id" {
			listed := strings.Split(strings.TrimSpace(run(t, "--data", s.Data, "token", "list").Stdout), "\n")
			name = strings.Fields(listed[len(listed)-1])[0]
		}
		if result := run(t, "--data", s.Data, "token", "revoke", name); result.Code != 0 {
			t.Fatalf("revoke by %s: %d %s", by, result.Code, result.Stderr)
		}
		for _, path := range []string{"/v2/orders", "/api/orders"} {
			if got := c.ask(t, http.MethodGet, path, ""); got.status != http.StatusUnauthorized {
				t.Errorf("%s with a token revoked by its %s: %d %s", path, by, got.status, got.body)
			}
		}
		if got := s.ask(t, http.MethodGet, "/v2/orders", ""); got.status != http.StatusOK {
			t.Errorf("another token: %d %s", got.status, got.body)
		}
	}
}

// TestWrongSettingsOpenNothing starts a server with many wrong settings on a
// port that is taken.
//
// It guards that all are reported at once, and before anything is made or opened:
// otherwise it is the port that is complained of, or the data folder is there.
func TestWrongSettingsOpenNothing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.NoError(t, err)
	defer func() { _ = taken.Close() }()
	data := filepath.Join(t.TempDir(), "data")
	got := run(t, "serve", "--data", data, "--listen", taken.Addr().String(), "--error-codes", "both", "--base-url", "ftp://x",
		"--storage-url", "nowhere", "--log-level", "loud", "--database", "mysql://x", "--storage", "tape://1")
	var complaints []string
	for line := range strings.Lines(got.Stderr) {
		complaints = append(complaints, strings.Fields(line)[1])
	}
	want := []string{"--database", "--storage", "--base-url", "--storage-url", "--error-codes", "--log-level"}
	if diff := cmp.Diff(want, complaints); got.Code != 2 || diff != "" {
		t.Errorf("exit code %d, want 2; settings complained of (-want +got):\n%s", got.Code, diff)
	}
	if got.Stdout != "" {
		t.Errorf("it says %q", got.Stdout)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the data folder was made")
	}

	// With nothing wrong but the port, that is what it says.
	good := run(t, "serve", "--data", data, "--listen", taken.Addr().String())
	if good.Code != 2 || !strings.Contains(good.Stderr, "is in use by another program") {
		t.Errorf("port taken: exit code %d, %s", good.Code, good.Stderr)
	}
}

// TestSecondServer starts a second server on the data folder of one that is in
// the middle of an upload, and works with both.
//
// It guards that a server clears up only what nobody works on, and that neither
// remembers what the other has changed: with a sweep at every start the upload
// fails, with counts that are only in memory the totals differ.
func TestSecondServer(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.Import(t, registered(1, 20)...)
	content := bytes.Repeat([]byte("through the first "), 30_000)
	held := first.hold(t, sample(1).v1(), "first.pdf", content)
	testenv.Eventually(t, "the upload is under way", func() bool { return len(stagedFiles(t, first.Data)) == 1 })

	second := startOn(t, first.Data)
	if left := stagedFiles(t, first.Data); len(left) != 1 {
		t.Fatalf("files on their way after the start of a second server: %v", left)
	}
	held.release()
	if got, err := held.result(); err != nil || got.status != http.StatusOK {
		t.Fatalf("upload through the first: %d %s %v", got.status, got.body, err)
	}
	shown := second.invoices(t, 1)
	if len(shown) != 1 || !bytes.Equal(second.download(t, entry{URL: strings.Replace(shown[0].URL, first.base, second.base, 1)}), content) {
		t.Errorf("the second server shows the files %v", shown)
	}
	for n := sample(1); n <= 20; n++ {
		one, other := first, second
		if n%2 == 0 {
			one, other = second, first
		}
		a := attempts[int(n)%len(attempts)]
		if got := one.ask(t, a.method, a.path(n), a.body); got.status != http.StatusOK {
			t.Errorf("order %d: %d %s", n, got.status, got.body)
		}
		if got := other.state(t, n); got != a.makes {
			t.Errorf("order %d is %s at the other server, want %s", n, got, a.makes)
		}
		if diff := cmp.Diff(one.totals(t, ""), other.totals(t, "")); diff != "" {
			t.Errorf("orders by state after order %d (-one +other):\n%s", n, diff)
		}
	}
}

// TestSecondServerOfAKilledOne leaves the files of a killed server to one that
// still runs beside it, and to the next one that starts.
//
// It guards that a server that is not alone keeps its hands off what might be
// another's, and that places are free again once nobody is left.
func TestSecondServerOfAKilledOne(t *testing.T) {
	t.Parallel()
	first := start(t)
	first.Import(t, registered(1, 1)...)
	second := startOn(t, first.Data)
	first.hold(t, sample(1).v1(), "first.pdf", make([]byte, 400_000))
	held := second.hold(t, sample(1).v2(), "second.pdf", make([]byte, 400_000))
	testenv.Eventually(t, "both uploads are under way", func() bool { return len(stagedFiles(t, first.Data)) == 2 })
	first.Kill(t)
	third := startOn(t, first.Data)
	held.release()
	if got, err := held.result(); err != nil || got.status != http.StatusOK {
		t.Errorf("upload through the second: %d %s %v", got.status, got.body, err)
	}
	second.Kill(t)
	third.Kill(t)
	last := startOn(t, first.Data)
	last.checkFolders(t)
	if shown := last.invoices(t, 1); len(shown) != 1 {
		t.Errorf("files %v, want the one that was acknowledged", shown)
	}
}
