package store

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// interrupted is a database that something happens to before one of its statements that
// read.
type interrupted struct {
	sqldb.DB
	countdown *int // statements until then
	happen    func()
}

func (i interrupted) wait() {
	if *i.countdown--; *i.countdown == 0 {
		i.happen()
	}
}

func (i interrupted) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	i.wait()
	return i.DB.Query(ctx, text, args, scan)
}

func (i interrupted) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	i.wait()
	return i.DB.QueryRow(ctx, text, args, dest...)
}

func (i interrupted) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return sqldb.OneByOne(ctx, i, queries, scan)
}

func (i interrupted) WithoutTimeout() sqldb.Querier {
	return interruptedQuerier{i.DB.WithoutTimeout(), i}
}

func (i interrupted) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	return i.DB.Snapshot(ctx, func(q sqldb.Querier) error { return fn(interruptedQuerier{q, i}) })
}

type interruptedQuerier struct {
	sqldb.Querier
	interrupted
}

func (i interruptedQuerier) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return i.Querier.Exec(ctx, text, args...)
}

func (i interruptedQuerier) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	i.wait()
	return i.Querier.Query(ctx, text, args, scan)
}

func (i interruptedQuerier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	i.wait()
	return i.Querier.QueryRow(ctx, text, args, dest...)
}

func (i interruptedQuerier) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return sqldb.OneByOne(ctx, i, queries, scan)
}

func (i interruptedQuerier) WithoutTimeout() sqldb.Querier { return i }

// TestSearchBesideCorrection searches for an order and for the orders of its customer
// while its phone number is corrected between any two statements. It is found each time.
func TestSearchBesideCorrection(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		testSearchBesideCorrection(t, SQLite, filepath.Join(t.TempDir(), "orders.db"))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		testSearchBesideCorrection(t, Postgres, pgtest.Database(t))
	})
}

func testSearchBesideCorrection(t *testing.T, engine Engine, address string) {
	ctx := t.Context()
	db := testenv.Of(engine.Open(ctx, address, Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	testenv.NoError(t, addTestMerchant(ctx, db, 1))
	testenv.Of(db.ImportOrders(ctx, testBatch(1, "R", 2), order.Cause{At: testTime})).Must(t)
	corrections := 0
	correct := func() {
		corrections++
		phone := fmt.Sprint("690000", corrections)
		testenv.NoError(t, db.InTx(ctx, func(tx order.Tx) error {
			locked, err := tx.LockOrder(ctx, 1, order.ByReference("R-1"))
			if err == nil {
				_, err = tx.Correct(ctx, locked, order.Correction{Phone: order.To(&phone)}, order.Cause{At: testTime})
			}
			return err
		}))
	}
	for name, search := range map[string]func(*DB) (int, error){
		"e-mail": func(db *DB) (int, error) {
			page, err := db.Search(ctx, order.Search{Email: "buyer@example.com", From: order.NoDay, To: order.NoDay, Limit: 10})
			return len(page.Orders), err
		},
		"phone": func(db *DB) (int, error) {
			page, err := db.Search(ctx, order.Search{Phone: "690000", From: order.NoDay, To: order.NoDay, Limit: 10})
			return len(page.Orders), err
		},
		"customer": func(db *DB) (int, error) {
			orders, err := db.CustomerOrders(ctx, "buyer@example.com")
			return len(orders), err
		},
	} {
		for n := 1; ; n++ {
			countdown := n
			view := New(interrupted{db.sql, &countdown, correct}, Options{})
			found, err := search(view)
			if found != 2 || err != nil {
				t.Errorf("%s, before statement %d: %d orders, error %v", name, n, found, err)
			}
			if countdown > 0 {
				break
			}
		}
	}
	if corrections < 6 {
		t.Error("the searches have too few statements")
	}
}

// TestCustomersAsTyped finds the orders of a customer however the address was typed, in the
// order and in the request, and none of a customer whose address is only alike.
func TestCustomersAsTyped(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
		same := []string{"buyer@example.com", " Buyer@Example.com ", "\tBUYER@example.com\r\n", "\u00a0buyer@example.com\u2003", "\ufeffbuyer@example.com\u200b"}
		var batch []order.Incoming
		for i, email := range append(same, "b\u00fcyer@example.com", "buyer@example.com.gr", "buyer@example.co", "a buyer@example.com", "") {
			incoming := testOrder(1, fmt.Sprint("S-", i))
			incoming.Order.Customer.Email = email
			batch = append(batch, incoming)
		}
		testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Command(), At: testTime})).Must(t)
		for _, email := range same {
			testenv.Equal(t, email, len(same), len(testenv.Of(db.CustomerOrders(t.Context(), email)).Must(t)))
		}
	})
}
