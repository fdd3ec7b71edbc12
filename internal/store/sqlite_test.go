package store

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"merchantorders/internal/store/storetest"
	"merchantorders/internal/testenv"
)

// Proves decision 2 (reasons, corrections; their keys; --deadline-warning;
// --cancel-expired), decision 3 (next links), decision 5 (webhooks: pauses, end), decision
// 7 (reference, orderId), decision 8 (one of several succeeds; errors, order of checks).
func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Database {
		return sqliteFile(filepath.Join(t.TempDir(), "orders.db"))
	})
}

// TestSQLiteFarPages runs the list tests with pages that are far down after a few orders.
// Proves decision 3 (totals).
func TestSQLiteFarPages(t *testing.T) {
	t.Parallel()
	storetest.RunLists(t, func(t *testing.T) storetest.Database {
		return farPages{sqliteFile(filepath.Join(t.TempDir(), "orders.db"))}
	})
}

// farPages is a database whose pages are far down after a few orders.
type farPages struct{ storetest.Database }

func (d farPages) Open(t *testing.T) storetest.Store {
	t.Helper()
	store := d.Database.Open(t)
	store.(*DB).maxSkipped = 5
	return store
}

// sqliteFile is the path of a database of a test's own.
type sqliteFile string

func (path sqliteFile) Open(t *testing.T) storetest.Store { return openTest(t, string(path)) }

func (path sqliteFile) SQL(t *testing.T) *sql.DB { return sqlOn(t, string(path)) }

// sqlOn opens a database for statements of a test's own.
func sqlOn(t *testing.T, path string) *sql.DB {
	t.Helper()
	connections := testenv.Of(sql.Open("sqlite", "file:"+url.PathEscape(path)+"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=foreign_keys(1)")).Must(t)
	t.Cleanup(func() { _ = connections.Close() })
	return connections
}

// openTest opens a database until the end of the test.
func openTest(t testing.TB, path string) *DB {
	t.Helper()
	db := testenv.Of(OpenSQLite(t.Context(), path, Options{})).Must(t)
	testenv.NoError(t, db.WatchCommits(t.Context()))
	t.Cleanup(func() {
		testenv.NoError(t, db.Close())
	})
	return db
}
