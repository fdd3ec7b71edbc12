package order_test

import (
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestTransitionIsAtomic(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"InTx", "LockOrder", "Transition", "commit"} {
		db := newDatabase(t, sample(order.Registered))
		db.fail = failing(operation)
		_, err := newService(db, nil).Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})
		testenv.Equal(t, operation+" fails", errBroken, err)
		if o, events := db.order(t, 1), db.events(t, 1); o.State != order.Registered || events != nil {
			t.Errorf("%s fails: the order is %+v, events %+v", operation, o, events)
		}
	}
}

func TestTransactionsAreRetried(t *testing.T) {
	t.Parallel()
	db := newDatabase(t, sample(order.Registered))
	db.rerun = true
	s := newService(db, newFolder(t))
	testenv.Of(s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})).Must(t)
	_, invoice, err := upload(t, s, "a.pdf", "bytes")
	testenv.NoError(t, err)
	if done, err := s.DeleteInvoice(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), invoice.ID, order.Options[order.WriteResult]{}); err != nil || len(done.Invoices) != 0 {
		t.Errorf("delete: %v, left %v", err, done.Invoices)
	}
	if events, slots := db.events(t, 1), db.slots(t, 1); len(events) != 3 || slots != 0 {
		t.Errorf("events %+v, %d slots used", events, slots)
	}
}

// TestNextRevision counts changes, and gives another one in the place of a lost one
// another revision.
// Proves decision 5 (events: history).
func TestNextRevision(t *testing.T) {
	t.Parallel()
	revision, seen := int64(0), make(map[int64]bool)
	for changes := range int64(100) {
		lost := order.NextRevision(revision)
		revision = order.NextRevision(revision)
		if revision>>31 != changes+1 || seen[lost] || seen[revision] || lost == revision {
			t.Errorf("revision %d after %d changes, in another history %d", revision, changes, lost)
		}
		seen[lost], seen[revision] = true, true
	}
}
