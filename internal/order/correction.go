package order

import (
	"reflect"
	"slices"
	"time"
)

// Field is the new value of a field, if it is set.
type Field[T any] struct {
	Set   bool
	Value T
}

// To returns a field with a new value.
func To[T any](value T) Field[T] { return Field[T]{Set: true, Value: value} }

// Correction is the fields of an order that the marketplace corrects. The fields are
// those of Order with the same names, so a value that is set may be the one that
// stands for none.
type Correction struct {
	ExpiresAt     Field[time.Time]
	DispatchUntil Field[time.Time]
	Phone         Field[*string] // of the customer
	Shipping      AddressCorrection
	Carrier       CarrierCorrection
}

// AddressCorrection is the fields of the shipping address that are corrected. The country
// is none of them: amounts and the carrier follow from it.
type AddressCorrection struct {
	FirstName    Field[string]
	LastName     Field[string]
	Phone        Field[string]
	Street       Field[string]
	StreetNumber Field[string]
	Address2     Field[string]
	PostCode     Field[string]
	City         Field[string]
	Region       Field[string]
	RegionCode   Field[string]
}

// CarrierCorrection is the fields of a Carrier that are corrected.
type CarrierCorrection struct {
	ShipmentIDs   Field[[]int64]
	Name          Field[string]
	Method        Field[string]
	DeliveryName  Field[string]
	DeliveryKey   Field[string]
	TrackingCodes Field[string]
	Comments      Field[*string]

	DeliveryToCourierEstimation  Field[*string]
	DeliveryToCustomerEstimation Field[*string]
}

// Empty reports whether no field is set.
func (c Correction) Empty() bool { return reflect.ValueOf(c).IsZero() }

// Apply sets the corrected fields of an order. It returns the names that those whose
// value changes have in the order document.
func (c Correction) Apply(o *Order) (changed []string) {
	r, carrier := c.Carrier, &o.Carrier
	s, shipping := c.Shipping, &o.Shipping
	for _, field := range []struct {
		name    string
		changed bool
	}{
		{"expiresAt", apply(&o.ExpiresAt, c.ExpiresAt, time.Time.Equal)},
		{"dispatchUntil", apply(&o.DispatchUntil, c.DispatchUntil, time.Time.Equal)},
		{"customer.phone", apply(&o.Customer.Phone, c.Phone, equalTexts)},
		{"shippingAddress.firstName", apply(&shipping.FirstName, s.FirstName, equal)},
		{"shippingAddress.lastName", apply(&shipping.LastName, s.LastName, equal)},
		{"shippingAddress.phone", apply(&shipping.Phone, s.Phone, equal)},
		{"shippingAddress.street", apply(&shipping.Street, s.Street, equal)},
		{"shippingAddress.streetNumber", apply(&shipping.StreetNumber, s.StreetNumber, equal)},
		{"shippingAddress.address2", apply(&shipping.Address2, s.Address2, equal)},
		{"shippingAddress.postCode", apply(&shipping.PostCode, s.PostCode, equal)},
		{"shippingAddress.city", apply(&shipping.City, s.City, equal)},
		{"shippingAddress.region", apply(&shipping.Region, s.Region, equal)},
		{"shippingAddress.regionCode", apply(&shipping.RegionCode, s.RegionCode, equal)},
		{"carrier.shipmentIds", apply(&carrier.ShipmentIDs, r.ShipmentIDs, slices.Equal)},
		{"carrier.name", apply(&carrier.Name, r.Name, equal)},
		{"carrier.method", apply(&carrier.Method, r.Method, equal)},
		{"carrier.deliveryName", apply(&carrier.DeliveryName, r.DeliveryName, equal)},
		{"carrier.deliveryKey", apply(&carrier.DeliveryKey, r.DeliveryKey, equal)},
		{"carrier.trackingCodes", apply(&carrier.TrackingCodes, r.TrackingCodes, equal)},
		{"carrier.comments", apply(&carrier.Comments, r.Comments, equalTexts)},
		{"carrier.deliveryToCourierEstimationDate", apply(&carrier.DeliveryToCourierEstimation, r.DeliveryToCourierEstimation, equalTexts)},
		{"carrier.deliveryToCustomerEstimationDate", apply(&carrier.DeliveryToCustomerEstimation, r.DeliveryToCustomerEstimation, equalTexts)},
	} {
		if field.changed {
			changed = append(changed, field.name)
		}
	}
	return changed
}

// Personal reports whether the correction sets personal data, which Order.Erase would
// replace.
func (c Correction) Personal() bool {
	var o Order
	c.Apply(&o)
	o.Erase()
	return len(c.Apply(&o)) > 0
}

// apply sets a field and reports whether its value has changed.
func apply[T any](to *T, field Field[T], same func(T, T) bool) bool {
	if !field.Set || same(*to, field.Value) {
		return false
	}
	*to = field.Value
	return true
}

func equal(a, b string) bool { return a == b }

func equalTexts(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
