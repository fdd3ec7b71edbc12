package ingest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// document is the JSON form of the order document (decision 7). A nil pointer
// means that the field is absent or null, which is the same. Fields whose
// default is the zero value need no pointer. A struct with the fields of its
// counterpart in package order is converted to it.
type document struct {
	MerchantID    *int64           `json:"merchantId"`
	Reference     *string          `json:"reference"`
	OrderID       *int64           `json:"orderId"`
	State         *string          `json:"state"`
	Currency      *string          `json:"currency"`
	CountryCode   *string          `json:"countryCode"`
	CreatedAt     *string          `json:"createdAt"`
	UpdatedAt     *string          `json:"updatedAt"`
	ExpiresAt     *string          `json:"expiresAt"`
	DispatchUntil *string          `json:"dispatchUntil"`
	Subtotal      *int64           `json:"subtotal"`
	Discount      int64            `json:"discount"`
	Total         *int64           `json:"total"`
	Shipped       *int64           `json:"shippingAmount,omitzero"` // omitted for earlier versions, which refuse it
	ShippedVAT    string           `json:"shippingVatRate,omitzero"`
	Notes         *string          `json:"notes"`
	Customer      *customer        `json:"customer"`
	Billing       *address         `json:"billingAddress"`
	Shipping      *shippingAddress `json:"shippingAddress"`
	Carrier       carrier          `json:"carrier"`
	Payment       payment          `json:"payment"`
	Invoice       *invoiceDetails  `json:"invoiceDetails"`
	LineItems     []lineItem       `json:"lineItems"`
}

// order returns the order of a document. It checks the fields in the order in
// which decision 7 lists them.
func (r *reader) order(doc *document) order.Order {
	o := order.Order{
		MerchantID: r.required("merchantId", doc.MerchantID, 1),
		Reference:  r.reference(doc.Reference),
		LegacyID:   r.id("orderId", doc.OrderID, 1),
		State:      r.state(doc.State),
		Currency:   r.currency(doc.Currency),

		CreatedAt:     r.requiredTimestamp("createdAt", doc.CreatedAt),
		UpdatedAt:     r.timestamp("updatedAt", doc.UpdatedAt),
		ExpiresAt:     r.timestamp("expiresAt", doc.ExpiresAt),
		DispatchUntil: r.timestamp("dispatchUntil", doc.DispatchUntil),

		Discount: r.optional("discount", &doc.Discount, 0, 0),
		Total:    r.required("total", doc.Total, 0),
		Notes:    doc.Notes,

		ShippingAmount:  doc.Shipped,
		ShippingVATRate: r.vatRate("shippingVatRate", doc.ShippedVAT),

		PaymentName: doc.Payment.Name,
	}
	r.optional("shippingAmount", doc.Shipped, 0, 0)
	o.Customer = r.customer(doc.Customer)
	o.Billing, o.Shipping = r.addresses(doc.Billing, doc.Shipping)
	o.CountryCode = o.Shipping.CountryCode
	if doc.CountryCode != nil {
		o.CountryCode = *doc.CountryCode
	}
	o.Carrier = r.carrier(&doc.Carrier)
	o.InvoiceDetails = r.invoiceDetails(doc.Invoice)
	o.LineItems, o.Subtotal = r.lineItems(doc.LineItems)
	r.computed("subtotal", doc.Subtotal, o.Subtotal, "must be the sum of the lines' totals")
	return o
}

// Encode returns an order as the order document from which it could be imported, with
// all fields.
func Encode(o *order.Order) ([]byte, error) {
	c, billing := customer(o.Customer), address(o.Billing)
	shipping := shippingAddress{address: address(o.Shipping), Type: o.Shipping.Type}
	state := o.State.String()
	doc := document{
		MerchantID: &o.MerchantID, Reference: &o.Reference, OrderID: &o.LegacyID, State: &state,
		Currency: &o.Currency, CountryCode: &o.CountryCode,
		CreatedAt: timestampText(o.CreatedAt), UpdatedAt: timestampText(o.UpdatedAt),
		ExpiresAt: timestampText(o.ExpiresAt), DispatchUntil: timestampText(o.DispatchUntil),
		Subtotal: &o.Subtotal, Discount: o.Discount, Total: &o.Total, Shipped: o.ShippingAmount, ShippedVAT: o.ShippingVATRate, Notes: o.Notes,
		Customer: &c, Billing: &billing, Shipping: &shipping, Payment: payment{Name: o.PaymentName},
		Carrier: carrier{
			ShipmentIDs: []*int64{}, Name: o.Carrier.Name, Method: o.Carrier.Method, DeliveryName: o.Carrier.DeliveryName,
			DeliveryKey: o.Carrier.DeliveryKey, TrackingCodes: o.Carrier.TrackingCodes, Comments: o.Carrier.Comments,
			DeliveryToCourierEstimation:  o.Carrier.DeliveryToCourierEstimation,
			DeliveryToCustomerEstimation: o.Carrier.DeliveryToCustomerEstimation,
		},
	}
	for i := range o.Carrier.ShipmentIDs {
		doc.Carrier.ShipmentIDs = append(doc.Carrier.ShipmentIDs, &o.Carrier.ShipmentIDs[i])
	}
	if o.InvoiceDetails != nil {
		details := invoiceDetails(*o.InvoiceDetails)
		doc.Invoice = &details
	}
	for i := range o.LineItems {
		doc.LineItems = append(doc.LineItems, encodeLine(&o.LineItems[i]))
	}
	return json.Marshal(&doc)
}

