package instances

import (
	"net/http"
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
		starting := make([]*apptest.Process, instances)
		for i := range starting {
			starting[i] = beginStart(t, "--database", url, "--storage", "file://"+t.TempDir()+"/files")
		}
		i := onPostgres(t, url)
		bases := make([]string, instances)
		for n, s := range starting {
			bases[n] = s.Await(t)
		}
		token := i.filled(t, 1)
		for _, base := range bases {
			c := apptest.NewClient(t, base, token)
			for _, path := range []string{"/readyz", sample(1).V1(), sample(1).V2(), "/v2/orders"} {
				c.Ask(t, http.MethodGet, path, "").WantStatus(t, http.StatusOK)
			}
		}
		db := i.tables(t)
		testenv.Equal(t, "steps of the schema taken twice", 0, number(t, db, `SELECT COUNT(*) - COUNT(DISTINCT version_id) FROM goose_db_version`))
	}
}

// TestStartWhileTableIsLocked starts an instance while the entries of invoice files cannot be
// read, as where a node of a cluster fails: it serves what needs none of them.
func TestStartWhileTableIsLocked(t *testing.T) {
	t.Parallel()
	i := onPostgres(t, pgtest.Shared(t).Database(t))
	token := i.filled(t, 1)
	tx := testenv.Of(i.tables(t).BeginTx(t.Context(), nil)).Must(t)
	defer func() { testenv.NoError(t, tx.Rollback()) }()
	testenv.Of(tx.ExecContext(t.Context(), `LOCK TABLE invoices IN ACCESS EXCLUSIVE MODE`)).Must(t)
	s := i.process(t)
	apptest.NewClient(t, s.BaseURL, token).Ask(t, http.MethodGet, "/v2/events", "").WantStatus(t, http.StatusServiceUnavailable)
	apptest.NewClient(t, s.BaseURL, token).Ask(t, http.MethodGet, "/v2/orders", "").WantStatus(t, http.StatusOK)
}

// beginStart starts a server and does not wait for it.
func beginStart(t *testing.T, flags ...string) *apptest.Process {
	t.Helper()
	args := append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0"}, flags...)
	s := apptest.Launch(t, apptest.Command(t, args...))
	t.Cleanup(func() {
		if s.Kill(t); strings.Contains(s.Log(), `"level":"ERROR"`) {
			t.Errorf("the log of an instance:\n%s", s.Log())
		}
	})
	return s
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
	testenv.Eventually(t, "the log says for what the instance waits", func() bool { return strings.Contains(s.Log(), "waiting for the database") })
	testenv.NoError(t, server.Run())
	apptest.NewClient(t, s.Await(t), "").Ask(t, http.MethodGet, "/readyz", "").WantStatus(t, http.StatusOK)
	refused(t, "database", "does not exist", nil, "--database", server.URL("missing"), "--wait", "1h")
}
