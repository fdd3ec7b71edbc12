package console

import (
	"cmp"
	"slices"
	"strings"

	"merchantorders/internal/order"
)

// field is a value of an order with the key of its label.
type field struct {
	Label, Value string
	Link         string // where the value leads to; empty: nowhere
}

// Copied reports whether people take the value to another program.
func (f field) Copied() bool { return f.Label == "carrier.tracking" || f.Label == "invoice.vat" }

// fields collects those values that are given.
type fields []field

// add adds a value unless it is empty.
func (f *fields) add(label, value string) {
	if value != "" {
		*f = append(*f, field{Label: label, Value: value})
	}
}

// yesNo writes a value that documents give as a bool or as a text.
func (l language) yesNo(value any) string {
	switch value := value.(type) {
	case bool:
		if value {
			return l.text("yes")
		}
		return l.text("no")
	case string:
		return value
	}
	return ""
}

// invoiceFields returns the invoice that the customer asked for.
func (l language) invoiceFields(d *order.InvoiceDetails) fields {
	var f fields
	f.add("invoice.company", order.TextOf(d.Company))
	f.add("invoice.vat", d.VATNumber)
	f.add("invoice.office", joined(" · ", order.TextOf(d.TaxOfficeCode), order.TextOf(d.TaxOfficeName)))
	f.add("invoice.occupation", order.TextOf(d.Occupation))
	f.add("invoice.address", joined(", ", order.TextOf(d.Address), joined(" ", order.TextOf(d.PostCode), order.TextOf(d.City))))
	return f
}

// article39Fields returns what the customer gave for Article 39, the exemption from
// VAT; nothing if it does not apply.
func (l language) article39Fields(d *order.InvoiceDetails) fields {
	var f fields
	f.add("a39.article", order.TextOf(d.Article39))
	f.add("a39.eligible", l.yesNo(d.Article39Eligible))
	f.add("a39.valid", l.yesNo(d.Article39Valid))
	f.add("a39.identity", joined(" ", order.TextOf(d.Article39IdentityType), order.TextOf(d.Article39IdentityNo)))
	f.add("a39.phone", order.TextOf(d.Article39MobilePhone))
	f.add("a39.otp", order.TextOf(d.Article39OTP))
	return f
}

// carrierFields returns the shipment of an order, whose tracking codes lead where a store's link
// says.
func (l language) carrierFields(c order.Carrier, link string) fields {
	var f fields
	f.add("carrier.name", c.Name)
	f.add("carrier.delivery", joined(" · ", c.DeliveryName, c.Method, c.DeliveryKey))
	codes := []string{c.TrackingCodes}
	if webURL(c.TrackingCodes) == "" {
		codes = strings.FieldsFunc(c.TrackingCodes, func(r rune) bool { return strings.ContainsRune(",;\n", r) })
	}
	for _, code := range codes {
		code = strings.TrimSpace(code)
		f = append(f, field{"carrier.tracking", code, trackingLink(link, code)})
	}
	f.add("carrier.shipments", numbers(c.ShipmentIDs))
	f.add("carrier.pickup", l.estimation(c.DeliveryToCourierEstimation))
	f.add("carrier.arrival", l.estimation(c.DeliveryToCustomerEstimation))
	f.add("carrier.comments", order.TextOf(c.Comments))
	return f
}

// estimation writes the courier's estimate of a day or a time as the page writes days and
// times, and any other text as it is.
func (l language) estimation(text *string) string {
	if day, ok := order.ParseDay(order.TextOf(text)); ok {
		return l.day(day.Start())
	}
	if t, ok := order.ParseTime(order.TextOf(text)); ok {
		return l.clock(t)
	}
	return order.TextOf(text)
}

// addressLines returns an address as people write it on a parcel, without its phone;
// nothing if it is empty.
func addressLines(a order.Address) []string {
	return slices.DeleteFunc([]string{
		joined(" ", a.FirstName, a.LastName),
		joined(" ", a.Street, a.StreetNumber),
		a.Address2,
		joined(" ", a.PostCode, a.City),
		joined(", ", a.Region, cmp.Or(a.Country, a.CountryCode)),
	}, isEmpty)
}

func isEmpty(text string) bool { return text == "" }

// sameAddress reports whether the invoice goes where the parcel does, which people read once.
func sameAddress(o order.Order) bool {
	return o.Billing.Phone == o.Shipping.Phone && slices.Equal(addressLines(o.Billing), addressLines(o.Shipping))
}

// codes returns the codes by which people find a line item in their warehouse.
func codes(item order.LineItem) fields {
	var f fields
	f.add("item.merchantsku", item.MerchantSKU)
	f.add("item.sku", item.SKU)
	f.add("item.ean", cmp.Or(item.MerchantEAN, order.TextOf(item.EAN)))
	if product := cmp.Or(item.ProductCode, item.ProductID); !slices.ContainsFunc(f, func(other field) bool { return other.Value == product }) {
		f.add("item.product", product)
	}
	return f
}

// attributes returns the extended attributes of a line item as JSON: the service does not
// know what they mean. It returns an empty text if there are none.
func attributes(item order.LineItem) string {
	if text := string(item.ExtendedAttributes); text != "[]" {
		return text
	}
	return ""
}

// joined joins the texts that are not empty.
func joined(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), isEmpty), separator)
}

// payment returns the name of a way to pay: of those that marketplaces use most, in the
// language of the page.
func (l language) payment(name string) string {
	switch name {
	case payOnDelivery, "card", "bank-transfer", "wallet":
		return l.text("payment." + name)
	}
	return name
}

// otherCharges returns what makes the total of an order other than its subtotal without
// the discount, such as shipping.
func otherCharges(o order.Order) int64 { return o.Total - o.Subtotal + o.Discount }
