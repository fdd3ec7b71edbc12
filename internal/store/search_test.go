package store

import (
	"path/filepath"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestChangeWords changes what words are derived from.
func TestChangeWords(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	testenv.NoError(t, addTestMerchant(t.Context(), db, 7))
	testenv.Of(db.ImportOrders(t.Context(), testBatch(7, "R", 3), order.Cause{At: testTime})).Must(t)
	change := func(phone string) {
		testenv.NoError(t, db.InTx(t.Context(), func(o order.Tx) error {
			locked, err := o.LockOrder(t.Context(), 7, order.ByReference("R-1"))
			if err != nil {
				return err
			}
			return o.(*tx).changeWords(t.Context(), 7, locked.LegacyID, func() error {
				_, err := o.(*tx).Exec(t.Context(), `UPDATE orders SET phone = $1 WHERE merchant_id = $2 AND legacy_id = $3`, phone, 7, locked.LegacyID)
				return err
			})
		}))
	}
	found := func(phone string) int {
		page := testenv.Of(db.Search(t.Context(), order.Search{Phone: phone, From: order.NoDay, To: order.NoDay, Limit: 100})).Must(t)
		return len(page.Orders)
	}
	change("2100000001")
	if a, b := found("69"), found("21"); a != 2 || b != 1 {
		t.Errorf("found %d by the old number and %d by the new one", a, b)
	}
	change("6900000000")
	if a, b := found("69"), found("21"); a != 3 || b != 0 {
		t.Errorf("found %d by the old number and %d by the new one, after the change back", a, b)
	}
}
