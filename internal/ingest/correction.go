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
	ExpiresAt     optional[string]             `json:"expiresAt"`
	DispatchUntil optional[string]             `json:"dispatchUntil"`
	Customer      optional[customerCorrection] `json:"customer"`
	Shipping      optional[addressCorrection]  `json:"shippingAddress"`
	Carrier       optional[carrierCorrection]  `json:"carrier"`
}

type customerCorrection struct {
	Phone optional[string] `json:"phone"`
}

type addressCorrection struct {
	FirstName    optional[string] `json:"firstName"`
	LastName     optional[string] `json:"lastName"`
	Phone        optional[string] `json:"phone"`
	Street       optional[string] `json:"street"`
	StreetNumber optional[string] `json:"streetNumber"`
	Address2     optional[string] `json:"address2"`
	PostCode     optional[string] `json:"postCode"`
	City         optional[string] `json:"city"`
	Region       optional[string] `json:"region"`
	RegionCode   optional[string] `json:"regionCode"`
}

type carrierCorrection struct {
	ShipmentIDs   optional[[]*int64] `json:"shipmentIds"`
	Name          optional[string]   `json:"name"`
	Method        optional[string]   `json:"method"`
	DeliveryName  optional[string]   `json:"deliveryName"`
	DeliveryKey   optional[string]   `json:"deliveryKey"`
	TrackingCodes optional[string]   `json:"trackingCodes"`
	Comments      optional[string]   `json:"comments"`

	DeliveryToCourierEstimation  optional[string] `json:"deliveryToCourierEstimationDate"`
	DeliveryToCustomerEstimation optional[string] `json:"deliveryToCustomerEstimationDate"`
}

// optional is a member of an object. It tells null from absent.
type optional[T any] struct {
	given bool
	value *T // nil: null
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *optional[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	o.given = true
	return json.UnmarshalDecode(d, &o.value)
}

// ParseCorrection reads a correction of an order, with the rules of the order document
// for each field. It returns a *DocumentError if it is invalid. The result does not
// refer to text.
func ParseCorrection(text []byte) (order.Correction, error) {
	if jsontext.Value(text).Kind() != '{' {
		return order.Correction{}, otherKind(text)
	}
	var given correction
	if err := json.Unmarshal(text, &given, knownOnly); err != nil {
		return order.Correction{}, decodingError(text, err)
	}
	if problem := checkTexts(text); problem != nil {
		return order.Correction{}, problem
	}
	r := reader{line: -1}
	c := order.Correction{
		ExpiresAt:     r.correctedTime("expiresAt", given.ExpiresAt),
		DispatchUntil: r.correctedTime("dispatchUntil", given.DispatchUntil),
		Phone:         nullable(members(&r, "customer", given.Customer).Phone),
		Shipping:      shippingCorrection(members(&r, "shippingAddress", given.Shipping)),
		Carrier:       r.carrierCorrection(members(&r, "carrier", given.Carrier)),
	}
	if r.problem != nil {
		return order.Correction{}, r.problem
	}
	return c, nil
}

// members returns the members of an object, none if it is absent.
func members[T any](r *reader, field string, given optional[T]) T {
	if given.given && given.value == nil {
		r.refuse(field, "must be an object")
	}
	if given.value == nil {
		var none T
		return none
	}
	return *given.value
}

func (r *reader) correctedTime(field string, given optional[string]) order.Field[time.Time] {
	return order.Field[time.Time]{Set: given.given, Value: r.timestamp(field, given.value)}
}

func shippingCorrection(given addressCorrection) order.AddressCorrection {
	return order.AddressCorrection{
		FirstName:    plain(given.FirstName),
		LastName:     plain(given.LastName),
		Phone:        plain(given.Phone),
		Street:       plain(given.Street),
		StreetNumber: plain(given.StreetNumber),
		Address2:     plain(given.Address2),
		PostCode:     plain(given.PostCode),
		City:         plain(given.City),
		Region:       plain(given.Region),
		RegionCode:   plain(given.RegionCode),
	}
}

func (r *reader) carrierCorrection(given carrierCorrection) order.CarrierCorrection {
	ids := order.Field[[]int64]{Set: given.ShipmentIDs.given}
	if given.ShipmentIDs.value != nil {
		ids.Value = r.shipmentIDs(*given.ShipmentIDs.value)
	}
	return order.CarrierCorrection{
		ShipmentIDs:   ids,
		Name:          plain(given.Name),
		Method:        plain(given.Method),
		DeliveryName:  plain(given.DeliveryName),
		DeliveryKey:   plain(given.DeliveryKey),
		TrackingCodes: plain(given.TrackingCodes),
		Comments:      nullable(given.Comments),

		DeliveryToCourierEstimation:  nullable(given.DeliveryToCourierEstimation),
		DeliveryToCustomerEstimation: nullable(given.DeliveryToCustomerEstimation),
	}
}

// nullable returns a text that may be absent.
func nullable(given optional[string]) order.Field[*string] {
	return order.Field[*string]{Set: given.given, Value: given.value}
}

// plain returns a text that is empty if it is absent.
func plain(given optional[string]) order.Field[string] {
	field := order.Field[string]{Set: given.given}
	if given.value != nil {
		field.Value = *given.value
	}
	return field
}
