// Code generated from openapi/v2.yaml by scripts/generate. DO NOT EDIT.
// Null is nil, the zero time, or with a type that is no pointer its zero value; an absent text is empty.

package client

import (
	"encoding/json"
	"time"
)

// State of the order. A merchant changes the state `registered` by accept or reject. The marketplace makes the
// other transitions.
type State string

// The values of State.
const (
	Registered             State = "registered"
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

// Reason is the reason. Null and empty text mean none.
type Reason string

// The values of Reason.
const (
	OutOfStock      Reason = "out-of-stock"
	Damaged         Reason = "damaged"
	WrongPrice      Reason = "wrong-price"
	DisabledProduct Reason = "disabled-product"
	WrongProduct    Reason = "wrong-product"
)

// Summary is an order in a list.
type Summary struct {
	Reference string `json:"id"`
	State     State  `json:"state"`
	// Country code of the order.
	CountryCode string `json:"countryCode"`
	// Whether an invoice was requested at checkout.
	HasInvoice bool `json:"hasInvoice"`
	// Total.
	TotalItemsAmount int64  `json:"totalItemsAmount"`
	Currency         string `json:"currency"`
	// When it was created.
	CreatedAt time.Time `json:"createdAt"`
	// Time of the last state change; null: never.
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	Customer  Customer  `json:"customer"`
}

// UnansweredOrder is an order that waits to be accepted or rejected, as in a list, with its deadline and its
// lines.
type UnansweredOrder struct {
	Summary
	// The deadline; null: none.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Seconds until the deadline; 0: it has passed; null: there is none.
	SecondsLeft *int64 `json:"secondsLeft"`
	// Lines of the order.
	LineItems []LineItem `json:"lineItems"`
}

// Customer.
type Customer struct {
	// Id of the customer; 0: a guest.
	UserID int64 `json:"userId"`
	// E-mail.
	Email string `json:"email"`
	// Phone; null: none.
	Phone *string `json:"phone"`
	// First name.
	FirstName string `json:"firstName"`
	// Last name.
	LastName string `json:"lastName"`
}

// Order is a single order. Its JSON encoding has the field names of version 2 and times in RFC 3339; zero times
// are omitted.
type Order struct {
	Reference string `json:"id"`
	State     State  `json:"state"`
	// Country code of the order.
	CountryCode string `json:"countryCode"`
	// Whether an invoice was requested at checkout.
	HasInvoice bool `json:"hasInvoice"`
	// Sum of the lines.
	SubTotalItemsAmount int64 `json:"subTotalItemsAmount"`
	// Total.
	TotalItemsAmount int64  `json:"totalItemsAmount"`
	Currency         string `json:"currency"`
	// When it was created.
	CreatedAt time.Time `json:"createdAt"`
	// Time of the last state change; null: never. Invoice files do not count.
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	// Expiry, for information only. Null: never.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`
	// Latest dispatch time, for information only. Null: none.
	DispatchUntil time.Time `json:"dispatchUntil,omitzero"`
	Customer      Customer  `json:"customer"`
	// The shipping address. Unknown parts are empty.
	Address Address `json:"addressDetails"`
	// The invoice that the customer requested; null if `hasInvoice` is false.
	InvoiceDetails *InvoiceDetails `json:"invoiceDetails"`
	// Active invoice files, oldest first; empty if there are none.
	Invoices []Invoice `json:"invoices"`
	// Carrier.
	Carrier Carrier `json:"carrier"`
	// Payment.
	Payment Payment `json:"payment"`
	// The lines, in the order of the import.
	LineItems []LineItem `json:"lineItems"`
	// What of the total is for shipping, with VAT. Absent: unknown.
	ShippingAmount *int64 `json:"shippingAmount,omitempty"`
	// VAT rate of shipping in percent. Absent: unknown.
	ShippingVATRate string `json:"shippingVatRate,omitempty"`
	// The merchant's own number of the order; absent: none.
	MerchantReference *string `json:"merchantReference"`
	// The merchant's own note; absent: none.
	MerchantNote *string `json:"merchantNote"`

	// Problem is why an Export has nothing of the order but its Reference; empty: it has all.
	Problem string `json:"problem,omitempty"`

	// Tag is the entity tag of the order, for IfMatch. It may be empty.
	Tag string `json:"tag,omitempty"`

	// Document is the JSON from which the order was decoded: from a call, the order exactly
	// as the service shows it.
	Document json.RawMessage `json:"-"`
}

// Address is the shipping address. Unknown parts are empty.
type Address struct {
	// Street.
	Street string `json:"street"`
	// Street number.
	StreetNumber string `json:"streetNumber"`
	// Post code.
	PostCode string `json:"postCode"`
	// City.
	City string `json:"city"`
	// Name of the region.
	Region string `json:"region"`
	// Code of the region.
	RegionCode string `json:"regionCode"`
	// Name of the country.
	Country string `json:"country"`
	// ISO code of the country.
	CountryCode string `json:"countryCode"`
}

// Carrier.
type Carrier struct {
	// Id of the first shipment; 0: none yet.
	ShipmentID int64 `json:"shipmentId"`
	// Courier company.
	Name string `json:"name"`
	// Delivery service.
	DeliveryName string `json:"deliveryName"`
	// Key of the shipment method, as imported.
	DeliveryKey string `json:"deliveryKey"`
	// Tracking codes in one text; may be empty.
	TrackingCodes string `json:"trackingCodes"`
	// Comments; null: none.
	Comments *string `json:"comments"`
	// Estimated delivery to the courier, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
	// unknown.
	DeliveryToCourierEstimation *string `json:"deliveryToCourierEstimationDate"`
	// Estimated delivery to the customer, as imported, or `YYYY-MM-DD HH:MM:SS` in UTC if that is a time; null:
	// unknown.
	DeliveryToCustomerEstimation *string `json:"deliveryToCustomerEstimationDate"`
}

// Payment.
type Payment struct {
	// Key of the payment method.
	Name string `json:"name"`
}

// InvoiceDetails is the invoice that the customer requested at checkout. Null means unknown.
type InvoiceDetails struct {
	// Code of the tax office.
	TaxOfficeCode *string `json:"doy"`
	// Name of the tax office.
	TaxOfficeName *string `json:"doyName"`
	// VAT number.
	VATNumber string `json:"vatNumber"`
	// Company.
	Company *string `json:"company"`
	// Occupation.
	Occupation *string `json:"occupation"`
	// Address.
	Address *string `json:"address"`
	// Post code.
	PostCode *string `json:"postCode"`
	// City.
	City *string `json:"city"`
	// Article 39.
	Article39 *string `json:"article39"`
	// Whether Article 39 may apply, as imported: text, boolean or null.
	Article39Eligible any `json:"article39Eligible"`
	// Article 39: label of the identity type, as imported.
	Article39IdentityType *string `json:"article39IdentityType"`
	// Article 39: number of the identity.
	Article39IdentityNo *string `json:"article39IdentityNo"`
	// Article 39: mobile phone.
	Article39MobilePhone *string `json:"article39MobilePhone"`
	// Article 39: one-time password.
	Article39OTP *string `json:"article39Otp"`
	// Whether Article 39 applies, as imported: text, boolean or null.
	Article39Valid any `json:"article39Valid"`
}

// LineItem is one line of an order.
type LineItem struct {
	// Id of the line.
	ID int64 `json:"id"`
	// SKU of the marketplace.
	SKU string `json:"sku"`
	// Bar code of the merchant.
	MerchantEAN string `json:"merchantEan"`
	// SKU of the merchant.
	MerchantSKU string `json:"merchantSku"`
	// Name of the product.
	ProductName string `json:"productName"`
	// Unit price.
	UnitPrice int64 `json:"unitPrice"`
	// Unit price before discounts.
	OriginalUnitPrice int64 `json:"originalUnitPrice"`
	// Unit price times quantity.
	TotalPrice int64 `json:"totalPrice"`
	// Quantity.
	Quantity int64 `json:"quantity"`
	// Whether Article 39 applies to this line.
	Article39Valid bool `json:"sfArticle39Valid"`
	// Whether to gift-wrap it.
	GiftWrap bool `json:"giftWrap"`
	// Additional attributes, as imported; often empty.
	ExtendedAttributes []json.RawMessage `json:"extendedAttributes"`
	// VAT rate in percent. Absent: unknown.
	VATRate string `json:"vatRate,omitempty"`
}

// Invoice is an invoice file.
type Invoice struct {
	// Id of the file in paths; never reused.
	ID int64 `json:"id"`
	// URL of the file; its name is percent-encoded. Downloading needs the same token unless the service stores files
	// elsewhere.
	URL string `json:"url"`
	// When it was uploaded.
	CreatedAt time.Time `json:"created_at"`
	// What the document is: `invoice`, `credit-note` or `receipt`. This and the next three only if they were given.
	Kind string `json:"kind,omitempty"`
	// The document's number.
	Number string `json:"number,omitempty"`
	// The tax authority's id of the document (MARK of myDATA).
	Mark string `json:"mark,omitempty"`
	// Where the document is too.
	Link string `json:"link,omitempty"`
}

// StateChange is of `order.state_changed`.
type StateChange struct {
	// The previous state.
	From State `json:"from"`
	// The new state.
	To State `json:"to"`
	// Of a rejection one of its reasons, otherwise a word of the marketplace; null if none was given.
	Reason Reason `json:"reason"`
}

// InvoiceChange is of `invoice.uploaded` and `invoice.deleted`.
type InvoiceChange struct {
	// Id of the file.
	InvoiceID int64 `json:"invoiceId"`
	// The stored name.
	Filename string `json:"filename"`
}

// WebhookFailure is of `webhook.failed` and `webhook.failing`.
type WebhookFailure struct {
	// The webhook, as `GET /v2/webhooks/{webhookId}` shows it.
	WebhookID int64 `json:"webhookId"`
	// Why, for people.
	Reason string `json:"reason"`
}

// Token is a token without its text.
type Token struct {
	// Id of the token in paths.
	ID int64 `json:"id"`
	// Scopes.
	Scopes []string `json:"scopes"`
	// What the token is for; null if it has no label.
	Label string `json:"label"`
	// First letters of its text; empty: it is of a session, and nobody has its text.
	Hint string `json:"hint"`
	// Creation time.
	CreatedAt time.Time `json:"createdAt"`
	// Id of the token that created it; null: a command did.
	CreatedBy int64 `json:"createdBy"`
	// Expiry; null: none.
	ExpiresAt time.Time `json:"expiresAt"`
	// Time of the revocation; null: not revoked.
	RevokedAt time.Time `json:"revokedAt"`
	// Time of the last use, accurate to about ten seconds; null: never.
	LastUsedAt time.Time `json:"lastUsedAt"`
	// IP address of the client at that time; null: not known.
	LastUsedFrom string `json:"lastUsedFrom"`
	// It is the token of the request.
	Current bool `json:"current"`
}

// Webhook is an endpoint that receives the events of a merchant. Its secret is not shown.
type Webhook struct {
	// Id of the webhook.
	ID int64 `json:"id"`
	// Id of the merchant.
	MerchantID  int64       `json:"merchantId"`
	URL         string      `json:"url"`
	Description string      `json:"description"`
	Types       []EventType `json:"types"`
	Include     Include     `json:"include"`
	Batch       int         `json:"batch"`
	// Names of the further headers of deliveries, sorted. Their values are not shown.
	HeaderNames []string `json:"headerNames"`
	// User name of Basic authentication; null if there is none. The password is not shown.
	Username string `json:"username"`
	// `disabled` by a request, `failed` by the service; `failing` as `active`, but about to be disabled by the
	// service.
	State string `json:"state"`
	// Why the webhook is failed or failing; null in the other states.
	Reason         string    `json:"reason"`
	StateChangedAt time.Time `json:"stateChangedAt,omitzero"`
	CreatedAt      time.Time `json:"createdAt"`
	OldSecretUntil time.Time `json:"oldSecretUntil,omitzero"`
	// Number of the last event that the endpoint has acknowledged or does not subscribe to.
	Acknowledged int64 `json:"acknowledged"`
	// Failed deliveries since the last success.
	Failures      int       `json:"failures"`
	FailingSince  time.Time `json:"failingSince,omitzero"`
	NextAttemptAt time.Time `json:"nextAttemptAt,omitzero"`
}

// Delivery is one attempt to deliver an event.
type Delivery struct {
	// Number of the delivery: 1, 2, 3, ... for each webhook; 0 if it is not in the log, because the webhook changed
	// meanwhile.
	ID int64     `json:"id"`
	At time.Time `json:"at"`
	// The header `webhook-id`; the same at each attempt for an event.
	MessageID string `json:"messageId"`
	// Number of the event, of several the first; null of a test.
	Event int64 `json:"event,omitzero"`
	// Of a delivery with several events: how many.
	Events int `json:"events,omitzero"`
	// Type of the event, or `webhook.test`.
	Type EventType `json:"type"`
	// Status of the response; null if there was none.
	Status int `json:"status,omitzero"`
	// Null if the endpoint has acknowledged. `status`: the status is not 2xx. `timeout`: no response within 10
	// seconds. `address`: the host has an address that is not public. `resolve`: the host name has no address.
	// `tls`: the certificate is not valid. `connection`: no connection, or it broke.
	Error string `json:"error,omitempty"`
	// Duration in milliseconds.
	TookMs int64 `json:"tookMs"`
	// The first 1,024 bytes of the response's body, as text.
	Response string `json:"response"`
}
