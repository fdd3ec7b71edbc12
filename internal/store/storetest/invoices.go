package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var invoiceSubjects = []subject{
	{"invoices/a whole life", testInvoiceLife},
	{"invoices/three of many reservations", testThreePlaces},
	{"invoices/names are used once", testNamesOnce},
	{"invoices/one hundred in all", testMaxInvoicesEver},
	{"invoices/released", testReleased},
	{"invoices/not there", testInvoiceNotThere},
	{"invoices/orders without one", testWithoutInvoice},
	{"invoices/numbers", testInvoiceNumbers},
}

// fileNamed is an invoice file before it has an entry.
func fileNamed(name string, at time.Time) order.Invoice {
	return order.Invoice{Name: name, Size: int64(len(name)) + 3_999_000, SHA256: sha256.Sum256([]byte(name)), CreatedAt: at}
}

// reserve reserves an invoice in an order of alpha.
func (f *fixture) reserve(store Store, key order.Identifier, name string, at time.Time) (int64, error) {
	var id int64
	err := inOrder(f.Context(), store, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		var err error
		id, err = tx.ReserveInvoice(f.Context(), locked, fileNamed(name, at))
		return err
	})
	return id, err
}

func (f *fixture) mustReserve(store Store, key order.Identifier, name string, at time.Time) int64 {
	f.Helper()
	id, err := f.reserve(store, key, name, at)
	if err != nil {
		f.Fatalf("reserve %s: %v", name, err)
	}
	return id
}

func (f *fixture) activate(store Store, key order.Identifier, id int64) error {
	return inOrder(f.Context(), store, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		return tx.ActivateInvoice(f.Context(), locked, order.Invoice{ID: id}, order.Cause{By: requester(order.ActorMerchant), At: noon})
	})
}

// upload makes an active invoice.
func (f *fixture) upload(store Store, key order.Identifier, name string) int64 {
	f.Helper()
	id := f.mustReserve(store, key, name, noon)
	if err := f.activate(store, key, id); err != nil {
		f.Fatalf("activate %s: %v", name, err)
	}
	return id
}

func (f *fixture) release(store Store, key order.Identifier, id int64) error {
	return inOrder(f.Context(), store, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		return tx.ReleaseInvoice(f.Context(), locked, id)
	})
}

// remove deletes an invoice and returns those that are left.
func (f *fixture) remove(store Store, key order.Identifier, id int64, at time.Time) ([]order.Invoice, error) {
	var left []order.Invoice
	err := inOrder(f.Context(), store, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
		if err := tx.DeleteInvoice(f.Context(), locked, id, order.Cause{By: requester(order.ActorMerchant), At: at}); err != nil {
			return err
		}
		var err error
		left, err = tx.Invoices(f.Context(), locked)
		return err
	})
	return left, err
}

// used returns which of some names were ever used in an order.
func (f *fixture) used(store Store, key order.Identifier, names ...string) []string {
	f.Helper()
	var used []string
	for _, name := range names {
		err := inOrder(f.Context(), store, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
			is, err := tx.InvoiceNameUsed(f.Context(), locked, name)
			if is {
				used = append(used, name)
			}
			return err
		})
		if err != nil {
			f.Fatalf("name %s: %v", name, err)
		}
	}
	return used
}

// expect checks the active invoices of an order and its revision.
func (f *fixture) expect(when string, key order.Identifier, revision int64, want ...order.Invoice) {
	f.Helper()
	same := f.order(f.a, alpha, key)
	for store, key := range map[Store]order.Identifier{f.a: order.ByLegacyID(same.LegacyID), f.b: order.ByReference(same.Reference)} {
		got := f.order(store, alpha, key)
		testenv.Equal(f, fmt.Sprintf("%s: invoices", when), want, got.Invoices, cmpopts.EquateEmpty())
		testenv.Equal(f, when+": revision", revision, got.Revision)
	}
}

