// Package orderpb encodes order documents as protocol buffers: whole ones for the digest
// that imports compare, and the details of an order, which a store keeps in this form. It
// does not know where. order.proto defines the messages;
// scripts/generate writes order.pb.go.
package orderpb

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"merchantorders/internal/order"
)

// EncodeDetails returns the details of an order as they are stored.
func EncodeDetails(o *order.Order) ([]byte, error) { return encode(newDetails(o), o) }

func encode(d *Details, o *order.Order) ([]byte, error) {
	encoded, err := proto.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the details of order %s: %w", o.Reference, err)
	}
	return encoded, nil
}

func decode(encoded []byte, o *order.Order) (*Details, error) {
	d := new(Details)
	if err := proto.Unmarshal(encoded, d); err != nil {
		return nil, fmt.Errorf("decode the details of order %s: %w", o.Reference, err)
	}
	return d, nil
}

// CorrectDetails returns stored details with the fields that a correction
// of the order may change. It keeps what a newer version has written.
func CorrectDetails(encoded []byte, o *order.Order) ([]byte, error) {
	d, err := decode(encoded, o)
	if err != nil {
		return nil, err
	}
	toMessage.deadlines(o, d)
	toMessage.address(&o.Shipping, made(&d.Shipping))
	toMessage.carrier(&o.Carrier, made(&d.Carrier))
	return encode(d, o)
}

// DecodeDetails sets the fields of an order that stored details have.
// It ignores fields that a newer version has written.
func DecodeDetails(encoded []byte, o *order.Order) error {
	d, err := decode(encoded, o)
	if err != nil {
		return err
	}
	toOrder.details(o, d)
	return nil
}

// newDocument returns the whole document of an order, without its legacy id and
// what the service itself adds.
func newDocument(o *order.Order) *Document {
	c := &o.Customer
	return &Document{
		MerchantId:  o.MerchantID,
		Reference:   o.Reference,
		State:       int64(o.State),
		Currency:    o.Currency,
		CountryCode: o.CountryCode,
		CreatedAt:   seconds(o.CreatedAt),
		UpdatedAt:   seconds(o.UpdatedAt),
		Total:       o.Total,
		Customer: &Customer{
			UserId: c.UserID, Email: c.Email, Phone: c.Phone,
			FirstName: c.FirstName, LastName: c.LastName, Company: c.Company,
		},
		Details: newDetails(o),
	}
}

func newDetails(o *order.Order) *Details {
	d := new(Details)
	toMessage.details(o, d)
	return d
}

// direction says whether fields are copied from an order to a message, or back, so that each
// is named once.
type direction bool

const (
	toMessage direction = false
	toOrder   direction = true
)

// move copies a field.
func move[T any](to direction, o, m *T) {
	if to == toOrder {
		*o = *m
	} else {
		*m = *o
	}
}

// convert copies a field that has another type in the message.
func convert[O, M any](to direction, o *O, m *M, encode func(O) M, decode func(M) O) {
	if to == toOrder {
		*o = decode(*m)
	} else {
		*m = encode(*o)
	}
}

// made returns what a pointer points to, which it makes if that is nothing.
func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func (to direction) details(o *order.Order, d *Details) {
	to.deadlines(o, d)
	move(to, &o.Subtotal, &d.Subtotal)
	move(to, &o.Discount, &d.Discount)
	move(to, &o.ShippingAmount, &d.ShippingAmount)
	move(to, &o.ShippingVATRate, &d.ShippingVatRate)
	move(to, &o.Notes, &d.Notes)
	move(to, &o.PaymentName, &d.PaymentName)
	to.address(&o.Billing, made(&d.Billing))
	to.address(&o.Shipping, made(&d.Shipping))
	to.carrier(&o.Carrier, made(&d.Carrier))
	if to == toOrder {
		o.InvoiceDetails = nil
		o.LineItems = make([]order.LineItem, len(d.LineItems))
	} else {
		d.LineItems = make([]*LineItem, len(o.LineItems))
	}
	if o.InvoiceDetails != nil || d.InvoiceDetails != nil {
		to.invoiceDetails(made(&o.InvoiceDetails), made(&d.InvoiceDetails))
	}
	for i := range o.LineItems {
		to.lineItem(&o.LineItems[i], made(&d.LineItems[i]))
	}
}

func (to direction) deadlines(o *order.Order, d *Details) {
	convert(to, &o.ExpiresAt, &d.ExpiresAt, seconds, timeOf)
	convert(to, &o.DispatchUntil, &d.DispatchUntil, seconds, timeOf)
}

