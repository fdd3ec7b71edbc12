package ingest

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// correction is the JSON form of a correction: the fields of the order document that
// may be corrected, all optional. Null is the value that stands for an absent field in
// an order document.
type correction struct {
	ExpiresAt     order.Field[*string]             `json:"expiresAt"`
	DispatchUntil order.Field[*string]             `json:"dispatchUntil"`
	Customer      order.Field[*customerCorrection] `json:"customer"`
	Shipping      order.Field[*addressCorrection]  `json:"shippingAddress"`
	Carrier       order.Field[*carrierCorrection]  `json:"carrier"`
}

type customerCorrection struct {
	Phone order.Field[*string] `json:"phone"`
}

type addressCorrection struct {
	FirstName    order.Field[string] `json:"firstName"`
	LastName     order.Field[string] `json:"lastName"`
	Phone        order.Field[string] `json:"phone"`
	Street       order.Field[string] `json:"street"`
	StreetNumber order.Field[string] `json:"streetNumber"`
	Address2     order.Field[string] `json:"address2"`
	PostCode     order.Field[string] `json:"postCode"`
	City         order.Field[string] `json:"city"`
	Region       order.Field[string] `json:"region"`
	RegionCode   order.Field[string] `json:"regionCode"`
}

type carrierCorrection struct {
	ShipmentIDs   order.Field[[]*int64] `json:"shipmentIds"`
	Name          order.Field[string]   `json:"name"`
	Method        order.Field[string]   `json:"method"`
	DeliveryName  order.Field[string]   `json:"deliveryName"`
	DeliveryKey   order.Field[string]   `json:"deliveryKey"`
	TrackingCodes order.Field[string]   `json:"trackingCodes"`
	Comments      order.Field[*string]  `json:"comments"`

	DeliveryToCourierEstimation  order.Field[*string] `json:"deliveryToCourierEstimationDate"`
	DeliveryToCustomerEstimation order.Field[*string] `json:"deliveryToCustomerEstimationDate"`
}

// fields decodes members of objects: order.Field tells null, which is its zero value, from
// absent.
var fields = json.WithUnmarshalers(json.JoinUnmarshalers(fieldOf[string](), fieldOf[*string](), fieldOf[[]*int64](),
	fieldOf[*customerCorrection](), fieldOf[*addressCorrection](), fieldOf[*carrierCorrection]()))

func fieldOf[T any]() *json.Unmarshalers {
	return json.UnmarshalFromFunc(func(d *jsontext.Decoder, field *order.Field[T]) error {
		field.Set = true
		return json.UnmarshalDecode(d, &field.Value)
	})
}

// ParseCorrection reads a correction of an order, with the rules of the order document
// for each field. It returns a *DocumentError if it is invalid. The result does not
// refer to text.
func ParseCorrection(text []byte) (order.Correction, error) {
	var given correction
	if err := decode(text, &given, fields); err != nil {
		return order.Correction{}, err
	}
	if problem := checkTexts(text); problem != nil {
		return order.Correction{}, problem
	}
	r := reader{line: -1}
	c := order.Correction{
		ExpiresAt:     r.correctedTime("expiresAt", given.ExpiresAt),
		DispatchUntil: r.correctedTime("dispatchUntil", given.DispatchUntil),
		Phone:         members(&r, "customer", given.Customer).Phone,
		Shipping:      order.AddressCorrection(members(&r, "shippingAddress", given.Shipping)),
		Carrier:       r.carrierCorrection(members(&r, "carrier", given.Carrier)),
	}
	if r.problem != nil {
		return order.Correction{}, r.problem
	}
	return c, nil
}

// members returns the members of an object, none if it is absent.
func members[T any](r *reader, field string, given order.Field[*T]) T {
	if given.Set && given.Value == nil {
		r.refuse(field, "must be an object")
	}
	if given.Value == nil {
		var none T
		return none
	}
	return *given.Value
}

func (r *reader) correctedTime(field string, given order.Field[*string]) order.Field[time.Time] {
	return order.Field[time.Time]{Set: given.Set, Value: r.timestamp(field, given.Value)}
}

func (r *reader) carrierCorrection(given carrierCorrection) order.CarrierCorrection {
	ids := order.Field[[]int64]{Set: given.ShipmentIDs.Set}
	if given.ShipmentIDs.Value != nil {
		ids.Value = r.shipmentIDs(given.ShipmentIDs.Value)
	}
	return order.CarrierCorrection{
		ShipmentIDs: ids, Name: given.Name, Method: given.Method, DeliveryName: given.DeliveryName, DeliveryKey: given.DeliveryKey,
		TrackingCodes: given.TrackingCodes, Comments: given.Comments,
		DeliveryToCourierEstimation: given.DeliveryToCourierEstimation, DeliveryToCustomerEstimation: given.DeliveryToCustomerEstimation,
	}
}
