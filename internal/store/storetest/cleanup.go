package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var cleanupSubjects = []subject{
	{"cleaning/reservations", testStaleReservations},
	{"cleaning/abandon or activate", testAbandonOrActivate},
	{"cleaning/what cannot be abandoned", testNotAbandoned},
	{"cleaning/deleted files", testDeletedFiles},
}

// stored is an invoice as cleaning names it.
func stored(reference string, number, id int64, name string) order.StoredInvoice {
	return order.StoredInvoice{MerchantID: alpha, OrderLegacyID: number, Reference: reference, ID: id, Name: name}
}

// cleanable compares what there is to clean up with what should be.
func (f *fixture) cleanable(
	when string, find func(context.Context, time.Time, int) ([]order.StoredInvoice, error), before time.Time, want ...order.StoredInvoice,
) {
	f.Helper()
	got, err := find(f.Context(), before, 100)
	if err != nil {
		f.Fatalf("%s: %v", when, err)
	}
	slices.SortFunc(got, func(x, y order.StoredInvoice) int { return int(x.ID - y.ID) })
	testenv.Equal(f, when, want, got, cmpopts.EquateEmpty())
}

func (f *fixture) abandon(store Store, invoice order.StoredInvoice, want bool) {
	f.Helper()
	testenv.Of(store.ExpireReservation(f.Context(), invoice, noon)).Want(f, fmt.Sprintf("abandon %+v", invoice), want)
}

func (f *fixture) purged(store Store, invoice order.StoredInvoice) {
	f.Helper()
	testenv.Equal(f, fmt.Sprintf("mark %+v purged", invoice), nil, store.MarkPurged(f.Context(), invoice, noon))
}

func testStaleReservations(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.ByLegacyID(number)
	f.upload(f.a, key, "active.pdf")
	old := stored("R", number, f.mustReserve(f.a, key, "old.pdf", noon.Add(-time.Minute)), "old.pdf")
	fresh := stored("R", number, f.mustReserve(f.b, key, "fresh.pdf", noon), "fresh.pdf")

	f.cleanable("before any", f.b.ExpiredReservations, noon.Add(-time.Minute))
	f.cleanable("the old one", f.b.ExpiredReservations, noon, old)
	f.cleanable("both", f.a.ExpiredReservations, noon.Add(time.Second), old, fresh)

	f.abandon(f.b, fresh, true)
	f.cleanable("abandoned ones, whatever their age", f.a.ExpiredReservations, noon.Add(-time.Hour), fresh)
	f.abandon(f.a, fresh, true)
	testenv.Equal(f, "activate what was abandoned", order.ErrInvoiceNotFound, f.activate(f.a, key, fresh.ID))
	// Abandoned twice it has given one place back, and one is taken still.
	f.mustReserve(f.a, key, "last.pdf", noon.Add(time.Hour))
	testenv.Of(f.reserve(f.a, key, "none.pdf", noon)).WantError(f, "one more", order.ErrTooManyFiles)
	f.purged(f.b, fresh)
	f.cleanable("purged", f.a.ExpiredReservations, noon.Add(time.Minute), old)
	f.abandon(f.a, fresh, true)
	f.cleanable("purged and abandoned again", f.a.ExpiredReservations, noon.Add(time.Minute), old)
	testenv.Equal(f, "revision of an expired reservation", 2, f.order(f.a, alpha, key).Revision)
}

// testAbandonOrActivate lets the expiry of a reservation race against its activation:
// exactly one of them succeeds.
func testAbandonOrActivate(f *fixture) {
	for i := range 12 {
		reference := fmt.Sprintf("R-%d", i)
		number := f.create(minimal(alpha, reference))
		key := order.ByLegacyID(number)
		invoice := stored(reference, number, f.mustReserve(f.a, key, "a.pdf", noon), "a.pdf")
		var activated, abandoned atomic.Bool
		var group sync.WaitGroup
		group.Go(func() {
			err := f.activate(f.a, key, invoice.ID)
			if err != nil && !errors.Is(err, order.ErrInvoiceNotFound) {
				f.Errorf("activate: %v", err)
			}
			activated.Store(err == nil)
		})
		group.Go(func() {
			did, err := f.b.ExpireReservation(f.Context(), invoice, noon)
			if err != nil {
				f.Errorf("abandon: %v", err)
			}
			abandoned.Store(did)
		})
		group.Wait()
		shown := len(f.order(f.b, alpha, key).Invoices) == 1
		if activated.Load() == abandoned.Load() || shown != activated.Load() {
			f.Errorf("activated %v, abandoned %v, shown %v", activated.Load(), abandoned.Load(), shown)
		}
	}
}

func testNotAbandoned(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.ByLegacyID(number)
	active := f.upload(f.a, key, "active.pdf")
	deleted := f.upload(f.a, key, "deleted.pdf")
	testenv.Of(f.remove(f.a, key, deleted, noon)).Must(f)
	released := f.mustReserve(f.a, key, "released.pdf", noon)
	testenv.NoError(f, f.release(f.a, key, released))
	before := f.tables.rows()
	f.abandon(f.b, stored("R", number, active, "active.pdf"), false)
	f.abandon(f.b, stored("R", number, deleted, "deleted.pdf"), false)
	f.abandon(f.b, stored("R", number, released, "released.pdf"), false)
	f.purged(f.b, stored("R", number, active, "active.pdf"))
	f.purged(f.b, stored("R", number, released, "released.pdf"))
	testenv.Equal(f, "tables", before, f.tables.rows())
}

func testDeletedFiles(f *fixture) {
	number := f.create(minimal(alpha, "R"))
	key := order.ByLegacyID(number)
	f.upload(f.a, key, "kept.pdf")
	var deleted []order.StoredInvoice
	for i := range 2 {
		name := fmt.Sprintf("%d.pdf", i)
		id := f.upload(f.a, key, name)
		testenv.Of(f.remove(f.b, key, id, noon.Add(time.Duration(i)*time.Hour))).Must(f)
		deleted = append(deleted, stored("R", number, id, name))
	}
	f.cleanable("before any", f.a.DeletedInvoices, noon)
	f.cleanable("the first", f.b.DeletedInvoices, noon.Add(time.Minute), deleted[0])
	f.cleanable("both", f.a.DeletedInvoices, noon.Add(2*time.Hour), deleted...)
	f.cleanable("none of them reserved", f.a.ExpiredReservations, noon.Add(2*time.Hour))
	f.purged(f.b, deleted[0])
	f.cleanable("the first purged", f.a.DeletedInvoices, noon.Add(2*time.Hour), deleted[1])
	f.purged(f.b, deleted[1])
	f.cleanable("both purged", f.a.DeletedInvoices, noon.Add(2*time.Hour))
}
