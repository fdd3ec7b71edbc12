package store

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestNoKeyCostsNothing: a change without a key has nothing to do with keys.
// Proves decision 8 (no cost without a key).
func TestNoKeyCostsNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	openPostgresTest(t, url) // makes the tables
	db, statements := openRecorded(t, url)
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	batch := testBatch(1, "R", 2)
	testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	orders := order.NewService(db, nil, func() time.Time { return testTime }, slog.New(slog.DiscardHandler))
	key := order.ByReference(batch[0].Order.Reference)
	testenv.Of(orders.Accept(t.Context(), order.CommandFor(1), key, order.Options[order.WriteResult]{})).Must(t)
	if _, err := orders.DeleteInvoice(t.Context(), order.CommandFor(1), key, 1, order.Options[order.WriteResult]{}); !errors.Is(err, order.ErrInvoiceNotFound) {
		t.Fatalf("error %v", err)
	}
	ran := statements.statements()
	if len(ran) < 5 {
		t.Errorf("only %d statements were seen", len(ran))
	}
	for _, s := range ran {
		testenv.Lacks(t, "statement without a key", s.text, "idempotency_keys")
	}
}
