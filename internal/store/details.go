package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// details is what the column of that name keeps of an order: all that no list
// shows. The keys are stored: they may be added to, never renamed.
//
// The records below have the fields of the domain's structs in their order, so
// that one converts into the other as it is; where the domain changes, this
// does not compile until it is decided what the stored form becomes.
type details struct {
	ExpiresAt     int64           `json:"expires,omitempty"`  // Unix seconds
	DispatchUntil int64           `json:"dispatch,omitempty"` // Unix seconds
	Subtotal      int64           `json:"subtotal"`
	Discount      int64           `json:"discount,omitempty"`
	Notes         *string         `json:"notes,omitempty"`
	Billing       addressRecord   `json:"billing"`
	Shipping      addressRecord   `json:"shipping"`
	Carrier       carrierRecord   `json:"carrier"`
	PaymentName   string          `json:"payment"`
	Invoice       *invoiceRequest `json:"invoice,omitempty"`
	LineItems     []lineRecord    `json:"lines"`
}

type addressRecord struct {
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

type carrierRecord struct {
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

type invoiceRequest struct {
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

type lineRecord struct {
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

// encodeDetails returns the details of an order as they are stored.
func encodeDetails(o order.Order) (string, error) {
	d := details{
		ExpiresAt: unix(o.ExpiresAt), DispatchUntil: unix(o.DispatchUntil),
		Subtotal: o.Subtotal, Discount: o.Discount, Notes: o.Notes,
		Billing: addressRecord(o.Billing), Shipping: addressRecord(o.Shipping),
		Carrier: carrierRecord(o.Carrier), PaymentName: o.PaymentName,
		Invoice:   (*invoiceRequest)(o.InvoiceDetails),
		LineItems: make([]lineRecord, len(o.LineItems)),
	}
	for i, line := range o.LineItems {
		d.LineItems[i] = lineRecord(line)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	// Extended attributes come back as they came in.
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(d)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// decodeDetails fills an order with its details as they are stored.
func decodeDetails(text []byte, o *order.Order) error {
	var d details
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("details of order %d: %w", o.Number, err)
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

// unix is a time in Unix seconds, 0 for the zero time. No order expires in the
// second in which 1970 begins.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func fromUnix(s int64) time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}
