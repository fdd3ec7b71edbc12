package storetest

import (
	"errors"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var linkSubjects = []subject{
	{"links/one key of several made at once", testLinkKey},
	{"links/an invoice by its id", testInvoiceByID},
}

func testLinkKey(f *fixture) {
	if _, ok, err := f.a.LinkKey(f.Context()); ok || err != nil {
		f.Fatalf("a key in an empty store: %v, error %v", ok, err)
	}
	const instances = 4
	var stored [instances]order.LinkKey
	var group sync.WaitGroup
	for i := range instances {
		group.Go(func() {
			err := []Store{f.a, f.b}[i%2].InTx(f.Context(), func(tx order.Tx) (err error) {
				stored[i], err = tx.AddLinkKey(f.Context(), order.LinkKey{byte(1 + i)}, noon)
				return err
			})
			if err != nil {
				f.Errorf("add a key: %v", err)
			}
		})
	}
	group.Wait()
	for _, key := range stored {
		if key != stored[0] || key == (order.LinkKey{}) {
			f.Errorf("instances use different keys: %v", stored)
		}
	}
	second := order.LinkKey{99}
	testenv.NoError(f, f.a.InTx(f.Context(), func(tx order.Tx) error { return tx.ReplaceLinkKey(f.Context(), second, noon) }))
	if key, ok, err := f.b.LinkKey(f.Context()); key != second || !ok || err != nil {
		f.Errorf("after the replacement: %v, %v, error %v", key, ok, err)
	}
}

func testInvoiceByID(f *fixture) {
	key := order.ByLegacyID(f.create(minimal(alpha, "L-1")))
	other := f.create(minimal(alpha, "L-2"))
	id := f.upload(f.a, key, "a.pdf")
	reference, invoice, err := f.b.InvoiceByID(f.Context(), alpha, key.LegacyID, id)
	if err != nil || reference != "L-1" || invoice != withID(fileNamed("a.pdf", noon), id) {
		f.Errorf("%s %+v, error %v", reference, invoice, err)
	}
	reserved := f.mustReserve(f.a, key, "b.pdf", noon)
	for _, none := range [][3]int64{{beta, key.LegacyID, id}, {alpha, other, id}, {alpha, key.LegacyID, id + 1}, {alpha, key.LegacyID, reserved}} {
		if _, _, err := f.a.InvoiceByID(f.Context(), none[0], none[1], none[2]); !errors.Is(err, order.ErrInvoiceNotFound) {
			f.Errorf("%v: error %v", none, err)
		}
	}
}

func withID(invoice order.Invoice, id int64) order.Invoice {
	invoice.ID = id
	return invoice
}