func testInvoiceLife(f *fixture) {
	f.create(minimal(alpha, "R"))
	key := order.ByReference("R")
	first, second := fileNamed("Τιμολόγιο 1.pdf", noon), fileNamed("b?#%.PNG", noon.Add(-time.Hour))

	first.ID = f.mustReserve(f.a, key, first.Name, first.CreatedAt)
	second.ID = f.mustReserve(f.b, key, second.Name, second.CreatedAt)
	f.expect("reserved", key, 1)
	if first.ID <= 0 || second.ID <= first.ID {
		f.Errorf("invoices have the ids %d and %d", first.ID, second.ID)
	}
	f.found("reserved", "R", first.Name, order.Invoice{}, order.ErrInvoiceNotFound)

	testenv.NoError(f, f.activate(f.a, key, second.ID))
	f.expect("second active", key, 2, second)
	testenv.NoError(f, f.activate(f.b, key, first.ID))
	f.expect("both active", key, 3, first, second)
	f.found("active", "R", first.Name, first, nil)
	testenv.Equal(f, "active a second time", order.ErrInvoiceNotFound, f.activate(f.a, key, first.ID))
	f.expect("active a second time", key, 3, first, second)

	testenv.Of(f.remove(f.b, key, first.ID, noon)).Want(f, "left after the deletion", []order.Invoice{second})
	f.expect("first deleted", key, 4, second)
	f.found("deleted", "R", first.Name, order.Invoice{}, order.ErrInvoiceNotFound)
	testenv.Of(f.remove(f.a, key, first.ID, noon)).WantError(f, "deleted a second time", order.ErrInvoiceNotFound)
	f.expect("deleted a second time", key, 4, second)
	if got := f.order(f.a, alpha, key); !got.UpdatedAt.IsZero() {
		f.Errorf("invoice files set the order's update time to %v", got.UpdatedAt)
	}
}

// found reads the invoice of a file of alpha.
func (f *fixture) found(when, reference, name string, want order.Invoice, wantErr error) {
	f.Helper()
	got, err := f.b.InvoiceFile(f.Context(), alpha, reference, name)
	testenv.Equal(f, fmt.Sprintf("%s: file %s", when, name), wantErr, err)
	testenv.Equal(f, fmt.Sprintf("%s: file %s", when, name), want, got)
}

// testInvoiceNumbers checks that an order is found by the numbers and marks of its active files.
func testInvoiceNumbers(f *fixture) {
	f.create(minimal(alpha, "R"))
	f.create(minimal(beta, "OTHER"))
	key := order.ByReference("R")
	expect := func(when string, want map[string]bool) {
		f.Helper()
		for text, found := range want {
			for _, merchant := range []int64{0, alpha} {
				search := order.Search{Text: text, MerchantID: merchant, From: order.NoDay, To: order.NoDay, Limit: 10}
				page := testenv.Of(f.b.Search(f.Context(), search)).Must(f)
				testenv.Equal(f, when+": orders with "+text, found, len(page.Orders) == 1 && page.Orders[0].Reference == "R")
			}
		}
	}
	upload := func(name string, data order.InvoiceData) order.Invoice {
		invoice := fileNamed(name, noon)
		invoice.InvoiceData = data
		testenv.NoError(f, inOrder(f.Context(), f.a, alpha, key, func(tx order.Tx, locked order.LockedOrder) (err error) {
			invoice.ID, err = tx.ReserveInvoice(f.Context(), locked, invoice)
			return err
		}))
		expect("reserved "+name, map[string]bool{data.Number: false})
		testenv.NoError(f, inOrder(f.Context(), f.b, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
			return tx.ActivateInvoice(f.Context(), locked, invoice, order.Cause{By: requester(order.ActorMerchant), At: noon})
		}))
		expect("active "+name, map[string]bool{data.Number: true})
		return invoice
	}
	first := upload("a.pdf", order.InvoiceData{Kind: "credit-note", Number: "Τ.Π. 7", Mark: "400001234567890", Link: "https://example.com/7"})
	second := upload("b.pdf", order.InvoiceData{Number: "INV/8"})
	f.expect("active", key, 3, first, second)
	expect("both active", map[string]bool{"7": true, "τ.π. 7": true, "400001234567890": true, "inv/8": true, "7 inv/8": true, "9": false})
	testenv.Of(f.remove(f.a, key, first.ID, noon)).Must(f)
	expect("first deleted", map[string]bool{"7": false, "400001234567890": false, "inv/8": true})
	note := "a note"
	testenv.Of(service(f.a, noon).UpdateMerchantData(f.Context(), order.CommandFor(alpha), key, order.MerchantDataUpdate{Note: order.Field[*string]{Set: true, Value: &note}}, order.Options[order.WriteResult]{})).Must(f)
	expect("with a note", map[string]bool{"inv/8": true, "r inv/8": true})
	testenv.Of(f.remove(f.a, key, second.ID, noon)).Must(f)
	expect("both deleted", map[string]bool{"inv/8": false, "r": true})
}

