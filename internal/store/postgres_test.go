package store

import (
	"database/sql"
	"testing"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/storetest"
	"merchantorders/internal/testenv"
)

// TestPostgres has pages that are far down after a few orders, so that every statement of
// lists runs.
// Proves decision 8 (one of several succeeds).
func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Database { return farPages{postgresURL(pgtest.Database(t))} })
}

// postgresURL is the address of a database of a test's own.
type postgresURL string

func (url postgresURL) Open(t *testing.T) storetest.Store {
	t.Helper()
	return openPostgresTest(t, string(url))
}

func (url postgresURL) SQL(t *testing.T) *sql.DB {
	t.Helper()
	db := testenv.Of(sql.Open("pgx", string(url))).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openPostgresTest(t testing.TB, url string) *DB {
	t.Helper()
	db := testenv.Of(OpenPostgres(t.Context(), url, Options{})).Must(t)
	t.Cleanup(func() {
		testenv.NoError(t, db.Close())
	})
	return db
}