func (r *reader) reference(given *string) string {
	if given == nil {
		r.require("reference", "is required")
		return ""
	}
	switch {
	case slices.Contains(order.ReservedReferences, *given):
		r.refuse("reference", "must not be "+*given+", which is a path of the interfaces")
	case !order.ValidReference(*given):
		r.refuse("reference", "must be 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit")
	}
	return *given
}

func (r *reader) state(given *string) order.State {
	if given == nil {
		return order.Registered
	}
	state, ok := order.ParseState(*given)
	if !ok {
		r.refuse("state", "must be one of "+order.StateNames())
	}
	return state
}

// defaultCurrency is the currency of a document without one (decision 7).
const defaultCurrency = "EUR"

func (r *reader) currency(given *string) string {
	if given == nil {
		return defaultCurrency
	}
	if !order.ValidCurrency(*given) {
		r.refuse("currency", "must be three capital letters")
	}
	return *given
}

func (r *reader) customer(given *customer) order.Customer {
	if given == nil {
		r.require("customer", "is required")
		return order.Customer{}
	}
	r.optional("customer.userId", &given.UserID, 0, 0)
	return order.Customer(*given)
}

// addresses returns the billing and the shipping address. The billing address
// defaults to the shipping address.
func (r *reader) addresses(billing *address, shipping *shippingAddress) (order.Address, order.Address) {
	if shipping == nil {
		r.require("shippingAddress", "is required")
		return order.Address{}, order.Address{}
	}
	ship := order.Address(shipping.address)
	bill := ship
	if billing != nil {
		bill = order.Address(*billing)
	}
	ship.Type = shipping.Type
	return bill, ship
}

func (r *reader) carrier(given *carrier) order.Carrier {
	return order.Carrier{
		ShipmentIDs:   r.shipmentIDs(given.ShipmentIDs),
		Name:          given.Name,
		Method:        given.Method,
		DeliveryName:  given.DeliveryName,
		DeliveryKey:   given.DeliveryKey,
		TrackingCodes: given.TrackingCodes,
		Comments:      given.Comments,

		DeliveryToCourierEstimation:  given.DeliveryToCourierEstimation,
		DeliveryToCustomerEstimation: given.DeliveryToCustomerEstimation,
	}
}

func (r *reader) shipmentIDs(given []*int64) []int64 {
	ids := make([]int64, 0, len(given))
	for i, id := range given {
		if id == nil {
			r.refuse("carrier.shipmentIds["+strconv.Itoa(i)+"]", "must be a whole number")
			break
		}
		ids = append(ids, *id)
	}
	return ids
}

func (r *reader) invoiceDetails(given *invoiceDetails) *order.InvoiceDetails {
	if given == nil {
		return nil
	}
	r.flag("invoiceDetails.article39Eligible", given.Article39Eligible)
	r.flag("invoiceDetails.article39Valid", given.Article39Valid)
	if given.VATNumber == "" {
		r.require("invoiceDetails.vatNumber", "is required and must not be empty")
	}
	details := order.InvoiceDetails(*given)
	return &details
}

// flag refuses a value that is not text, a bool or null (decision 4).
func (r *reader) flag(field string, given any) {
	switch given.(type) {
	case nil, bool, string:
	default:
		r.refuse(field, "must be text, true, false or null")
	}
}

// timestampText returns a time as text; nil for the zero time.
func timestampText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// dayText returns a day as text; nil for none.
func dayText(d order.Day) *string {
	if d == order.NoDay {
		return nil
	}
	text := d.String()
	return &text
}
