package orderpb

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"merchantorders/internal/order"
)

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
