package ingest

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/testenv"
)

// notInDigest are the fields of an order that the digest does not cover: those
// that the document does not contain, and the legacy id.
var notInDigest = map[string]bool{
	"MerchantName": true, "Unreadable": true, "LegacyID": true, "Invoices": true, "InvoiceNumbers": true, "Revision": true, "MerchantData": true,
}

// TestDigestCoversTheWholeOrder changes each field of an order and of its parts.
// It fails if a field of the domain is missing in the digest.
// Proves decision 7 (other content).
func TestDigestCoversTheWholeOrder(t *testing.T) {
	t.Parallel()
	o := order.Order{
		InvoiceDetails: &order.InvoiceDetails{}, LineItems: []order.LineItem{{}}, Carrier: order.Carrier{ShipmentIDs: []int64{1}},
	}
	digest := func(o *order.Order) [32]byte { return orderpb.Digest(o, canonicalAttributes) }
	before := digest(&o)
	changed := 0
	each(reflect.ValueOf(&o).Elem(), "Order", func(field reflect.Value, name string) {
		old := reflect.New(field.Type()).Elem()
		old.Set(field)
		change(t, field, name)
		if digest(&o) == before {
			t.Errorf("%s: a change does not change the digest", name)
		}
		field.Set(old)
		changed++
	})
	if after := digest(&o); after != before || changed < 80 {
		t.Errorf("%d fields changed and restored, digest %x, want %x", changed, after, before)
	}
	for name := range notInDigest {
		field := reflect.ValueOf(&o).Elem().FieldByName(name)
		if name != "Invoices" {
			each(field, name, func(part reflect.Value, name string) { change(t, part, name) })
		}
	}
	testenv.Equal(t, "digest without the fields of notInDigest", before, digest(&o))
}

// each visits every value of a struct and of its parts.
func each(value reflect.Value, name string, visit func(reflect.Value, string)) {
	switch {
	case value.Type() == reflect.TypeFor[time.Time]():
		visit(value, name)
	case value.Kind() == reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i).Name
			if name != "Order" || !notInDigest[field] {
				each(value.Field(i), name+"."+field, visit)
			}
		}
	case value.Kind() == reflect.Slice && value.Type().Elem().Kind() != reflect.Uint8:
		each(value.Index(0), name+"[0]", visit)
	case value.Kind() == reflect.Pointer && !value.IsNil():
		each(value.Elem(), name, visit)
	default:
		visit(value, name)
	}
}

// change sets a field to a value other than the zero value and 1.
func change(t *testing.T, field reflect.Value, name string) {
	t.Helper()
	var other any
	switch field.Interface().(type) {
	case time.Time:
		other = time.Unix(1, 0)
	case string:
		other = "x"
	case *string:
		other = new(string)
	case *int64:
		other = new(int64)
	case bool:
		other = true
	case json.RawMessage:
		other = json.RawMessage(`["x"]`)
	case nil: // of type any
		other = false
	default:
		if !field.CanConvert(reflect.TypeFor[int64]()) {
			t.Fatalf("%s: unsupported type %s", name, field.Type())
		}
		field.Set(reflect.ValueOf(int64(2)).Convert(field.Type()))
		return
	}
	field.Set(reflect.ValueOf(other))
}

func TestCanonicalNumber(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"0": "0", "-0": "0", "0.00e7": "0", "1": "1e0", "-1": "-1e0", "10": "1e1", "100.0": "1e2", "1.50": "15e-1",
		"-0.0012": "-12e-4", "1e2": "1e2", "1E+02": "1e2", "1e-2": "1e-2", "123456789012345678901234567890": "12345678901234567890123456789e1",
		"1e2147483647": "1e2147483647", "10e2147483647": "1e2147483648", "1e99999999999": "1e99999999999",
	} {
		testenv.Equal(t, number, want, canonicalNumber(number))
	}
}
