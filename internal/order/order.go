// Package order is the domain of the service: orders and their states, money,
// invoice files, events, and the rules by which a merchant or the marketplace
// may change them.
//
// It owns the interfaces it needs (Store, Tx, Files) and imports only the
// standard library. It must not know how orders are stored, what they look like
// on the wire, or which version of the interface a request uses. Every rule and
// every limit is defined here, once; all parts of the service use it.
package order

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"time"
)

// Order is one customer's order with one merchant. Amounts are integers in the
// minor unit of Currency. Times are in UTC, in whole seconds; the zero time means
// that there is none.
type Order struct {
	MerchantID   int64
	MerchantName string // set on read; not part of the order document
	// Unreadable says that the stored details are damaged: nothing else is known of the
	// order than its Summary, the merchant's own data and its invoices.
	Unreadable bool
	LegacyID   int64  // the numeric id of v1, unique in the service
	Reference  string // the identifier of v2, unique in the service

	State       State
	Currency    string // ISO 4217, three capital letters
	CountryCode string // where the order was placed

	CreatedAt     time.Time
	UpdatedAt     time.Time // zero: never changed
	ExpiresAt     time.Time // zero: does not expire
	DispatchUntil time.Time // zero: no limit

	Subtotal int64 // sum of the lines' totals
	Discount int64
	Total    int64 // what the customer pays

	ShippingAmount  *int64 // a part of Total; nil: unknown
	ShippingVATRate string // as LineItem.VATRate

	Notes          *string // nil: none
	Customer       Customer
	Billing        Address
	Shipping       Address
	Carrier        Carrier
	PaymentName    string          // payment method key
	InvoiceDetails *InvoiceDetails // nil: the customer asked for no invoice
	LineItems      []LineItem      // in the order of the document

	MerchantData MerchantData // not part of the order document

	// Invoices are the active invoice files, oldest first. Set on read.
	Invoices []Invoice
	// InvoiceNumbers is InvoiceNumbers of Invoices, set only where the order is searched for.
	InvoiceNumbers string
	// Revision is another one after every change of the order or its invoice files;
	// see NextRevision.
	Revision int64
}

// revisionBits is how many bits of a revision are random.
const revisionBits = 31

// NextRevision returns the revision of an order after a change, of a new order for
// 0. The upper bits count the changes. The lower ones are random: if a change is
// lost, in a failover or a restore, and another one takes its place, the order has
// another revision and another entity tag.
func NextRevision(revision int64) int64 {
	return (revision>>revisionBits+1)<<revisionBits | rand.Int64N(1<<revisionBits)
}

// Summary is what a list shows of an order. A list reads only the columns of
// these fields.
type Summary struct {
	LegacyID    int64
	Reference   string
	State       State
	Currency    string
	CountryCode string
	CreatedAt   time.Time
	UpdatedAt   time.Time // zero: never changed
	Total       int64
	HasInvoice  bool // whether checkout invoice details exist
	Customer    Customer
}

// LockedOrder is an order read for update, with the fields that the rules need.
type LockedOrder struct {
	MerchantID     int64
	LegacyID       int64
	Reference      string
	State          State
	CreatedAt      time.Time
	ExpiresAt      time.Time // zero: does not expire
	Revision       int64
	NextRevision   int64  // after a change
	ActiveInvoices int    // active files and reservations
	InvoiceNumbers string // of the active files, see InvoiceNumbers
}

// Customer is who placed the order.
type Customer struct {
	UserID    int64 // 0: a guest
	Email     string
	Phone     *string // nil: none given
	FirstName string
	LastName  string
	Company   string // may be empty
}

// Address is a billing or a shipping address. Any part may be empty.
type Address struct {
	FirstName    string
	LastName     string
	Street       string
	StreetNumber string
	Address2     string
	City         string
	Region       string
	RegionCode   string
	Country      string
	CountryCode  string // ISO 3166
	PostCode     string
	Phone        string
	Type         string // of a shipping address only
}

// Carrier is the shipment of an order. The estimations are texts of the carrier.
type Carrier struct {
	ShipmentIDs   []int64
	Name          string
	Method        string
	DeliveryName  string
	DeliveryKey   string
	TrackingCodes string
	Comments      *string

	DeliveryToCourierEstimation  *string
	DeliveryToCustomerEstimation *string
}

// InvoiceDetails is the invoice that the customer asked for at checkout
// (spec 2.6). A nil text was not given.
type InvoiceDetails struct {
	TaxOfficeCode *string // "doy"
	TaxOfficeName *string // "doyName"
	VATNumber     string
	Company       *string
	Occupation    *string
	Address       *string
	PostCode      *string
	City          *string

	Article39             *string
	Article39Eligible     any // nil, bool or string, as in the document (decision 4)
	Article39IdentityType *string
	Article39IdentityNo   *string
	Article39MobilePhone  *string
	Article39OTP          *string
	Article39Valid        any // nil, bool or string, as in the document
}

// LineItem is one line of an order.
type LineItem struct {
	ID                int64 // unique in its order
	ProductID         string
	ProductCode       string
	SKU               string
	MerchantSKU       string
	MerchantEAN       string
	ProductName       string
	ProductStatus     string
	MasterProductCode string
	ProductURL        string
	EAN               *string // nil: none

	UnitPrice         int64
	OriginalUnitPrice int64 // before discounts
	BasePrice         int64
	TotalPrice        int64  // unit price times quantity
	Quantity          int64  // 1 or more
	VATRate           string // percent, as imported: see ValidVATRate; empty: unknown

	Article39Status string
	Article39Valid  bool
	GiftWrap        bool

	// ExtendedAttributes is a JSON array that the service does not interpret; at
	// least "[]".
	ExtendedAttributes json.RawMessage

	PickupDate   Day // NoDay: unknown
	DeliveryDate Day // NoDay: unknown
}

var vatRate = regexp.MustCompile(`^(100(\.0{1,3})?|[1-9]?[0-9](\.[0-9]{1,3})?)$`)

// ValidVATRate reports whether text is a percentage from 0 to 100 with at most three
// decimals, such as "24" and "6.5".
func ValidVATRate(text string) bool { return vatRate.MatchString(text) }
