package postgres

import (
	"testing"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) { pgtest.Main(m, nil) }

// openTest opens a database until the end of the test.
func openTest(t *testing.T, url string) *DB {
	t.Helper()
	db := testenv.Of(Open(t.Context(), url, nil, migrations.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}
