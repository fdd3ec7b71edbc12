// Package sqldbtest tests the contract of package sqldb.
package sqldbtest

import (
	"context"
	"errors"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// Run runs the tests. open opens a new handle of one database; its first call in
// a test makes the database.
func Run(t *testing.T, newDatabase func(t *testing.T) (open func() sqldb.DB)) {
	for name, test := range map[string]func(t *testing.T, open func() sqldb.DB){
		"arguments": testArguments, "scan": testScan, "rows": testRows, "transactions": testTransactions, "later": testLater,
		"panic": testPanic, "snapshot": testSnapshot, "commit version": testCommitVersion,
		"copy lock": testCopyLock, "context": testContext, "pool": testPool, "close": testClose,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newDatabase(t))
		})
	}
}

// setUp opens a database with an empty table.
func setUp(t *testing.T, open func() sqldb.DB) sqldb.DB {
	t.Helper()
	db := open()
	mustExec(t, db, `CREATE TABLE sample (id BIGINT NOT NULL PRIMARY KEY, number BIGINT, small SMALLINT, text TEXT, bytes BYTEA)`)
	return db
}

// exec runs a statement in a transaction.
func exec(ctx context.Context, db sqldb.DB, text string, args ...any) error {
	return db.InTx(ctx, func(q sqldb.Querier) error {
		_, err := q.Exec(ctx, text, args...)
		return err
	})
}