func testThreePlaces(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	deleted := f.upload(f.a, key, "deleted.pdf")
	testenv.Of(f.remove(f.a, key, deleted, noon)).Must(f)
	ids := make(chan int64, 24)
	var group sync.WaitGroup
	for i := range 24 {
		group.Go(func() {
			id, err := f.reserve([]Store{f.a, f.b}[i%2], key, fmt.Sprintf("%d.pdf", i), noon)
			switch {
			case err == nil:
				ids <- id
			case !errors.Is(err, order.ErrTooManyFiles):
				f.Errorf("reserve: %v, want %v", err, order.ErrTooManyFiles)
			}
		})
	}
	group.Wait()
	close(ids)
	if len(ids) != order.MaxInvoices {
		f.Fatalf("%d of 24 reservations had a place, want %d", len(ids), order.MaxInvoices)
	}
	for id := range ids {
		testenv.NoError(f, f.activate(f.b, key, id))
	}
	testenv.Equal(f, "active invoices", order.MaxInvoices, len(f.order(f.a, alpha, key).Invoices))
	testenv.Of(f.reserve(f.a, key, "late.pdf", noon)).WantError(f, "one more", order.ErrTooManyFiles)
}

func testNamesOnce(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	other := order.ByLegacyID(f.create(minimal(alpha, "OTHER")))
	deleted := f.upload(f.a, key, "a.pdf")
	testenv.Of(f.remove(f.a, key, deleted, noon)).Must(f)
	abandoned := order.StoredInvoice{MerchantID: alpha, OrderLegacyID: key.LegacyID, ID: f.mustReserve(f.a, key, "b.pdf", noon)}
	testenv.Of(f.a.ExpireReservation(f.Context(), abandoned, noon)).Must(f)
	f.upload(f.a, key, "c.pdf")
	f.mustReserve(f.a, key, "d.pdf", noon)
	for _, invoice := range []int64{deleted, abandoned.ID} {
		purged := order.StoredInvoice{MerchantID: alpha, OrderLegacyID: key.LegacyID, ID: invoice}
		testenv.NoError(f, f.a.MarkPurged(f.Context(), purged, noon))
	}
	used := []string{"a.pdf", "b.pdf", "c.pdf", "d.pdf"}
	testenv.Equal(f, "names", used, f.used(f.b, key, append(used, "A.pdf", "")...))
	before := f.tables.rows()
	for _, name := range used {
		if _, err := f.reserve(f.b, key, name, noon); err == nil || errors.Is(err, order.ErrTooManyFiles) {
			f.Errorf("the name %s a second time: error %v", name, err)
		}
	}
	testenv.Equal(f, "tables after refused names", before, f.tables.rows())
	f.upload(f.b, other, "a.pdf")
	f.upload(f.b, key, "A.pdf")
}

// testMaxInvoicesEver: every file of an order counts, deleted or not; what never was
// a file does not.
func testMaxInvoicesEver(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	full := func() bool {
		err := inOrder(f.Context(), f.b, alpha, key, func(tx order.Tx, locked order.LockedOrder) error {
			_, err := tx.InvoiceNameUsed(f.Context(), locked, "new.pdf")
			return err
		})
		if err != nil && !errors.Is(err, order.ErrTooManyFiles) {
			f.Error(err)
		}
		return err != nil
	}
	expired := order.StoredInvoice{MerchantID: alpha, OrderLegacyID: key.LegacyID, ID: f.mustReserve(f.a, key, "expired.pdf", noon)}
	testenv.Of(f.a.ExpireReservation(f.Context(), expired, noon)).Must(f)
	for i := range order.MaxInvoicesEver - 2 {
		testenv.Of(f.remove(f.a, key, f.upload(f.a, key, fmt.Sprintf("%d.pdf", i)), noon)).Must(f)
	}
	f.upload(f.a, key, "active.pdf")
	testenv.Equal(f, "full before the last file", false, full())
	f.mustReserve(f.a, key, "reserved.pdf", noon)
	testenv.Equal(f, "full", true, full())
}

