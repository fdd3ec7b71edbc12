package store

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"merchantorders/internal/order"
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

// TestDocumentedHistory runs the statement by which an operator tells the clients of the
// feeds that a copy of the database was put back.
func TestDocumentedHistory(t *testing.T) {
	t.Parallel()
	db := openPostgresTest(t, pgtest.Database(t))
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	page := string(testenv.Of(os.ReadFile("../../docs/postgresql.md")).Must(t))
	_, statement, _ := strings.Cut(page, "run this statement before instances start:")
	statement, _, _ = strings.Cut(statement, ";")
	histories := func() (of [2]string) {
		of[0] = testenv.Of(db.Events(t.Context(), 1, 0, 1)).Must(t).History
		if !pgtest.Distributed(t) {
			of[1] = testenv.Of(db.MarketEvents(t.Context(), order.MarketCursor{}, 1)).Must(t).History
		}
		return of
	}
	before := histories()
	testenv.Of(db.sql.Exec(t.Context(), statement)).Must(t)
	if after := histories(); after[0] == before[0] || after[1] == before[1] && !pgtest.Distributed(t) {
		t.Errorf("histories %v, before %v", after, before)
	}
}
