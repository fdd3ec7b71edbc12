package client

import (
	"encoding/json"
	"time"
)

// State is the state of an order.
type State string

// The states of an order.
const (
	Registered             State = "registered" // the only state in which an order can be accepted or rejected
	InProcessing           State = "in-processing"
	ReadyForShipment       State = "ready-for-shipment"
	PickedByCourier        State = "picked-by-courier"
	DeliveredToPickupPoint State = "delivered-to-pickup-point"
	DeliveryFailed         State = "delivery-failed"
	RejectedByMerchant     State = "rejected-by-merchant"
	Canceled               State = "canceled"
	Completed              State = "completed"
	DeliveredToCustomer    State = "delivered-to-customer"
	ReturnCanceled         State = "return-canceled"
)

// Reason is why an order is rejected.
type Reason string

// The reasons that the service accepts.
const (
	NoReason        Reason = "" // no reason
	OutOfStock      Reason = "out-of-stock"
	Damaged         Reason = "damaged"
	WrongPrice      Reason = "wrong-price"
	DisabledProduct Reason = "disabled-product"
	WrongProduct    Reason = "wrong-product"
)

// Summary is an order in a list.
type Summary struct {
	Reference        string    `json:"id"`
	State            State     `json:"state"`
	CountryCode      string    `json:"countryCode"`
	HasInvoice       bool      `json:"hasInvoice"`       // whether the customer requested an invoice
	TotalItemsAmount int64     `json:"totalItemsAmount"` // minor units
	Currency         string    `json:"currency"`         // ISO 4217, the currency of the amount; empty from a service that does not tell
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt,omitzero"` // zero: never changed
	Customer         Customer  `json:"customer"`
}

// UnansweredOrder is an order that waits to be accepted or rejected.
type UnansweredOrder struct {
	Summary
	ExpiresAt   time.Time  `json:"expiresAt,omitzero"` // zero: no deadline
	SecondsLeft *int64     `json:"secondsLeft"`        // until ExpiresAt, by the clock of the service; 0: it has passed; nil: no deadline
	LineItems   []LineItem `json:"lineItems"`
}

// Customer is who placed an order.
type Customer struct {
	UserID    int64   `json:"userId"` // 0: a guest
	Email     string  `json:"email"`
	Phone     *string `json:"phone"` // nil: none
	FirstName string  `json:"firstName"`
	LastName  string  `json:"lastName"`
}

// Order is a single order. Its JSON encoding has the field names of v2 and times
// in RFC 3339; zero times are omitted.
type Order struct {
	Reference           string          `json:"id"`
	State               State           `json:"state"`
	CountryCode         string          `json:"countryCode"` // of the country where it was placed
	HasInvoice          bool            `json:"hasInvoice"`
	SubTotalItemsAmount int64           `json:"subTotalItemsAmount"` // minor units: sum of the lines, before extra charges
	TotalItemsAmount    int64           `json:"totalItemsAmount"`    // minor units: final amount
	Currency            string          `json:"currency"`            // ISO 4217, of every amount; empty from a service that does not tell
	CreatedAt           time.Time       `json:"createdAt"`
	UpdatedAt           time.Time       `json:"updatedAt,omitzero"`     // zero: never changed
	ExpiresAt           time.Time       `json:"expiresAt,omitzero"`     // zero: no expiry
	DispatchUntil       time.Time       `json:"dispatchUntil,omitzero"` // zero: no limit
	Customer            Customer        `json:"customer"`
	Address             Address         `json:"addressDetails"`
	InvoiceDetails      *InvoiceDetails `json:"invoiceDetails"` // nil: no invoice requested
	Invoices            []Invoice       `json:"invoices"`       // files, oldest first
	Carrier             Carrier         `json:"carrier"`
	Payment             Payment         `json:"payment"`
	LineItems           []LineItem      `json:"lineItems"`
	ShippingAmount      *int64          `json:"shippingAmount,omitempty"`  // minor units, a part of the total; nil: unknown
	ShippingVATRate     string          `json:"shippingVatRate,omitempty"` // percent, such as 24 or 6.5; empty: unknown
	MerchantReference   *string         `json:"merchantReference"`         // your own number of the order; nil: none
	MerchantNote        *string         `json:"merchantNote"`              // your own note; nil: none

	// Problem is why an Export has nothing of the order but its Reference; empty: it has all.
	Problem string `json:"problem,omitempty"`

	// Tag is the entity tag of the order, for IfMatch. It may be empty.
	Tag string `json:"tag,omitempty"`

	// Document is the JSON from which the order was decoded: from a call, the order exactly
	// as the service shows it.
	Document json.RawMessage `json:"-"`
}

