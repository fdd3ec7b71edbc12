package store

import (
	"encoding/json"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// detailsJSON is the form that details of an order had in the first schema, of
// which rows may be left; see details.go for that of today.
type detailsJSON struct {
	ExpiresAt     int64        `json:"expires,omitempty"`  // Unix seconds
	DispatchUntil int64        `json:"dispatch,omitempty"` // Unix seconds
	Subtotal      int64        `json:"subtotal"`
	Discount      int64        `json:"discount,omitempty"`
	Notes         *string      `json:"notes,omitempty"`
	Billing       addressJSON  `json:"billing"`
	Shipping      addressJSON  `json:"shipping"`
	Carrier       carrierJSON  `json:"carrier"`
	PaymentName   string       `json:"payment"`
	Invoice       *invoiceJSON `json:"invoice,omitempty"`
	LineItems     []lineJSON   `json:"lines"`
}

type addressJSON struct {
	FirstName    string `json:"first,omitempty"`
	LastName     string `json:"last,omitempty"`
	Street       string `json:"street,omitempty"`
	StreetNumber string `json:"number,omitempty"`
	Address2     string `json:"address2,omitempty"`
	City         string `json:"city,omitempty"`
	Region       string `json:"region,omitempty"`
	RegionCode   string `json:"regionCode,omitempty"`
	Country      string `json:"country,omitempty"`
	CountryCode  string `json:"countryCode,omitempty"`
	PostCode     string `json:"postCode,omitempty"`
	Phone        string `json:"phone,omitempty"`
	Type         string `json:"type,omitempty"`
}

type carrierJSON struct {
	ShipmentIDs   []int64 `json:"shipments,omitempty"`
	Name          string  `json:"name,omitempty"`
	Method        string  `json:"method,omitempty"`
	DeliveryName  string  `json:"deliveryName,omitempty"`
	DeliveryKey   string  `json:"deliveryKey,omitempty"`
	TrackingCodes string  `json:"tracking,omitempty"`
	Comments      *string `json:"comments,omitempty"`

	DeliveryToCourierEstimation  *string `json:"toCourier,omitempty"`
	DeliveryToCustomerEstimation *string `json:"toCustomer,omitempty"`
}

type invoiceJSON struct {
	TaxOfficeCode *string `json:"doy,omitempty"`
	TaxOfficeName *string `json:"doyName,omitempty"`
	VATNumber     string  `json:"vat"`
	Company       *string `json:"company,omitempty"`
	Occupation    *string `json:"occupation,omitempty"`
	Address       *string `json:"address,omitempty"`
	PostCode      *string `json:"postCode,omitempty"`
	City          *string `json:"city,omitempty"`

	Article39             *string `json:"a39,omitempty"`
	Article39Eligible     any     `json:"a39Eligible,omitempty"`
	Article39IdentityType *string `json:"a39IdentityType,omitempty"`
	Article39IdentityNo   *string `json:"a39IdentityNo,omitempty"`
	Article39MobilePhone  *string `json:"a39Phone,omitempty"`
	Article39OTP          *string `json:"a39Otp,omitempty"`
	Article39Valid        any     `json:"a39Valid,omitempty"`
}

type lineJSON struct {
	ID                int64   `json:"id"`
	ProductID         string  `json:"productId,omitempty"`
	ProductCode       string  `json:"productCode,omitempty"`
	SKU               string  `json:"sku,omitempty"`
	MerchantSKU       string  `json:"merchantSku,omitempty"`
	MerchantEAN       string  `json:"merchantEan,omitempty"`
	ProductName       string  `json:"name,omitempty"`
	ProductStatus     string  `json:"status,omitempty"`
	MasterProductCode string  `json:"master,omitempty"`
	ProductURL        string  `json:"url,omitempty"`
	EAN               *string `json:"ean,omitempty"`

	UnitPrice         int64 `json:"unit"`
	OriginalUnitPrice int64 `json:"originalUnit"`
	BasePrice         int64 `json:"base"`
	TotalPrice        int64 `json:"total"`
	Quantity          int64 `json:"quantity"`

	Article39Status string `json:"a39Status,omitempty"`
	Article39Valid  bool   `json:"a39Valid,omitempty"`
	GiftWrap        bool   `json:"giftWrap,omitempty"`

	ExtendedAttributes json.RawMessage `json:"attributes"`

	PickupDate   order.Day `json:"pickup"`   // days since 1970-01-01
	DeliveryDate order.Day `json:"delivery"` // days since 1970-01-01
}

// decodeDetailsJSON fills an order with its details in the form of the first
// schema.
func decodeDetailsJSON(text []byte, o *order.Order) error {
	var d detailsJSON
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("details of order %d: %w", o.LegacyID, err)
	}
	o.ExpiresAt, o.DispatchUntil = fromUnix(d.ExpiresAt), fromUnix(d.DispatchUntil)
	o.Subtotal, o.Discount, o.Notes = d.Subtotal, d.Discount, d.Notes
	o.Billing, o.Shipping = order.Address(d.Billing), order.Address(d.Shipping)
	o.Carrier, o.PaymentName = order.Carrier(d.Carrier), d.PaymentName
	o.InvoiceDetails = (*order.InvoiceDetails)(d.Invoice)
	o.LineItems = make([]order.LineItem, len(d.LineItems))
	for i, line := range d.LineItems {
		o.LineItems[i] = order.LineItem(line)
	}
	return nil
}

func fromUnix(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}
