package order

import (
	"encoding/json"
	"time"
)

// Order is one customer's order with one merchant. Amounts are integers in the
// minor unit of Currency; times are UTC in whole seconds; a zero time means
// that there is none.
type Order struct {
	MerchantID   int64
	MerchantName string // filled on read; not part of what comes in
	LegacyID     int64  // the legacy numeric id of v1, unique in the service
	Reference    string // the identifier of v2, unique in the service

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

	Notes          *string // nil: none
	Customer       Customer
	Billing        Address
	Shipping       Address
	Carrier        Carrier
	PaymentName    string          // payment method key
	InvoiceDetails *InvoiceDetails // nil: the customer asked for no invoice
	LineItems      []LineItem      // in the order in which they came

	// Invoices are the active invoice files, oldest first. Filled on read.
	Invoices []Invoice
	// Revision grows by one with every change of the order or its invoice
	// files. 1 for an order just in.
	Revision int64
}

// Summary is what a list shows of an order: no more than the columns that a
// list may read.
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

// LockedOrder is what a rule needs to know of an order before it changes it.
type LockedOrder struct {
	MerchantID     int64
	LegacyID       int64
	Reference      string
	State          State
	CreatedAt      time.Time
	Revision       int64
	ActiveInvoices int // active files and places reserved for files on their way
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

// Carrier is how the order travels. Estimations are the carrier's own text.
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
	Article39Eligible     any // nil, bool or string, as it came (decision 4)
	Article39IdentityType *string
	Article39IdentityNo   *string
	Article39MobilePhone  *string
	Article39OTP          *string
	Article39Valid        any // nil, bool or string, as it came
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
	TotalPrice        int64 // unit price times quantity
	Quantity          int64 // 1 or more

	Article39Status string
	Article39Valid  bool
	GiftWrap        bool

	// ExtendedAttributes is a JSON array whose content means nothing to the
	// service; never empty, at least "[]".
	ExtendedAttributes json.RawMessage

	PickupDate   Day // NoDay: unknown
	DeliveryDate Day // NoDay: unknown
}
