package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestExportKeys walks through the keys of orders, several of which were created in one
// second, in small pages.
// Proves decision 9 (whole orders).
func TestExportKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
		testenv.NoError(t, addTestMerchant(t.Context(), db, 2))
		batch := testBatch(1, "E", 40)
		for i := range batch {
			o := &batch[i].Order
			o.LegacyID = int64(100 - i)
			o.CreatedAt = testTime.Add(time.Duration(i/4) * 4 * time.Hour)
			o.State = order.States()[i%2]
		}
		testenv.Of(db.ImportOrders(t.Context(), append(batch, testBatch(2, "F", 5)...), order.Cause{By: order.Command(), At: testTime})).Must(t)
		day := order.DayOf(testTime)
		for _, query := range []order.ExportQuery{
			{From: order.NoDay, To: order.NoDay},
			{From: day + 1, To: order.NoDay},
			{From: order.NoDay, To: day},
			{From: day, To: day + 1, State: order.States()[1]},
			{From: day + 30, To: order.NoDay},
		} {
			var want, got []int64
			for i := range batch {
				o := &batch[i^3].Order // those of a second have descending legacy ids
				created := order.DayOf(o.CreatedAt)
				if (query.State == 0 || o.State == query.State) && (query.From == order.NoDay || created >= query.From) && (query.To == order.NoDay || created <= query.To) {
					want = append(want, o.LegacyID)
				}
			}
			var after *order.Cursor
			for {
				keys := testenv.Of(db.ExportKeys(t.Context(), 1, query, after, 3)).Must(t)
				for _, key := range keys {
					events, err := db.OrderEvents(t.Context(), 1, order.ByLegacyID(key.LegacyID), 0, 1)
					if got = append(got, key.LegacyID); err != nil || key.Size == 0 || events[0].OrderSize != key.Size {
						t.Errorf("%d has %d bytes, its event %+v, error %v", key.LegacyID, key.Size, events, err)
					}
				}
				if len(keys) < 3 {
					break
				}
				after = &keys[2].Cursor
			}
			testenv.Equal(t, fmt.Sprintf("%+v", query), want, got)
		}

		testenv.NoError(t, db.InTx(t.Context(), func(tx order.Tx) error {
			o, err := tx.LockOrder(t.Context(), 1, order.ByReference(batch[7].Order.Reference))
			_, deleteErr := tx.DeleteOrder(t.Context(), o, order.Cause{At: testTime})
			return errors.Join(err, deleteErr)
		}))
		for _, in := range batch[6:8] {
			cursor, err := db.OrderCursor(t.Context(), 1, in.Order.Reference)
			if err != nil || cursor.LegacyID != in.Order.LegacyID || !cursor.CreatedAt.Equal(in.Order.CreatedAt) {
				t.Errorf("%s is at %v, error %v", in.Order.Reference, cursor, err)
			}
			testenv.Of(db.OrderCursor(t.Context(), 2, in.Order.Reference)).WantError(t, "of another merchant", order.ErrNotFound)
		}
	})
}
