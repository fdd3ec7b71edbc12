package order_test

import (
	"reflect"
	"slices"
	"testing"

	"merchantorders/internal/order"
)

// withoutEvent are the methods of order.Tx that change nothing in a merchant's orders
// that it can see, and so write no event.
var withoutEvent = []string{
	"AddLinkKey", "AddMerchant", "AppendAudit", "LockMerchant", "UpdateMerchant", "LockOrder", "LockOrders", "Invoices", "InvoiceNameUsed", "ReserveInvoice", "ReleaseInvoice",
	"ReplaceLinkKey", "ReserveIdempotencyKey", "HoldIdempotencyKey", "SaveResponse",
}

// TestVisibleChangesHaveACause: every method of order.Tx that changes what a
// merchant can see takes the Cause of the change, from which the store writes the
// event. The store's conformance suite checks that it does.
func TestVisibleChangesHaveACause(t *testing.T) {
	t.Parallel()
	tx, cause := reflect.TypeFor[order.Tx](), reflect.TypeFor[order.Cause]()
	for i := range tx.NumMethod() {
		method := tx.Method(i)
		last := method.Type.In(method.Type.NumIn() - 1)
		if writesEvent := last == cause; writesEvent == slices.Contains(withoutEvent, method.Name) {
			t.Errorf("Tx.%s: takes a Cause: %v", method.Name, writesEvent)
		}
	}
}