func mustExec(t *testing.T, db sqldb.DB, text string, args ...any) {
	t.Helper()
	if err := exec(t.Context(), db, text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func count(t *testing.T, q sqldb.Querier) int64 {
	t.Helper()
	var n int64
	testenv.NoError(t, q.QueryRow(t.Context(), `SELECT COUNT(*) FROM sample`, nil, &n))
	return n
}

var errTest = errors.New("the caller's error")

func testTransactions(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	err := db.InTx(t.Context(), func(q sqldb.Querier) error {
		if _, err := q.Exec(t.Context(), `INSERT INTO sample (id) VALUES (1)`); err != nil {
			return err
		}
		testenv.Equal(t, "rows for the transaction", 1, count(t, q))
		testenv.Equal(t, "rows for others before the commit", 0, count(t, db))
		return errTest
	})
	if !errors.Is(err, errTest) || count(t, db) != 0 {
		t.Errorf("error %v, %d rows, want %v and none", err, count(t, db), errTest)
	}
	mustExec(t, db, `INSERT INTO sample (id) VALUES (1)`)
	testenv.Equal(t, "rows for another handle after the commit", 1, count(t, open()))
	err = exec(t.Context(), db, `INSERT INTO sample (id) VALUES (1)`)
	if err == nil || db.Unavailable(err) || db.Retryable(err) {
		t.Errorf("a duplicate key: error %v, unavailable %v, retryable %v", err, db.Unavailable(err), db.Retryable(err))
	}
}

// testLater has statements wait: the next one sees what they did, COMMIT sends what still
// waits, and an error of one of them undoes all.
func testLater(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	insert := func(q sqldb.Querier, id int) error {
		return q.Later(t.Context(), nil, `INSERT INTO sample (id) VALUES ($1)`, id)
	}
	update := func(q sqldb.Querier, id int) error {
		return q.Later(t.Context(), errTest, `UPDATE sample SET number = 1 WHERE id = $1`, id)
	}
	mustExec(t, db, `INSERT INTO sample (id) VALUES (1)`)
	testenv.NoError(t, db.InTx(t.Context(), func(sqldb.Querier) error { return nil }))
	testenv.NoError(t, db.InTx(t.Context(), func(q sqldb.Querier) error {
		err := errors.Join(insert(q, 2), update(q, 2))
		testenv.Equal(t, "the transaction sees rows", 2, count(t, q))
		return errors.Join(err, insert(q, 3), update(q, 3), insert(q.WithoutTimeout(), 4))
	}))
	testenv.Equal(t, "rows after the commit", 4, count(t, open()))
	var inserted []int64
	testenv.NoError(t, db.InTx(t.Context(), func(q sqldb.Querier) error {
		values := []any{1, 10, 2, 11, 7, 12, 8, 13, 9, 14} // two exist
		into := sqldb.NewBulkInsert("sample", "id, number", " ON CONFLICT (id) DO NOTHING RETURNING id")
		err := errors.Join(insert(q, 7), q.QueryMany(t.Context(), into.Statements(db.Dialect(), values), func(_ int, rows sqldb.Rows) error {
			inserted = append(inserted, 0)
			return rows.Scan(&inserted[len(inserted)-1])
		}))
		testenv.Equal(t, "the transaction sees rows", 7, count(t, q))
		return errors.Join(err, undo(t, q))
	}))
	testenv.Equal(t, "inserted rows", []int64{8, 9}, inserted)
	for name, change := range map[string]func(q sqldb.Querier) error{
		"no row, and a statement": func(q sqldb.Querier) error {
			return errors.Join(insert(q, 5), update(q, 9), q.QueryRow(t.Context(), `SELECT 1`, nil, new(int64)))
		},
		"no row, and the commit":     func(q sqldb.Querier) error { return errors.Join(insert(q, 5), update(q, 9)) },
		"duplicate, and a statement": func(q sqldb.Querier) error { return errors.Join(insert(q, 5), insert(q, 1), exec1(t, q)) },
		"duplicate, and the commit":  func(q sqldb.Querier) error { return errors.Join(insert(q, 5), insert(q, 1)) },
		"an argument of another type": func(q sqldb.Querier) error {
			return errors.Join(insert(q, 5), q.Later(t.Context(), nil, `SELECT $1`, 1.5))
		},
		"the caller's error before it": func(q sqldb.Querier) error { return errors.Join(insert(q, 5), errTest) },
	} {
		if err := db.InTx(t.Context(), change); err == nil || db.Unavailable(err) {
			t.Errorf("%s: error %v", name, err)
		} else if n := count(t, db); n != 4 {
			t.Errorf("%s: %d rows, want 4", name, n)
		}
	}
}

// undo deletes the rows with ids from 5.
func undo(t *testing.T, q sqldb.Querier) error {
	return q.Later(t.Context(), errTest, `DELETE FROM sample WHERE id >= 5`)
}

func exec1(t *testing.T, q sqldb.Querier) error {
	_, err := q.Exec(t.Context(), `UPDATE sample SET number = 2`)
	return err
}

func testPanic(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	func() {
		defer func() {
			testenv.Equal(t, "recovered", "of the caller", recover())
		}()
		_ = db.InTx(t.Context(), func(q sqldb.Querier) error {
			_, _ = q.Exec(t.Context(), `INSERT INTO sample (id) VALUES (1)`)
			panic("of the caller")
		})
	}()
	testenv.Equal(t, "rows after a panic", 0, count(t, db))
	mustExec(t, db, `INSERT INTO sample (id) VALUES (1)`)
}

func testSnapshot(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	err := db.Snapshot(t.Context(), func(q sqldb.Querier) error {
		before := count(t, q)
		mustExec(t, db, `INSERT INTO sample (id) VALUES (1)`)
		testenv.Equal(t, "rows of the snapshot", before, count(t, q.WithoutTimeout()))
		if _, err := q.Exec(t.Context(), `INSERT INTO sample (id) VALUES (2)`); err == nil {
			t.Error("a snapshot has written")
		}
		return errTest
	})
	if !errors.Is(err, errTest) || count(t, db) != 1 {
		t.Errorf("error %v, %d rows", err, count(t, db))
	}
}

func testCommitVersion(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	if _, ok := db.CommitVersion(); ok {
		t.Error("there is a commit version before WatchCommits")
	}
	testenv.NoError(t, db.WatchCommits(t.Context()))
	first, ok := db.CommitVersion()
	if !ok {
		t.Skip("this database cannot tell without a query")
	}
	if again, ok := db.CommitVersion(); again != first || !ok {
		t.Errorf("version %v, %v after %v without a commit", again, ok, first)
	}
	for i, by := range []sqldb.DB{db, open(), db} {
		mustExec(t, by, `INSERT INTO sample (id) VALUES ($1)`, i)
		next, ok := db.CommitVersion()
		if next == first || !ok {
			t.Errorf("version %v, %v after commit %d, as before", next, ok, i)
		}
		first = next
	}
}

func testPool(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	mustExec(t, db, `INSERT INTO sample (id) VALUES (1)`)
	inUse := 0
	var hold func(sqldb.Rows) error
	hold = func(sqldb.Rows) error { // until all connections are in use
		inUse++
		if use := db.Pool(); use.InUse != inUse || use.InUse+use.Idle > use.Max {
			t.Errorf("%d connections are in use: %+v", inUse, use)
		}
		if inUse < db.Pool().Max {
			return db.Query(t.Context(), `SELECT id FROM sample`, nil, hold)
		}
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.QueryRow(canceled, `SELECT id FROM sample`, nil, new(int64)); err == nil {
			t.Error("there are more connections than the pool has")
		}
		return nil
	}
	testenv.NoError(t, db.Query(t.Context(), `SELECT id FROM sample`, nil, hold))
	if use := db.Pool(); use.Waits == 0 {
		t.Errorf("no statement has waited: %+v", use)
	}
	testenv.Equal(t, "rows", 1, count(t, db))
}

func testCopyLock(t *testing.T, open func() sqldb.DB) {
	a, b := open(), open()
	lock := func(db sqldb.DB, shared, want bool) (unlock func()) {
		t.Helper()
		held, err := db.LockForCopy(t.Context(), shared)
		if want != (err == nil) || !want && !errors.Is(err, sqldb.ErrLocked) {
			t.Fatalf("shared %v: error %v, want it locked: %v", shared, err, want)
		}
		return func() {
			testenv.Equal(t, "unlock", nil, held.Close())
		}
	}
	first, second := lock(a, true, true), lock(b, true, true)
	lock(b, false, false)
	first()
	second()
	alone := lock(b, false, true)
	lock(a, true, false)
	alone()
	lock(a, false, true)()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.LockForCopy(canceled, false); err == nil {
		t.Error("locked with a canceled context")
	}
}

func testContext(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var n int64
	for name, err := range map[string]error{
		"QueryRow": db.QueryRow(ctx, `SELECT COUNT(*) FROM sample`, nil, &n),
		"Query":    db.Query(ctx, `SELECT id FROM sample`, nil, func(sqldb.Rows) error { return nil }),
		"InTx":     exec(ctx, db, `INSERT INTO sample (id) VALUES (1)`),
		"Snapshot": db.Snapshot(ctx, func(sqldb.Querier) error { return nil }),
	} {
		testenv.Equal(t, name, context.Canceled, err)
	}
	testenv.Equal(t, "rows", 0, count(t, db))
}

func testClose(t *testing.T, open func() sqldb.DB) {
	db := setUp(t, open)
	testenv.NoError(t, db.WatchCommits(t.Context()))
	for range 2 {
		testenv.NoError(t, db.Close())
	}
	var n int64
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM sample`, nil, &n); err == nil {
		t.Error("a closed database was read")
	}
	if err := exec(t.Context(), db, `INSERT INTO sample (id) VALUES (1)`); err == nil {
		t.Error("a closed database has written")
	}
	if _, ok := db.CommitVersion(); ok {
		t.Error("a closed database has a commit version")
	}
}
