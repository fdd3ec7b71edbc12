package store

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"testing"

	"merchantorders/internal/store/pageindex"
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

// TestSQLiteSmallBuckets runs the list tests with a page index that splits days
// of a few orders.
func TestSQLiteSmallBuckets(t *testing.T) {
	t.Parallel()
	storetest.RunLists(t, func(t *testing.T) storetest.Database {
		return smallBuckets{sqliteFile(filepath.Join(t.TempDir(), "orders.db"))}
	})
}

// smallBuckets is a database whose page indexes split days of a few orders.
type smallBuckets struct{ storetest.Database }

func (d smallBuckets) Open(t *testing.T) storetest.Store {
	t.Helper()
	store := d.Database.Open(t)
	store.(*DB).indexes = pageindex.NewCache(smallSizes, pageindex.DefaultMaxWeight)
	return store
}

// smallSizes make everything happen with few orders: splits from both ends of a
// day, buckets that are split again, larger buckets, and indexes so far
// behind that they are loaded again.
var smallSizes = pageindex.Sizes{BucketOrders: 3, MaxBuckets: 60, MinKeys: 8, MaxKeys: 40, MaxDeltas: 5}

// sqliteFile is the path of a database of a test's own.
type sqliteFile string

func (path sqliteFile) Open(t *testing.T) storetest.Store { return openTest(t, string(path)) }

func (path sqliteFile) SQL(t *testing.T) *sql.DB { return sqlOn(t, string(path)) }

// sqlOn opens a database for statements of a test's own.
func sqlOn(t *testing.T, path string) *sql.DB {
	t.Helper()
	connections, err := sql.Open("sqlite", "file:"+url.PathEscape(path)+"?_txlock=immediate&_pragma=busy_timeout(60000)&_pragma=foreign_keys(1)")
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = connections.Close() })
	return connections
}

// openTest opens a database until the end of the test.
func openTest(t testing.TB, path string) *DB {
	t.Helper()
	db, err := OpenSQLite(t.Context(), path, Options{})
	testenv.NoError(t, err)
	testenv.NoError(t, db.WatchCommits(t.Context()))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}
