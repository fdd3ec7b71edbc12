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
func EncodeDetails(o *order.Order) ([]byte, error) {
	encoded, err := proto.Marshal(newDetails(o))
	if err != nil {
		return nil, fmt.Errorf("encode the details of order %s: %w", o.Reference, err)
	}
	return encoded, nil
}

// CorrectDetails returns stored details with the fields that a correction
// of the order may change. It keeps what a newer version has written.
func CorrectDetails(encoded []byte, o *order.Order) ([]byte, error) {
	var d Details
	if err := proto.Unmarshal(encoded, &d); err != nil {
		return nil, fmt.Errorf("decode the details of order %s: %w", o.Reference, err)
	}
	carrier := newCarrier(&o.Carrier)
	if d.Carrier != nil {
		carrier.ProtoReflect().SetUnknown(d.Carrier.ProtoReflect().GetUnknown())
	}
	shipping := newAddress(&o.Shipping)
	if d.Shipping != nil {
		shipping.ProtoReflect().SetUnknown(d.Shipping.ProtoReflect().GetUnknown())
	}
	d.Shipping = shipping
	d.Carrier, d.ExpiresAt, d.DispatchUntil = carrier, seconds(o.ExpiresAt), seconds(o.DispatchUntil)
	corrected, err := proto.Marshal(&d)
	if err != nil {
		return nil, fmt.Errorf("encode the details of order %s: %w", o.Reference, err)
	}
	return corrected, nil
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
	d := &Details{
		ExpiresAt:      seconds(o.ExpiresAt),
		DispatchUntil:  seconds(o.DispatchUntil),
		Subtotal:       o.Subtotal,
		Discount:       o.Discount,
		ShippingAmount: o.ShippingAmount, ShippingVatRate: o.ShippingVATRate,
		Notes:          o.Notes,
		PaymentName:    o.PaymentName,
		Billing:        newAddress(&o.Billing),
		Shipping:       newAddress(&o.Shipping),
		Carrier:        newCarrier(&o.Carrier),
		InvoiceDetails: newInvoiceDetails(o.InvoiceDetails),
		LineItems:      make([]*LineItem, len(o.LineItems)),
	}
	for i := range o.LineItems {
		d.LineItems[i] = newLineItem(&o.LineItems[i])
	}
	return d
}

func newAddress(a *order.Address) *Address {
	return &Address{
		FirstName:    a.FirstName,
		LastName:     a.LastName,
		Street:       a.Street,
		StreetNumber: a.StreetNumber,
		Address2:     a.Address2,
		City:         a.City,
		Region:       a.Region,
		RegionCode:   a.RegionCode,
		Country:      a.Country,
		CountryCode:  a.CountryCode,
		PostCode:     a.PostCode,
		Phone:        a.Phone,
		Type:         a.Type,
	}
}

func newCarrier(c *order.Carrier) *Carrier {
	return &Carrier{
		ShipmentIds:                  c.ShipmentIDs,
		Name:                         c.Name,
		Method:                       c.Method,
		DeliveryName:                 c.DeliveryName,
		DeliveryKey:                  c.DeliveryKey,
		TrackingCodes:                c.TrackingCodes,
		Comments:                     c.Comments,
		DeliveryToCourierEstimation:  c.DeliveryToCourierEstimation,
		DeliveryToCustomerEstimation: c.DeliveryToCustomerEstimation,
	}
}

