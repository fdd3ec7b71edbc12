package ingest_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestParseCorrection(t *testing.T) {
	t.Parallel()
	text := func(value string) order.Field[*string] { return order.To(&value) }
	want := order.Correction{
		ExpiresAt: order.To(time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC)), DispatchUntil: order.To(time.Time{}), Phone: text("210 0"),
		Shipping: order.AddressCorrection{FirstName: order.To("Άννα"), City: order.To(""), PostCode: order.To("11473")},
		Carrier: order.CarrierCorrection{
			ShipmentIDs: order.To([]int64{7, -1}), Name: order.To("ACS"), Method: order.To(""), DeliveryName: order.To("Next day"),
			DeliveryKey: order.To("k"), TrackingCodes: order.To("a,β"), Comments: order.To[*string](nil),
			DeliveryToCourierEstimation: text(""), DeliveryToCustomerEstimation: text("soon"),
		},
	}
	got, err := ingest.ParseCorrection([]byte(`{"expiresAt":"2026-11-20T10:15:30.9+02:00","dispatchUntil":null,"customer":{"phone":"210 0"},
		"shippingAddress":{"firstName":"Άννα","city":null,"postCode":"11473"},
		"carrier":{"shipmentIds":[7,-1],"name":"ACS","method":null,"deliveryName":"Next day","deliveryKey":"k","trackingCodes":"a,β",
		"comments":null,"deliveryToCourierEstimationDate":"","deliveryToCustomerEstimationDate":"soon"}}`))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	for _, empty := range []string{`{}`, `{"customer":{},"carrier":{}}`} {
		if got, err := ingest.ParseCorrection([]byte(empty)); err != nil || !got.Empty() {
			t.Errorf("%s: %+v, error %v", empty, got, err)
		}
	}
}

// TestCorrectionBadInput gives every field of a correction every kind of value.
// Proves decision 2 (reasons, corrections).
func TestCorrectionBadInput(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("ώ", 10_001) + `"`
	values := []string{`"x"`, `"2026-11-20"`, `1`, `1.5`, `true`, `{}`, `[]`, `[1]`, `["1"]`, `[null]`, `[9223372036854775808]`, `null`, `"\u0000"`, `"\ud800"`, long}
	texts := []string{`"x"`, `"2026-11-20"`, `null`}
	for field, good := range map[string][]string{
		"expiresAt": {`null`}, "dispatchUntil": {`null`}, "customer": {`{}`}, "carrier": {`{}`}, "shippingAddress": {`{}`},
		"shippingAddress.street": texts, "shippingAddress.phone": texts, "shippingAddress.countryCode": nil,
		"customer.phone": texts, "carrier.name": texts, "carrier.method": texts, "carrier.deliveryName": texts, "carrier.deliveryKey": texts,
		"carrier.trackingCodes": texts, "carrier.comments": texts,
		"carrier.deliveryToCourierEstimationDate": texts, "carrier.deliveryToCustomerEstimationDate": texts,
		"carrier.shipmentIds": {`[]`, `[1]`, `null`},
		"reference":           nil, "Carrier": nil, "carrier.Name": nil, "customer.email": nil,
	} {
		for _, value := range values {
			document := fmt.Sprintf(`{%q:%s}`, field, value)
			if object, member, nested := strings.Cut(field, "."); nested {
				document = fmt.Sprintf(`{%q:{%q:%s}}`, object, member, value)
			}
			_, err := ingest.ParseCorrection([]byte(document))
			refused := new(ingest.DocumentError)
			switch ok := slices.Contains(good, value); {
			case ok != (err == nil):
				t.Errorf("%.80s: error %v", document, err)
			case !ok && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Field, field)):
				t.Errorf("%.80s: error %v names another field", document, err)
			}
		}
	}
	for _, document := range []string{``, `[]`, `null`, `{`, `{}{}`, `{"carrier":{"name":"a","name":"b"}}`} {
		if _, err := ingest.ParseCorrection([]byte(document)); err == nil {
			t.Errorf("%s is accepted", document)
		}
	}
}

// TestCorrectionHasEveryField checks that each field of a correction is applied, is
// named, and is counted by Empty.
func TestCorrectionHasEveryField(t *testing.T) {
	t.Parallel()
	if !(order.Correction{}).Empty() {
		t.Error("the zero correction is not empty")
	}
	fields := 0
	var visit func(c *order.Correction, v reflect.Value)
	visit = func(c *order.Correction, v reflect.Value) {
		for i := range v.NumField() {
			field := v.Field(i)
			set := field.FieldByName("Set")
			if !set.IsValid() {
				visit(c, field)
				continue
			}
			fields++
			set.SetBool(true)
			switch value := field.FieldByName("Value"); value.Interface().(type) {
			case time.Time:
				value.Set(reflect.ValueOf(time.Unix(1, 0)))
			case string:
				value.SetString("x")
			case *string:
				value.Set(reflect.ValueOf(new(string)))
			case []int64:
				value.Set(reflect.ValueOf([]int64{1}))
			}
			var o order.Order
			changed, again := c.Apply(&o), c.Apply(&o)
			if c.Empty() || len(changed) != 1 || len(again) != 0 || reflect.DeepEqual(o, order.Order{}) {
				t.Errorf("%s: changed %q, again %q, empty %v", v.Type().Field(i).Name, changed, again, c.Empty())
			}
			field.SetZero()
		}
	}
	var c order.Correction
	visit(&c, reflect.ValueOf(&c).Elem())
	testenv.Equal(t, "fields", 22, fields)
}
