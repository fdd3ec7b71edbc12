package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/testenv"
)

// openTest opens a database until the end of the test.
func openTest(t testing.TB, path string) *DB {
	t.Helper()
	db := testenv.Of(Open(t.Context(), path, migrations.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// TestSQLiteSettings checks the settings of every connection.
func TestSQLiteSettings(t *testing.T) {
	t.Parallel()
	opened := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	connections := []*conn{opened.committer.conn}
	for range cap(opened.free) {
		reader := testenv.Of(opened.take(t.Context())).Must(t)
		defer opened.put(reader)
		connections = append(connections, reader)
	}
	for i, connection := range connections {
		// FULL is 2: a commit survives a power cut.
		want := map[string]string{
			"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "page_size": "4096",
			"busy_timeout": "10000", "query_only": "1", "cache_size": "-2000",
		}
		if i == 0 {
			want["busy_timeout"], want["query_only"], want["cache_size"] = "0", "0", "-8000"
		}
		got := make(map[string]string)
		for setting := range want {
			var value string
			if err := connection.QueryRow(t.Context(), "PRAGMA "+setting, nil, &value); err != nil {
				t.Fatalf("%s: %v", setting, err)
			}
			got[setting] = value
		}
		testenv.Equal(t, fmt.Sprintf("connection %d", i), want, got)
	}
}

// TestSQLiteVersion holds the library above the versions in which a write-ahead
// log that is reset at the wrong time can lose commits.
func TestSQLiteVersion(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	var version string
	testenv.NoError(t, db.QueryRow(t.Context(), "SELECT sqlite_version()", nil, &version))
	var parts [3]int
	if n, err := fmt.Sscanf(strings.ReplaceAll(version, ".", " "), "%d %d %d", &parts[0], &parts[1], &parts[2]); n != 3 {
		t.Fatalf("version %q: %v", version, err)
	}
	if least := [3]int{3, 51, 3}; parts[0] < least[0] || parts[0] == least[0] &&
		(parts[1] < least[1] || parts[1] == least[1] && parts[2] < least[2]) {
		t.Errorf("SQLite is %s, want 3.51.3 or newer", version)
	}
}

func TestSQLiteReadersCannotWrite(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	if _, err := db.Exec(t.Context(), "INSERT INTO merchants (id, name, created_at) VALUES (1, 'x', 0)"); err == nil {
		t.Error("a connection for reading has written")
	}
}
