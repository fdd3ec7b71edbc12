package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var orderSubjects = []subject{
	{"orders/every field comes back", testRoundTrip},
	{"orders/invoice request kinds", testInvoiceRequestKinds},
	{"orders/another merchant's is not found", testForeignOrder},
	{"orders/times far away", testTimesFarAway},
}

func testRoundTrip(f *fixture) {
	full := rich(alpha, "RICH-1")
	if missing := zeroFields(reflect.ValueOf(full), "Order"); len(missing) > 0 {
		f.Fatalf("the rich order has nothing in %s", strings.Join(missing, ", "))
	}
	for _, o := range []order.Order{full, minimal(alpha, "a"), minimal(beta, strings.Repeat("x", order.MaxReferenceLength))} {
		name := map[int64]string{alpha: "Alpha Shop", beta: "Beta Shop"}[o.MerchantID]
		want := asRead(o, f.create(o), name)
		for _, key := range []order.Identifier{order.ByLegacyID(want.LegacyID), order.ByReference(want.Reference)} {
			got := f.order(f.b, o.MerchantID, key)
			testenv.Equal(f, fmt.Sprintf("order by %+v", key), want, got)
			if got.CreatedAt.Location() != time.UTC {
				f.Errorf("order by %+v: created at %v, which is not UTC", key, got.CreatedAt)
			}
		}
	}
}

// zeroFields names the fields of a struct that have their zero value, but for
// those that are filled on read.
func zeroFields(v reflect.Value, path string) []string {
	var zero []string
	for i := range v.NumField() {
		name, field := path+"."+v.Type().Field(i).Name, v.Field(i)
		switch name {
		case "Order.MerchantName", "Order.Unreadable", "Order.MerchantData", "Order.Invoices", "Order.InvoiceNumbers", "Order.Revision", "Order.Billing.Type":
			continue
		}
		if field.Kind() == reflect.Pointer && !field.IsNil() {
			field = field.Elem()
			if field.Kind() != reflect.Struct {
				continue
			}
		}
		switch {
		case field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]():
			zero = append(zero, zeroFields(field, name)...)
		case field.Kind() == reflect.Slice && field.Len() > 0 && field.Index(0).Kind() == reflect.Struct:
			zero = append(zero, zeroFields(field.Index(0), name)...)
		case field.IsZero():
			zero = append(zero, name)
		}
	}
	return zero
}

func testInvoiceRequestKinds(f *fixture) {
	for name, details := range map[string]*order.InvoiceDetails{
		"empty":      {},
		"true":       {VATNumber: "1", Article39Eligible: true, Article39Valid: false},
		"text":       {VATNumber: "1", Article39Eligible: "Y", Article39Valid: ""},
		"text-empty": {VATNumber: "1", Company: given("")},
	} {
		o := minimal(alpha, "invoice-"+name)
		o.InvoiceDetails = details
		number := f.create(o)
		testenv.Equal(f, fmt.Sprintf("invoice details %s", name), details, f.order(f.b, alpha, order.ByLegacyID(number)).InvoiceDetails)
		page := testenv.Of(f.b.List(f.Context(), alpha, order.NewFilter())).Must(f)
		if listed := page.Orders[0]; listed.LegacyID != number || !listed.HasInvoice {
			f.Errorf("%s: the list shows order %d, has invoice %v, want %d, true", name, listed.LegacyID, listed.HasInvoice, number)
		}
	}
}

func testForeignOrder(f *fixture) {
	number := f.create(minimal(alpha, "MINE"))
	for name, look := range map[string]struct {
		merchantID int64
		key        order.Identifier
	}{
		"foreign by number":    {beta, order.ByLegacyID(number)},
		"foreign by reference": {beta, order.ByReference("MINE")},
		"no such merchant":     {404, order.ByLegacyID(number)},
		"no such number":       {alpha, order.ByLegacyID(number + 1)},
		"no such reference":    {alpha, order.ByReference("MINE2")},
		"other letter case":    {alpha, order.ByReference("mine")},
	} {
		f.Run(name, func(t *testing.T) {
			testenv.Of(f.a.Order(t.Context(), look.merchantID, look.key)).WantError(t, "order", order.ErrNotFound)
			err := inOrder(t.Context(), f.a, look.merchantID, look.key, func(order.Tx, order.LockedOrder) error { return nil })
			testenv.Equal(t, "lock", order.ErrNotFound, err)
		})
	}
}

func testTimesFarAway(f *fixture) {
	for reference, at := range map[string]time.Time{
		"first":  time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC),
		"before": time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC),
		"epoch":  time.Unix(0, 0).UTC(),
		"last":   time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		o := minimal(alpha, reference)
		o.CreatedAt, o.UpdatedAt = at, at
		want := asRead(o, f.create(o), "Alpha Shop")
		testenv.Equal(f, reference, want, f.order(f.b, alpha, order.ByReference(reference)))
	}
}
