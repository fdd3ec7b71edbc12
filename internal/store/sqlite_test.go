package store

import (
	"database/sql"
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
	connections, err := sql.Open("sqlite", sqliteDSN(db.conns.(*file).path, "immediate", sqliteSettings(busyTimeout)...))
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
