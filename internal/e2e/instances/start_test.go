package instances

import (
	"bufio"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestStartTogether starts four instances at the same time on an empty
// database: one makes the tables while the others wait, and all serve.
//
// It guards the lock around everything that looks at the schema and changes it.
func TestStartTogether(t *testing.T) {
	t.Parallel()
	const instances, rounds = 4, 3
	for range rounds {
		url := pgtest.Shared(t).Database(t)
		starting := make([]*startingInstance, instances)
		for i := range starting {
			starting[i] = beginStart(t, "--database", url, "--storage", "file://"+t.TempDir()+"/files")
		}
		i := onPostgres(t, url)
		bases := make([]string, instances)
		for n, s := range starting {
			bases[n] = s.base(t)
		}
		token := i.filled(t, 1)
		for n, base := range bases {
			c := apptest.NewClient(t, base, token)
			for _, path := range []string{"/readyz", sample(1).V1(), sample(1).V2(), "/v2/orders"} {
				if got := c.Ask(t, http.MethodGet, path, ""); got.Status != http.StatusOK {
					t.Errorf("instance %d: GET %s: %d %s", n, path, got.Status, got.Body)
				}
			}
		}
		db := i.tables(t)
		if twice := number(t, db, `SELECT COUNT(*) - COUNT(DISTINCT version_id) FROM goose_db_version`); twice != 0 {
			t.Errorf("%d steps of the schema were taken twice", twice)
		}
	}
}

// startingInstance is a server that may not have come to listen yet.
type startingInstance struct {
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr testenv.Log
}

// beginStart starts a server and does not wait for it.
func beginStart(t *testing.T, flags ...string) *startingInstance {
	t.Helper()
	args := append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0"}, flags...)
	s := &startingInstance{cmd: apptest.Command(t, args...)}
	stdout, err := s.cmd.StdoutPipe()
	testenv.NoError(t, err)
	s.stdout, s.cmd.Stderr = bufio.NewReader(stdout), &s.stderr
	testenv.NoError(t, s.cmd.Start())
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		if strings.Contains(s.stderr.String(), `"level":"ERROR"`) {
			t.Errorf("the log of an instance:\n%s", s.stderr.String())
		}
	})
	return s
}

// base waits until the server listens and returns its address.
func (s *startingInstance) base(t *testing.T) string {
	t.Helper()
	line, err := s.stdout.ReadString('\n')
	if strings.HasPrefix(line, "The admin listener is ") {
		line, err = s.stdout.ReadString('\n')
	}
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "Merchant Orders listens on ")
	if err != nil || !ok {
		_ = s.cmd.Wait()
		t.Fatalf("an instance did not start: %q, %v\n%s", line, err, s.stderr.String())
	}
	return address
}

// TestWaitForDatabase starts an instance before its database: it says for what it waits, and
// serves once the server is there. A wrong setting is told at once.
func TestWaitForDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	i := onPostgres(t, server.Database(t))
	i.filled(t, 1)
	server.Stop()
	s := beginStart(t, append(i.settings, "--wait", "1h")...)
	testenv.Eventually(t, "the log says for what the instance waits", func() bool { return strings.Contains(s.stderr.String(), "waiting for the database") })
	testenv.NoError(t, server.Run())
	if got := apptest.NewClient(t, s.base(t), "").Ask(t, http.MethodGet, "/readyz", ""); got.Status != http.StatusOK {
		t.Errorf("/readyz: %d %s", got.Status, got.Body)
	}
	refused(t, "database", "does not exist", nil, "--database", server.URL("missing"), "--wait", "1h")
}
