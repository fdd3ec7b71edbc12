package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestObserve checks what Options.Observe receives, also of operations that fail.
func TestObserve(t *testing.T) {
	t.Parallel()
	var got []string
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), Options{Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
		return ctx, func(err error) { got = append(got, fmt.Sprint(operation, " ", err == nil)) }
	}})
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ctx := t.Context()
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_ = addTestMerchant(ctx, db, 1)
	_, _ = db.ImportOrders(ctx, testBatch(1, "R", 2), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
	_, _ = db.Order(ctx, 1, order.ByLegacyID(1))
	_, _ = db.List(ctx, 1, order.NewFilter())
	_, _ = db.List(canceled, 1, order.NewFilter())
	_ = transitionTest(ctx, db, 1, 404, order.Canceled)
	_, _ = db.InvoiceFile(ctx, 1, "R-0", "a.pdf")
	_, _ = db.Grant(ctx, token.Hash{})
	want := []string{"change true", "add true", "order true", "list true", "list false", "change false", "invoice false", "token false"}
	testenv.Equal(t, "observed", want, got)
}

// TestPing checks that a database that cannot authenticate a request is not ready.
func TestPing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	testenv.NoError(t, db.Ping(t.Context()))
	testenv.Of(sqlOn(t, path).ExecContext(t.Context(), `DROP TABLE tokens`)).Must(t)
	if err := db.Ping(t.Context()); err == nil {
		t.Error("a database without tokens is ready")
	}
}
