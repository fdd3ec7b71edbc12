package storetest

import (
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var retentionSubjects = []subject{
	{"retention/deleted orders", testDeletedOrders},
}

// testDeletedOrders deletes an old order: its events, keys and audit entries stay, and
// lists follow. The order of another merchant and a younger one stay.
func testDeletedOrders(f *fixture) {
	old, young := noon.AddDate(-10, 0, -1), noon.AddDate(-10, 0, 1)
	number := f.create(dated(alpha, "OLD", old, order.Completed))
	f.create(dated(alpha, "YOUNG", young, order.Completed))
	f.create(dated(beta, "OLD-2", old, order.Canceled))
	for _, state := range order.States() {
		if !state.Final() {
			f.create(dated(beta, "OPEN-"+state.String(), old, state))
		}
	}
	if page, err := f.b.List(f.Context(), alpha, order.NewFilter()); err != nil || page.Total != 2 {
		f.Fatalf("%d orders, %v", page.Total, err)
	}
	found, err := f.a.OrdersBefore(f.Context(), noon.AddDate(-10, 0, 0), 10)
	if err != nil || len(found) != 2 {
		f.Fatalf("old orders %+v, %v", found, err)
	}
	testenv.Of(f.b.CountOrdersBefore(f.Context(), noon.AddDate(-10, 0, 0))).Want(f, "old orders", int64(2))
	cause := order.Cause{By: order.Caller{Actor: order.ActorSystem}, At: noon}
	remove := func(want bool) {
		f.Helper()
		testenv.NoError(f, inOrder(f.Context(), f.a, alpha, order.ByReference("OLD"), func(tx order.Tx, o order.LockedOrder) error {
			deleted, err := tx.DeleteOrder(f.Context(), o, cause)
			testenv.Equal(f, "deleted", want, deleted)
			return err
		}))
	}
	invoice := f.upload(f.a, order.ByLegacyID(number), "a.pdf")
	remove(false) // its file is stored
	testenv.NoError(f, inOrder(f.Context(), f.a, alpha, order.ByLegacyID(number), func(tx order.Tx, o order.LockedOrder) error {
		return tx.DeleteInvoice(f.Context(), o, invoice, cause)
	}))
	files, err := f.a.FilesToRemove(f.Context(), alpha, number)
	if err != nil || len(files) != 1 {
		f.Fatalf("files %+v, %v", files, err)
	}
	testenv.NoError(f, f.a.MarkPurged(f.Context(), files[0], noon))
	remove(true)

	testenv.Of(f.b.Order(f.Context(), alpha, order.ByLegacyID(number))).WantError(f, "the deleted order", order.ErrNotFound)
	for _, store := range []Store{f.a, f.b} {
		if page, err := store.List(f.Context(), alpha, order.NewFilter()); err != nil || page.Total != 1 || page.Orders[0].Reference != "YOUNG" {
			f.Errorf("list %+v, %v", page, err)
		}
	}
	feed, err := f.b.Events(f.Context(), alpha, 0, 100)
	if err != nil || len(feed.Events) != 5 {
		f.Fatalf("feed %+v, %v", feed, err)
	}
	for i, e := range feed.Events {
		if e.Seq != int64(i+1) || i != 1 && (e.Reference != "OLD" || e.LegacyID != number) {
			f.Errorf("event %+v", e)
		}
	}
	if last := feed.Events[4]; last.Type != order.OrderDeleted || last.From != order.Completed {
		f.Errorf("last event %+v", last)
	}
	testenv.Equal(f, "search", 1, len(testenv.Of(f.b.Search(f.Context(), order.Search{Reference: "OLD", From: order.NoDay, To: order.NoDay, Limit: 10})).Must(f).Orders))
	// Imported again, it is deleted, whatever its content; the keys are not free.
	again := []order.Incoming{
		incoming(dated(alpha, "OLD", old, order.Completed)), incoming(withNumber(dated(alpha, "OLD", young, order.Registered), number)),
		incoming(withNumber(dated(alpha, "OLD", old, order.Completed), number+100)), incoming(dated(beta, "OLD", old, order.Completed)),
		incoming(withNumber(dated(alpha, "NEW", old, order.Completed), number)),
	}
	foreseen := testenv.Of(f.b.NewImportCheck()(f.Context(), order.Command(), again)).Must(f)
	want := []order.LineStatus{order.Deleted, order.Deleted, order.Conflict, order.Conflict, order.Conflict}
	for i, got := range f.add(f.a, again...) {
		if got.Status != want[i] || foreseen[i] != got || got.Status == order.Deleted && (got.LegacyID != number || got.Reason != "") {
			f.Errorf("imported again, %d: %+v, foreseen %+v, want %s", i, got, foreseen[i], want[i])
		}
	}
	if got := f.auditLog(order.AuditQuery{Reference: "OLD", Limit: 10}); len(got) != 4 || got[0].Detail != "from=completed" {
		f.Errorf("audit log %+v", got)
	}
}
