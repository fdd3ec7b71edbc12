package storetest

import (
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// testWithoutInvoice reads the orders that have no invoice file and want one, a page at a
// time, while they change: an order that stays is on a page, whatever happens to the others
// and to its reservations.
func testWithoutInvoice(f *fixture) {
	wanting := func(merchantID int64, reference string, hour int, state order.State) {
		o := dated(merchantID, reference, noon.Add(time.Duration(hour)*time.Hour), state)
		o.InvoiceDetails = &order.InvoiceDetails{VATNumber: "1"}
		f.create(o)
	}
	for i, state := range order.States() {
		wanting(alpha, state.String(), i/2, state) // two of a time
	}
	wanting(alpha, "with a file", -1, order.InProcessing)
	wanting(alpha, "reserved and a file", -1, order.InProcessing)
	wanting(beta, "foreign", -1, order.InProcessing)
	f.create(dated(alpha, "not wanted", noon.Add(-time.Hour), order.InProcessing))
	f.upload(f.a, order.ByReference("with a file"), "a.pdf")
	f.upload(f.a, order.ByReference("reserved and a file"), "a.pdf")
	f.mustReserve(f.a, order.ByReference("reserved and a file"), "b.pdf", noon)
	read := func(limit int, between func(page string)) (all string) {
		for after, more := (*order.Cursor)(nil), true; more; {
			page := ""
			orders := testenv.Of(f.b.WithoutInvoice(f.Context(), alpha, after, limit)).Must(f)
			for _, o := range orders {
				page += o.Reference + " "
			}
			if between(page); len(orders) > 0 {
				after = orders[len(orders)-1].Key()
			}
			all, more = all+page, len(orders) == limit
		}
		return all
	}
	nothing := func(string) {}
	const all = "registered in-processing ready-for-shipment picked-by-courier delivered-to-pickup-point delivery-failed completed delivered-to-customer return-canceled "
	for _, limit := range []int{1, 2, 4, 100} {
		testenv.Equal(f, "orders", all, read(limit, nothing))
	}
	// Uploads begin and end: files become active, are deleted, and never come.
	ofFile := map[string]int64{}
	for _, name := range []string{"registered", "delivery-failed"} {
		ofFile[name] = f.mustReserve(f.a, order.ByReference(name), "a.pdf", noon)
	}
	f.mustReserve(f.a, order.ByReference("delivery-failed"), "b.pdf", noon)
	testenv.Equal(f, "with reservations", all, read(2, nothing))
	deleted := f.upload(f.a, order.ByReference("completed"), "a.pdf")
	page := 0
	got := read(2, func(string) {
		switch page++; page {
		case 1: // behind the cursor, and before it
			testenv.NoError(f, f.activate(f.a, order.ByReference("registered"), ofFile["registered"]))
			testenv.NoError(f, f.release(f.a, order.ByReference("delivery-failed"), ofFile["delivery-failed"]))
			f.mustReserve(f.a, order.ByReference("picked-by-courier"), "a.pdf", noon)
		case 2:
			testenv.Of(f.remove(f.a, order.ByReference("completed"), deleted, noon)).Must(f)
		}
	})
	testenv.Equal(f, "while they change", all, got)
	testenv.Equal(f, "afterwards", all[len("registered "):], read(2, nothing))
}