// Address is the shipping address of an order. Any part may be empty.
type Address struct {
	Street       string `json:"street"`
	StreetNumber string `json:"streetNumber"`
	PostCode     string `json:"postCode"`
	City         string `json:"city"`
	Region       string `json:"region"`
	RegionCode   string `json:"regionCode"`
	Country      string `json:"country"`
	CountryCode  string `json:"countryCode"` // ISO 3166
}

// Carrier has the shipment of an order. Estimations are the carrier's text.
type Carrier struct {
	ShipmentID                   int64   `json:"shipmentId"` // 0: none yet
	Name                         string  `json:"name"`
	DeliveryName                 string  `json:"deliveryName"`
	DeliveryKey                  string  `json:"deliveryKey"`
	TrackingCodes                string  `json:"trackingCodes"`
	Comments                     *string `json:"comments"`
	DeliveryToCourierEstimation  *string `json:"deliveryToCourierEstimationDate"`
	DeliveryToCustomerEstimation *string `json:"deliveryToCustomerEstimationDate"`
}

// Payment is the payment of an order.
type Payment struct {
	Name string `json:"name"` // payment method key
}

// InvoiceDetails is the invoice that the customer requested at checkout. A nil
// field was not given.
type InvoiceDetails struct {
	TaxOfficeCode         *string `json:"doy"`
	TaxOfficeName         *string `json:"doyName"`
	VATNumber             string  `json:"vatNumber"`
	Company               *string `json:"company"`
	Occupation            *string `json:"occupation"`
	Address               *string `json:"address"`
	PostCode              *string `json:"postCode"`
	City                  *string `json:"city"`
	Article39             *string `json:"article39"`
	Article39Eligible     any     `json:"article39Eligible"` // string, bool or nil
	Article39IdentityType *string `json:"article39IdentityType"`
	Article39IdentityNo   *string `json:"article39IdentityNo"`
	Article39MobilePhone  *string `json:"article39MobilePhone"`
	Article39OTP          *string `json:"article39Otp"`
	Article39Valid        any     `json:"article39Valid"` // string, bool or nil
}

// LineItem is one line of an order.
type LineItem struct {
	ID                 int64             `json:"id"`
	SKU                string            `json:"sku"`
	MerchantEAN        string            `json:"merchantEan"`
	MerchantSKU        string            `json:"merchantSku"`
	ProductName        string            `json:"productName"`
	UnitPrice          int64             `json:"unitPrice"`         // minor units
	OriginalUnitPrice  int64             `json:"originalUnitPrice"` // minor units, before discounts
	TotalPrice         int64             `json:"totalPrice"`        // minor units: unit price times quantity
	Quantity           int64             `json:"quantity"`
	Article39Valid     bool              `json:"sfArticle39Valid"`
	GiftWrap           bool              `json:"giftWrap"`
	ExtendedAttributes []json.RawMessage `json:"extendedAttributes"` // of any form
	VATRate            string            `json:"vatRate,omitempty"`  // percent, such as 24 or 6.5; empty: unknown
}

// Invoice is an invoice file of an order.
type Invoice struct {
	ID        int64     `json:"id"`
	URL       string    `json:"url"` // for DownloadInvoice
	CreatedAt time.Time `json:"created_at"`
}