func testReleased(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	var ids []int64
	for i := range order.MaxInvoices {
		ids = append(ids, f.mustReserve(f.a, key, fmt.Sprintf("%d.pdf", i), noon))
	}
	for range 2 {
		// A second time it must not give a second place back.
		testenv.NoError(f, f.release(f.b, key, ids[0]))
	}
	testenv.Equal(f, "names after the release", []string{"1.pdf", "2.pdf"}, f.used(f.a, key, "0.pdf", "1.pdf", "2.pdf"))
	testenv.Equal(f, "activate what was released", order.ErrInvoiceNotFound, f.activate(f.a, key, ids[0]))
	f.upload(f.a, key, "0.pdf")
	testenv.Of(f.reserve(f.a, key, "3.pdf", noon)).WantError(f, "one more", order.ErrTooManyFiles)
	active := f.order(f.a, alpha, key).Invoices[0]
	testenv.NoError(f, f.release(f.a, key, active.ID))
	f.expect("an active one released", key, 2, active)
}

func testInvoiceNotThere(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "R")))
	other := order.ByLegacyID(f.create(minimal(alpha, "OTHER")))
	active := f.upload(f.a, key, "a.pdf")
	reserved := f.mustReserve(f.a, key, "b.pdf", noon)
	before := f.tables.rows()
	ctx := f.Context()
	for name, change := range map[string]func(order.Tx, order.LockedOrder) error{
		"activate no id": func(tx order.Tx, locked order.LockedOrder) error {
			return tx.ActivateInvoice(ctx, locked, order.Invoice{ID: 999}, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon})
		},
		"delete no id": func(tx order.Tx, locked order.LockedOrder) error {
			return tx.DeleteInvoice(ctx, locked, 999, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon})
		},
		"activate another order": func(tx order.Tx, locked order.LockedOrder) error {
			return tx.ActivateInvoice(ctx, locked, order.Invoice{ID: reserved}, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon})
		},
		"delete another order": func(tx order.Tx, locked order.LockedOrder) error {
			return tx.DeleteInvoice(ctx, locked, active, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: noon})
		},
	} {
		testenv.Equal(f, name, order.ErrInvoiceNotFound, inOrder(ctx, f.b, alpha, other, change))
	}
	testenv.Of(f.remove(f.b, key, reserved, noon)).WantError(f, "delete what is reserved", order.ErrInvoiceNotFound)
	testenv.NoError(f, f.release(f.b, other, reserved))
	for name, look := range map[string]func(context.Context) (order.Invoice, error){
		"another merchant":  func(ctx context.Context) (order.Invoice, error) { return f.a.InvoiceFile(ctx, beta, "R", "a.pdf") },
		"another order":     func(ctx context.Context) (order.Invoice, error) { return f.a.InvoiceFile(ctx, alpha, "OTHER", "a.pdf") },
		"another name":      func(ctx context.Context) (order.Invoice, error) { return f.a.InvoiceFile(ctx, alpha, "R", "A.pdf") },
		"reserved":          func(ctx context.Context) (order.Invoice, error) { return f.a.InvoiceFile(ctx, alpha, "R", "b.pdf") },
		"no such reference": func(ctx context.Context) (order.Invoice, error) { return f.a.InvoiceFile(ctx, alpha, "r", "a.pdf") },
	} {
		testenv.Of(look(ctx)).WantError(f, "file of "+name, order.ErrInvoiceNotFound)
	}
	testenv.Equal(f, "tables after what was refused", before, f.tables.rows())
}
