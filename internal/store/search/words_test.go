package search

import (
	"context"
	"testing"
	"time"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestMoveStaged moves the words that 1.0 has staged, more than a transaction does, to their
// periods. One of them is there already.
func TestMoveStaged(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	orders := sampleOrders(400)
	for i := range orders {
		orders[i].CreatedAt = testTime.AddDate(0, -i, 0) // to before 1970
	}
	fill(t, db, orders)
	words := func() []string {
		return testenv.Of(sqldb.Column[string](t.Context(), db, `SELECT block || ' ' || word || ' ' || legacy_id FROM order_words`)).Must(t)
	}
	want := words()
	for _, change := range []string{
		`UPDATE order_words SET block = 1 + legacy_id % 3 WHERE legacy_id > 50`,
		`INSERT INTO order_words SELECT 4, word, created_at, legacy_id, merchant_id FROM order_words WHERE legacy_id = 1`,
	} {
		testenv.NoError(t, db.InTx(t.Context(), func(tx sqldb.Querier) error {
			_, err := tx.Exec(t.Context(), change)
			return err
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	testenv.NoError(t, MoveStaged(ctx, stuck{db}))
	testenv.NoError(t, MoveStaged(t.Context(), db))
	if len(want) < 400*5 {
		t.Errorf("%d words", len(want))
	}
	testenv.Equal(t, "words", want, words())
}

// stuck is a database in which nothing can be moved, as in one with pages of another.
type stuck struct{ sqldb.DB }

func (stuck) InTx(context.Context, func(sqldb.Querier) error) error { return nil }
