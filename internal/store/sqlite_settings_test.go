package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSQLiteSettings looks at every connection that there can be, not at one
// that happens to be set up.
func TestSQLiteSettings(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	for _, test := range []struct {
		name string
		pool *sql.DB
		most int
		want map[string]string
	}{
		{"write", db.write.db, 1, map[string]string{"busy_timeout": "50", "query_only": "0"}},
		{"read", db.read.db, db.read.db.Stats().MaxOpenConnections, map[string]string{"busy_timeout": "10000", "query_only": "1"}},
	} {
		if open := test.pool.Stats().MaxOpenConnections; open != test.most {
			t.Errorf("%s: %d connections, want %d", test.name, open, test.most)
		}
		// FULL is 2: a commit survives a power cut.
		for setting, value := range map[string]string{
			"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "page_size": "8192",
		} {
			test.want[setting] = value
		}
		for i := range test.most {
			connection, err := test.pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = connection.Close() }() // held till the end, so that each is another
			got := make(map[string]string)
			for setting := range test.want {
				got[setting] = pragma(t, connection, setting)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s, connection %d (-want +got):\n%s", test.name, i, diff)
			}
		}
	}
}

func pragma(t *testing.T, connection interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, setting string,
) string {
	t.Helper()
	var value string
	if err := connection.QueryRowContext(t.Context(), "PRAGMA "+setting).Scan(&value); err != nil {
		t.Fatalf("%s: %v", setting, err)
	}
	return value
}

// TestSQLiteVersion holds the library above the versions in which a write-ahead
// log that is reset at the wrong moment can lose what was committed.
func TestSQLiteVersion(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	var version string
	if err := db.read.row(t.Context(), "SELECT sqlite_version()", nil, &version); err != nil {
		t.Fatal(err)
	}
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
	if _, err := db.read.exec(t.Context(), "INSERT INTO merchants (id, name, created_at) VALUES (1, 'x', 0)"); err == nil {
		t.Error("a connection for reading has written")
	}
}
