package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
)

// testTime is the time at which things happen in these tests.
var testTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// testOrder is a registered order of common size.
func testOrder(merchantID int64, reference string) order.Incoming {
	o := ordertest.Rich()
	o.MerchantID, o.LegacyID, o.Reference, o.State, o.CreatedAt = merchantID, 0, reference, order.Registered, testTime
	return order.Incoming{Order: o, Digest: sha256.Sum256([]byte(reference))}
}

// testBatch is n orders whose references begin alike.
func testBatch(merchantID int64, prefix string, n int) []order.Incoming {
	batch := make([]order.Incoming, n)
	for i := range batch {
		batch[i] = testOrder(merchantID, fmt.Sprintf("%s-%d", prefix, i))
	}
	return batch
}

func addTestMerchant(ctx context.Context, db *DB, id int64) error {
	return db.InTx(ctx, func(tx order.Tx) error {
		return tx.AddMerchant(ctx, order.Merchant{ID: id, Name: "Test Shop", CreatedAt: testTime}, order.AuditEntry{At: testTime})
	})
}

// transitionTest moves an order whatever the rules say.
func transitionTest(ctx context.Context, db *DB, merchantID, number int64, to order.State) error {
	return db.InTx(ctx, func(tx order.Tx) error {
		locked, err := tx.LockOrder(ctx, merchantID, order.ByLegacyID(number))
		if err != nil {
			return err
		}
		return tx.Transition(ctx, locked, to, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
	})
}