func (to direction) address(o *order.Address, m *Address) {
	move(to, &o.FirstName, &m.FirstName)
	move(to, &o.LastName, &m.LastName)
	move(to, &o.Street, &m.Street)
	move(to, &o.StreetNumber, &m.StreetNumber)
	move(to, &o.Address2, &m.Address2)
	move(to, &o.City, &m.City)
	move(to, &o.Region, &m.Region)
	move(to, &o.RegionCode, &m.RegionCode)
	move(to, &o.Country, &m.Country)
	move(to, &o.CountryCode, &m.CountryCode)
	move(to, &o.PostCode, &m.PostCode)
	move(to, &o.Phone, &m.Phone)
	move(to, &o.Type, &m.Type)
}

func (to direction) carrier(o *order.Carrier, m *Carrier) {
	move(to, &o.ShipmentIDs, &m.ShipmentIds)
	move(to, &o.Name, &m.Name)
	move(to, &o.Method, &m.Method)
	move(to, &o.DeliveryName, &m.DeliveryName)
	move(to, &o.DeliveryKey, &m.DeliveryKey)
	move(to, &o.TrackingCodes, &m.TrackingCodes)
	move(to, &o.Comments, &m.Comments)
	move(to, &o.DeliveryToCourierEstimation, &m.DeliveryToCourierEstimation)
	move(to, &o.DeliveryToCustomerEstimation, &m.DeliveryToCustomerEstimation)
}

func (to direction) invoiceDetails(o *order.InvoiceDetails, m *InvoiceDetails) {
	move(to, &o.TaxOfficeCode, &m.TaxOfficeCode)
	move(to, &o.TaxOfficeName, &m.TaxOfficeName)
	move(to, &o.VATNumber, &m.VatNumber)
	move(to, &o.Company, &m.Company)
	move(to, &o.Occupation, &m.Occupation)
	move(to, &o.Address, &m.Address)
	move(to, &o.PostCode, &m.PostCode)
	move(to, &o.City, &m.City)
	move(to, &o.Article39, &m.Article39)
	convert(to, &o.Article39Eligible, &m.Article39Eligible, newFlag, flagOf)
	move(to, &o.Article39IdentityType, &m.Article39IdentityType)
	move(to, &o.Article39IdentityNo, &m.Article39IdentityNo)
	move(to, &o.Article39MobilePhone, &m.Article39MobilePhone)
	move(to, &o.Article39OTP, &m.Article39Otp)
	convert(to, &o.Article39Valid, &m.Article39Valid, newFlag, flagOf)
}

func (to direction) lineItem(o *order.LineItem, m *LineItem) {
	move(to, &o.ID, &m.Id)
	move(to, &o.ProductID, &m.ProductId)
	move(to, &o.ProductCode, &m.ProductCode)
	move(to, &o.SKU, &m.Sku)
	move(to, &o.MerchantSKU, &m.MerchantSku)
	move(to, &o.MerchantEAN, &m.MerchantEan)
	move(to, &o.ProductName, &m.ProductName)
	move(to, &o.ProductStatus, &m.ProductStatus)
	move(to, &o.MasterProductCode, &m.MasterProductCode)
	move(to, &o.ProductURL, &m.ProductUrl)
	move(to, &o.EAN, &m.Ean)
	move(to, &o.UnitPrice, &m.UnitPrice)
	move(to, &o.OriginalUnitPrice, &m.OriginalUnitPrice)
	move(to, &o.BasePrice, &m.BasePrice)
	move(to, &o.TotalPrice, &m.TotalPrice)
	move(to, &o.Quantity, &m.Quantity)
	move(to, &o.VATRate, &m.VatRate)
	move(to, &o.Article39Status, &m.Article39Status)
	move(to, &o.Article39Valid, &m.Article39Valid)
	move(to, &o.GiftWrap, &m.GiftWrap)
	move(to, (*[]byte)(&o.ExtendedAttributes), &m.ExtendedAttributes)
	convert(to, &o.PickupDate, &m.PickupDate, day, dayOf)
	convert(to, &o.DeliveryDate, &m.DeliveryDate, day, dayOf)
}

func newFlag(value any) *Flag {
	switch value := value.(type) {
	case bool:
		return &Flag{Value: &Flag_Boolean{value}}
	case string:
		return &Flag{Value: &Flag_Text{value}}
	}
	return nil
}

func flagOf(f *Flag) any {
	switch value := f.GetValue().(type) {
	case *Flag_Boolean:
		return value.Boolean
	case *Flag_Text:
		return value.Text
	}
	return nil
}

// seconds returns a time as Unix seconds; nil for the zero time.
func seconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	s := t.Unix()
	return &s
}

// day returns a day as its number; nil for order.NoDay.
func day(d order.Day) *int32 {
	if d == order.NoDay {
		return nil
	}
	n := int32(d)
	return &n
}

func timeOf(seconds *int64) time.Time {
	if seconds == nil {
		return time.Time{}
	}
	return time.Unix(*seconds, 0).UTC()
}

func dayOf(n *int32) order.Day {
	if n == nil {
		return order.NoDay
	}
	return order.Day(*n)
}
