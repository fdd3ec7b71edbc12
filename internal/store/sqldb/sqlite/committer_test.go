package sqlite

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

var errTest = errors.New("the caller's error")

// runTogether runs transactions in one batch, in their order, and returns their errors.
// Each gets its index. A transaction before them holds the lead until all are queued.
func runTogether(t *testing.T, db transactor, n int, fn func(q sqldb.Querier, i int) error) []error {
	t.Helper()
	leading, queued := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		err := db.InTx(t.Context(), func(sqldb.Querier) error {
			close(leading)
			<-queued
			return nil
		})
		if err != nil {
			t.Errorf("leader: %v", err)
		}
	})
	<-leading
	errs := make([]error, n)
	for i := range errs {
		group.Go(func() { errs[i] = db.InTx(t.Context(), func(q sqldb.Querier) error { return fn(q, i) }) })
		for db.queued() <= i {
			runtime.Gosched()
		}
	}
	close(queued)
	group.Wait()
	return errs
}

// transactor is what runTogether needs of a DB.
type transactor interface {
	InTx(ctx context.Context, fn func(sqldb.Querier) error) error
	queued() int
}

func (db *DB) queued() int {
	db.committer.mu.Lock()
	defer db.committer.mu.Unlock()
	return len(db.committer.queue)
}

func insertMerchant(ctx context.Context, q sqldb.Querier, id int) error {
	_, err := q.Exec(ctx, `INSERT INTO merchants (id, name, created_at) VALUES ($1, 'Test Shop', 0)`, id)
	return err
}

// merchants returns the ids of all merchants.
func merchants(t *testing.T, db *DB) []int64 {
	t.Helper()
	return testenv.Of(sqldb.Column[int64](t.Context(), db, `SELECT id FROM merchants ORDER BY id`)).Must(t)
}

// TestGroupCommit commits a batch in which one transaction fails: it alone is
// rolled back.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	errs := runTogether(t, db, 4, func(q sqldb.Querier, i int) error {
		err := insertMerchant(t.Context(), q, i)
		if i == 2 {
			err = errTest
		}
		return err
	})
	if !errors.Is(errs[2], errTest) || errors.Join(errs[0], errs[1], errs[3]) != nil {
		t.Errorf("errors %v", errs)
	}
	testenv.Equal(t, "merchants", []int64{0, 1, 3}, merchants(t, db))
}

// TestGroupCommitRuns counts how often the transactions of a batch run. Number 1 fails,
// in different ways.
func TestGroupCommitRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail func(q sqldb.Querier) error
		want [3]int // how often each runs
	}{
		"before it writes": {func(sqldb.Querier) error { return errTest }, [3]int{1, 1, 1}},
		"after writing no row": {func(q sqldb.Querier) error {
			_, err := q.Exec(t.Context(), `INSERT INTO counters (name, last) VALUES ('order', 1) ON CONFLICT DO NOTHING`)
			return cmp.Or(err, errTest)
		}, [3]int{1, 1, 1}},
		"after writing": {func(q sqldb.Querier) error { return cmp.Or(insertMerchant(t.Context(), q, 1), errTest) }, [3]int{2, 2, 2}},
		"after writing more": {func(q sqldb.Querier) error {
			var last int64
			err := q.QueryRow(t.Context(), `UPDATE counters SET last = 7 WHERE name = 'order' RETURNING last`, nil, &last)
			return cmp.Or(err, errTest)
		}, [3]int{2, 2, 2}},
		"after the transaction ended": {func(q sqldb.Querier) error {
			_, _ = q.Exec(t.Context(), "ROLLBACK")
			return errTest
		}, [3]int{2, 2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
			var runs [3]int
			errs := runTogether(t, db, 3, func(q sqldb.Querier, i int) error {
				if runs[i]++; i == 1 {
					return test.fail(q)
				}
				return insertMerchant(t.Context(), q, i)
			})
			if errs[0] != nil || !errors.Is(errs[1], errTest) || errs[2] != nil {
				t.Errorf("errors %v", errs)
			}
			testenv.Equal(t, "merchants", []int64{0, 2}, merchants(t, db))
			var last int64
			if err := db.QueryRow(t.Context(), `SELECT last FROM counters WHERE name = 'order'`, nil, &last); err != nil || last != 0 {
				t.Errorf("the counter is %d, %v", last, err)
			}
			testenv.Equal(t, "runs", test.want, runs)
		})
	}
}

// TestGroupCommitPanic has one transaction of a batch panic: its caller gets the
// panic, the others are committed.
func TestGroupCommitPanic(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	var recovered any
	errs := runTogether(t, panicking{db, &recovered}, 3, func(q sqldb.Querier, i int) error {
		if err := insertMerchant(t.Context(), q, i); err != nil || i != 1 {
			return err
		}
		panic("of one transaction")
	})
	if recovered != "of one transaction" || errors.Join(errs...) != nil {
		t.Errorf("recovered %v, errors %v", recovered, errs)
	}
	testenv.Equal(t, "merchants", []int64{0, 2}, merchants(t, db))
}

// panicking is a database that recovers the panic of a transaction.
type panicking struct {
	*DB
	recovered *any
}

func (p panicking) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	defer func() {
		if r := recover(); r != nil {
			*p.recovered = r
		}
	}()
	return p.DB.InTx(ctx, fn)
}
