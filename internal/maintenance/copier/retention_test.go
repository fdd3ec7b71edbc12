package copier_test

import (
	"testing"
	"time"

	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestCopyDeletedOrders deletes old orders, and the token of a session, between two copies, and
// before the first one to another target: both targets are equal to the source.
func TestCopyDeletedOrders(t *testing.T) {
	t.Parallel()
	source, target, late := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 5)
	testenv.Of(token.NewSessions(source.Store, source.Tokens).BeginAs(t.Context(), order.Caller{}, token.Person{Operator: true, Scopes: order.OperatorScopes})).Must(t)
	mustCopy(t, source.Installation, target.Installation)
	later := token.NewRegistry(source.Store, func() time.Time { return maintenancetest.Now.Add(100 * 24 * time.Hour) })
	testenv.Of(token.NewSessions(source.Store, later).DeleteTokens(t.Context())).Want(t, "deleted tokens", 1)
	for orders, err := range source.Orders.Export(t.Context(), order.ExportQuery{From: order.NoDay, To: order.NoDay}) {
		testenv.NoError(t, err)
		for _, o := range orders {
			// Those that cannot be canceled stay.
			_, _ = source.Orders.ChangeOrder(t.Context(), order.Command(), o.MerchantID, order.ByReference(o.Reference), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})
		}
	}
	if n, err := source.Retention.DeleteOldOrders(t.Context(), maintenancetest.Now.Add(-36*time.Hour)); n == 0 || err != nil {
		t.Fatalf("%d orders deleted, error %v", n, err)
	}
	want := source.Dump(t)
	for _, in := range []*maintenancetest.Installation{target, late} {
		mustCopy(t, source.Installation, in.Installation)
		in.WantNoFindings(t)
		in.WantDump(t, want) // the files of the first copy are purged with those of the source
	}
}
