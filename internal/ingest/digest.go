package ingest

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"merchantorders/internal/order"
)

// digestForm opens every encoding. It changes when the encoding does: digests
// are stored, and those of two forms must never be equal by chance.
const digestForm = "order document 1\n"

// encodings keeps buffers for encodings that are only hashed.
var encodings = sync.Pool{New: func() any { return new(encoding) }}

// digest returns the SHA-256 of the canonical encoding of an order: its fields
// in the order below, after the defaults, without its number and without what
// the service itself adds to an order. No field has a name and each says by
// itself where it ends:
//
//	number    signed varint; times are seconds of Unix, days and states their number
//	text      length + 1 as unsigned varint, then its bytes; 0 alone when there is none
//	boolean   1 or 0
//	list      its length as unsigned varint, then its elements
//	flag      0 for null, 1 for false, 2 for true, 3 and a text
//	attributes  a text: their canonical JSON
func digest(o *order.Order) [sha256.Size]byte {
	e := encodings.Get().(*encoding)
	defer encodings.Put(e)
	e.b = append(e.b[:0], digestForm...)
	e.number(o.MerchantID)
	e.text(o.Reference)
	e.number(int64(o.State))
	e.text(o.Currency)
	e.text(o.CountryCode)
	e.number(o.CreatedAt.Unix())
	e.number(o.UpdatedAt.Unix())
	e.number(o.ExpiresAt.Unix())
	e.number(o.DispatchUntil.Unix())
	e.number(o.Subtotal)
	e.number(o.Discount)
	e.number(o.Total)
	e.nullable(o.Notes)
	e.customer(&o.Customer)
	e.address(&o.Billing)
	e.address(&o.Shipping)
	e.carrier(&o.Carrier)
	e.text(o.PaymentName)
	e.invoiceDetails(o.InvoiceDetails)
	e.length(len(o.LineItems))
	for i := range o.LineItems {
		e.lineItem(&o.LineItems[i])
	}
	return sha256.Sum256(e.b)
}

// encoding is a canonical encoding being written.
type encoding struct{ b []byte }

func (e *encoding) number(n int64) { e.b = binary.AppendVarint(e.b, n) }

func (e *encoding) length(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

func (e *encoding) text(s string) {
	e.length(len(s) + 1)
	e.b = append(e.b, s...)
}

func (e *encoding) nullable(s *string) {
	if s == nil {
		e.length(0)
		return
	}
	e.text(*s)
}

func (e *encoding) boolean(v bool) {
	if v {
		e.b = append(e.b, 1)
		return
	}
	e.b = append(e.b, 0)
}

func (e *encoding) flag(v any) {
	switch v := v.(type) {
	case bool:
		e.b = append(e.b, 1)
		if v {
			e.b[len(e.b)-1] = 2
		}
	case string:
		e.b = append(e.b, 3)
		e.text(v)
	default:
		e.b = append(e.b, 0)
	}
}

func (e *encoding) customer(c *order.Customer) {
	e.number(c.UserID)
	e.text(c.Email)
	e.nullable(c.Phone)
	e.text(c.FirstName)
	e.text(c.LastName)
	e.text(c.Company)
}

func (e *encoding) address(a *order.Address) {
	e.text(a.FirstName)
	e.text(a.LastName)
	e.text(a.Street)
	e.text(a.StreetNumber)
	e.text(a.Address2)
	e.text(a.City)
	e.text(a.Region)
	e.text(a.RegionCode)
	e.text(a.Country)
	e.text(a.CountryCode)
	e.text(a.PostCode)
	e.text(a.Phone)
	e.text(a.Type)
}

func (e *encoding) carrier(c *order.Carrier) {
	e.length(len(c.ShipmentIDs))
	for _, id := range c.ShipmentIDs {
		e.number(id)
	}
	e.text(c.Name)
	e.text(c.Method)
	e.text(c.DeliveryName)
	e.text(c.DeliveryKey)
	e.text(c.TrackingCodes)
	e.nullable(c.Comments)
	e.nullable(c.DeliveryToCourierEstimation)
	e.nullable(c.DeliveryToCustomerEstimation)
}

func (e *encoding) invoiceDetails(d *order.InvoiceDetails) {
	e.boolean(d != nil)
	if d == nil {
		return
	}
	e.nullable(d.TaxOfficeCode)
	e.nullable(d.TaxOfficeName)
	e.text(d.VATNumber)
	e.nullable(d.Company)
	e.nullable(d.Occupation)
	e.nullable(d.Address)
	e.nullable(d.PostCode)
	e.nullable(d.City)
	e.nullable(d.Article39)
	e.flag(d.Article39Eligible)
	e.nullable(d.Article39IdentityType)
	e.nullable(d.Article39IdentityNo)
	e.nullable(d.Article39MobilePhone)
	e.nullable(d.Article39OTP)
	e.flag(d.Article39Valid)
}

func (e *encoding) lineItem(l *order.LineItem) {
	e.number(l.ID)
	e.text(l.ProductID)
	e.text(l.ProductCode)
	e.text(l.SKU)
	e.text(l.MerchantSKU)
	e.text(l.MerchantEAN)
	e.text(l.ProductName)
	e.text(l.ProductStatus)
	e.text(l.MasterProductCode)
	e.text(l.ProductURL)
	e.nullable(l.EAN)
	e.number(l.UnitPrice)
	e.number(l.OriginalUnitPrice)
	e.number(l.BasePrice)
	e.number(l.TotalPrice)
	e.number(l.Quantity)
	e.text(l.Article39Status)
	e.boolean(l.Article39Valid)
	e.boolean(l.GiftWrap)
	e.attributes(l.ExtendedAttributes)
	e.number(int64(l.PickupDate))
	e.number(int64(l.DeliveryDate))
}