func newInvoiceDetails(d *order.InvoiceDetails) *InvoiceDetails {
	if d == nil {
		return nil
	}
	return &InvoiceDetails{
		TaxOfficeCode:         d.TaxOfficeCode,
		TaxOfficeName:         d.TaxOfficeName,
		VatNumber:             d.VATNumber,
		Company:               d.Company,
		Occupation:            d.Occupation,
		Address:               d.Address,
		PostCode:              d.PostCode,
		City:                  d.City,
		Article39:             d.Article39,
		Article39Eligible:     newFlag(d.Article39Eligible),
		Article39IdentityType: d.Article39IdentityType,
		Article39IdentityNo:   d.Article39IdentityNo,
		Article39MobilePhone:  d.Article39MobilePhone,
		Article39Otp:          d.Article39OTP,
		Article39Valid:        newFlag(d.Article39Valid),
	}
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

func newLineItem(l *order.LineItem) *LineItem {
	return &LineItem{
		Id:                 l.ID,
		ProductId:          l.ProductID,
		ProductCode:        l.ProductCode,
		Sku:                l.SKU,
		MerchantSku:        l.MerchantSKU,
		MerchantEan:        l.MerchantEAN,
		ProductName:        l.ProductName,
		ProductStatus:      l.ProductStatus,
		MasterProductCode:  l.MasterProductCode,
		ProductUrl:         l.ProductURL,
		Ean:                l.EAN,
		UnitPrice:          l.UnitPrice,
		OriginalUnitPrice:  l.OriginalUnitPrice,
		BasePrice:          l.BasePrice,
		TotalPrice:         l.TotalPrice,
		Quantity:           l.Quantity,
		VatRate:            l.VATRate,
		Article39Status:    l.Article39Status,
		Article39Valid:     l.Article39Valid,
		GiftWrap:           l.GiftWrap,
		ExtendedAttributes: l.ExtendedAttributes,
		PickupDate:         day(l.PickupDate),
		DeliveryDate:       day(l.DeliveryDate),
	}
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

// DecodeDetails sets the fields of an order that stored details have.
// It ignores fields that a newer version has written.
func DecodeDetails(encoded []byte, o *order.Order) error {
	var d Details
	if err := proto.Unmarshal(encoded, &d); err != nil {
		return fmt.Errorf("decode the details of order %s: %w", o.Reference, err)
	}
	o.ExpiresAt = timeOf(d.ExpiresAt)
	o.DispatchUntil = timeOf(d.DispatchUntil)
	o.Subtotal = d.Subtotal
	o.Discount = d.Discount
	o.ShippingAmount, o.ShippingVATRate = d.ShippingAmount, d.ShippingVatRate
	o.Notes = d.Notes
	o.PaymentName = d.PaymentName
	o.Billing = addressOf(d.Billing)
	o.Shipping = addressOf(d.Shipping)
	o.Carrier = carrierOf(d.Carrier)
	o.InvoiceDetails = invoiceDetailsOf(d.InvoiceDetails)
	o.LineItems = make([]order.LineItem, len(d.LineItems))
	for i, l := range d.LineItems {
		setLineItem(&o.LineItems[i], l)
	}
	return nil
}

func addressOf(a *Address) order.Address {
	if a == nil {
		return order.Address{}
	}
	return order.Address{
		FirstName:    a.FirstName,
		LastName:     a.LastName,
		Street:       a.Street,
		StreetNumber: a.StreetNumber,
		Address2:     a.Address2,
		City:         a.City,
		Region:       a.Region,
		RegionCode:   a.RegionCode,
		Country:      a.Country,
		CountryCode:  a.CountryCode,
		PostCode:     a.PostCode,
		Phone:        a.Phone,
		Type:         a.Type,
	}
}

func carrierOf(c *Carrier) order.Carrier {
	if c == nil {
		return order.Carrier{}
	}
	return order.Carrier{
		ShipmentIDs:                  c.ShipmentIds,
		Name:                         c.Name,
		Method:                       c.Method,
		DeliveryName:                 c.DeliveryName,
		DeliveryKey:                  c.DeliveryKey,
		TrackingCodes:                c.TrackingCodes,
		Comments:                     c.Comments,
		DeliveryToCourierEstimation:  c.DeliveryToCourierEstimation,
		DeliveryToCustomerEstimation: c.DeliveryToCustomerEstimation,
	}
}

func invoiceDetailsOf(d *InvoiceDetails) *order.InvoiceDetails {
	if d == nil {
		return nil
	}
	return &order.InvoiceDetails{
		TaxOfficeCode:         d.TaxOfficeCode,
		TaxOfficeName:         d.TaxOfficeName,
		VATNumber:             d.VatNumber,
		Company:               d.Company,
		Occupation:            d.Occupation,
		Address:               d.Address,
		PostCode:              d.PostCode,
		City:                  d.City,
		Article39:             d.Article39,
		Article39Eligible:     flagOf(d.Article39Eligible),
		Article39IdentityType: d.Article39IdentityType,
		Article39IdentityNo:   d.Article39IdentityNo,
		Article39MobilePhone:  d.Article39MobilePhone,
		Article39OTP:          d.Article39Otp,
		Article39Valid:        flagOf(d.Article39Valid),
	}
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

func setLineItem(o *order.LineItem, l *LineItem) {
	*o = order.LineItem{
		ID:                 l.Id,
		ProductID:          l.ProductId,
		ProductCode:        l.ProductCode,
		SKU:                l.Sku,
		MerchantSKU:        l.MerchantSku,
		MerchantEAN:        l.MerchantEan,
		ProductName:        l.ProductName,
		ProductStatus:      l.ProductStatus,
		MasterProductCode:  l.MasterProductCode,
		ProductURL:         l.ProductUrl,
		EAN:                l.Ean,
		UnitPrice:          l.UnitPrice,
		OriginalUnitPrice:  l.OriginalUnitPrice,
		BasePrice:          l.BasePrice,
		TotalPrice:         l.TotalPrice,
		Quantity:           l.Quantity,
		VATRate:            l.VatRate,
		Article39Status:    l.Article39Status,
		Article39Valid:     l.Article39Valid,
		GiftWrap:           l.GiftWrap,
		ExtendedAttributes: l.ExtendedAttributes,
		PickupDate:         dayOf(l.PickupDate),
		DeliveryDate:       dayOf(l.DeliveryDate),
	}
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
