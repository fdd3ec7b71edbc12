package ingest

import "merchantorders/internal/order"

// order reads everything that is not left to the parts of the document. The
// checks stand in the order of the document.
func (r *reading) order(doc *document) order.Order {
	o := order.Order{
		MerchantID: r.required("merchantId", doc.MerchantID, 1),
		Reference:  r.reference(doc.Reference),
		LegacyID:   r.optional("orderId", doc.OrderID, 0, 1),
		State:      r.state(doc.State),
		Currency:   r.currency(doc.Currency),

		CreatedAt:     r.requiredMoment("createdAt", doc.CreatedAt),
		UpdatedAt:     r.moment("updatedAt", doc.UpdatedAt),
		ExpiresAt:     r.moment("expiresAt", doc.ExpiresAt),
		DispatchUntil: r.moment("dispatchUntil", doc.DispatchUntil),

		Discount: r.optional("discount", &doc.Discount, 0, 0),
		Total:    r.required("total", doc.Total, 0),
		Notes:    doc.Notes,

		PaymentName: doc.Payment.Name,
	}
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

func (r *reading) reference(given *string) string {
	if given == nil {
		r.refuse("reference", "is required")
		return ""
	}
	if !order.ValidReference(*given) {
		r.refuse("reference", "must be 1 to 64 of A-Z a-z 0-9 . _ -, the first a letter or digit")
	}
	return *given
}

func (r *reading) state(given *string) order.State {
	if given == nil {
		return order.Registered
	}
	state, ok := order.ParseState(*given)
	if !ok {
		r.refuse("state", "is not the name of a state")
	}
	return state
}

// defaultCurrency is that of a document that names none (decision 7).
const defaultCurrency = "EUR"

func (r *reading) currency(given *string) string {
	if given == nil {
		return defaultCurrency
	}
	if !order.ValidCurrency(*given) {
		r.refuse("currency", "must be three capital letters")
	}
	return *given
}

func (r *reading) customer(given *customer) order.Customer {
	if given == nil {
		r.refuse("customer", "is required")
		return order.Customer{}
	}
	return order.Customer{
		UserID:    r.optional("customer.userId", &given.UserID, 0, 0),
		Email:     given.Email,
		Phone:     given.Phone,
		FirstName: given.FirstName,
		LastName:  given.LastName,
		Company:   given.Company,
	}
}

// addresses returns the billing and the shipping address; the first is the
// second where it is not given.
func (r *reading) addresses(billing *address, shipping *shippingAddress) (order.Address, order.Address) {
	if shipping == nil {
		r.refuse("shippingAddress", "is required")
		return order.Address{}, order.Address{}
	}
	ship := shipping.address.order()
	bill := ship
	if billing != nil {
		bill = billing.order()
	}
	ship.Type = shipping.Type
	return bill, ship
}

func (a *address) order() order.Address {
	return order.Address{
		FirstName: a.FirstName, LastName: a.LastName,
		Street: a.Street, StreetNumber: a.StreetNumber, Address2: a.Address2,
		City: a.City, Region: a.Region, RegionCode: a.RegionCode,
		Country: a.Country, CountryCode: a.CountryCode, PostCode: a.PostCode,
		Phone: a.Phone,
	}
}
