package store

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"merchantorders/internal/store/storetest"
)

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Database {
		return sqliteFile(filepath.Join(t.TempDir(), "orders.db"))
	})
}

// TestSQLiteSmallBlocks lists from counts that are cut at every turn.
func TestSQLiteSmallBlocks(t *testing.T) {
	t.Parallel()
	storetest.RunLists(t, func(t *testing.T) storetest.Database {
		return smallBlocks{sqliteFile(filepath.Join(t.TempDir(), "orders.db"))}
	})
}

// smallBlocks is a database whose handles cut days of a dozen orders.
type smallBlocks struct{ storetest.Database }

func (d smallBlocks) Open(t *testing.T) storetest.Store {
	t.Helper()
	store := d.Database.Open(t)
	store.(*DB).counts.sizes = smallSizes
	return store
}

// smallSizes make all happen with few orders: blocks at both ends of a rest,
// blocks that have grown, larger blocks where there are too many, counting anew.
var smallSizes = sizes{block: 3, blocks: 60, fewest: 8, most: 40, events: 5}

// sqliteFile is the path of a database of a test's own.
type sqliteFile string

func (path sqliteFile) Open(t *testing.T) storetest.Store { return openTest(t, string(path)) }

func (path sqliteFile) SQL(t *testing.T) *sql.DB {
	t.Helper()
	return sqlOn(t, openTest(t, string(path))) // with its tables
}

// sqlOn returns the same database for statements of a test's own.
func sqlOn(t *testing.T, db *DB) *sql.DB {
	t.Helper()
	var path string
	if err := db.sql.QueryRow(t.Context(), `SELECT file FROM pragma_database_list WHERE name = 'main'`, nil, &path); err != nil {
		t.Fatal(err)
	}
	connections, err := sql.Open("sqlite", "file:"+url.PathEscape(path)+"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connections.Close() })
	return connections
}

// openTest opens a database until the end of the test.
func openTest(t testing.TB, path string) *DB {
	t.Helper()
	db, err := OpenSQLite(t.Context(), path, Options{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}
