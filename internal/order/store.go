package order

import (
	"context"
	"time"
)

// Transactor runs transactions. The stores of all services of this package have it.
type Transactor interface {
	KeyStore
	// InTx runs fn in one transaction. If fn returns nil, InTx commits durably;
	// otherwise it rolls back and returns the error of fn. The database may ask
	// for a retry: InTx then calls fn again. So fn must have no effect except
	// through its Tx.
	InTx(ctx context.Context, fn func(Tx) error) error
}

// Stores is what the services of this package need together.
type Stores interface {
	Store
	MerchantStore
	AuditStore
	LinkStore
	RetentionStore
}

// Reader reads many orders. Store is one.
type Reader interface {
	// Orders returns whole orders with their active invoices, for a page of a list, of an
	// export or of events: in one statement for any number of orders. An order that does
	// not exist is absent from the map, and one that is asked for twice is read once. The
	// orders may be of several merchants.
	Orders(ctx context.Context, at []Locator) (map[Locator]Order, error)
}

// DayCount is how many orders that were created on a day are in a state.
type DayCount struct {
	Day    Day
	State  State
	Orders int64
}

// Counts are numbers of a merchant's orders. Store has them, and Service as they are.
type Counts interface {
	// DayCounts returns the numbers of a merchant's orders by day and state, of the days of
	// a filter, which has both bounds, in the order of days. Days and states without orders
	// are absent.
	DayCounts(ctx context.Context, merchantID int64, days Filter) ([]DayCount, error)
	// StateCounts returns how many orders of a merchant are in each state.
	StateCounts(ctx context.Context, merchantID int64) (map[State]int64, error)
}

// Store holds orders, their invoice entries and their events. Every method that
// takes a merchant id reads and writes that merchant's orders only. Every method
// may return ErrUnavailable in addition to the errors that it names.
type Store interface {
	Transactor
	Reader
	Counts
	// Order returns one whole order with its active invoices, or ErrNotFound.
	Order(ctx context.Context, merchantID int64, id Identifier) (Order, error)
	// ExportKeys returns the keys of up to limit orders of a merchant that a query
	// selects, by creation and legacy id, after one of them; nil: from the first.
	ExportKeys(ctx context.Context, merchantID int64, query ExportQuery, after *Cursor, limit int) ([]ExportKey, error)
	// OrderCursor returns where the order with a reference is in lists and exports, also
	// one that is deleted, or ErrNotFound.
	OrderCursor(ctx context.Context, merchantID int64, reference string) (Cursor, error)
	// Merchants is that of MerchantStore.
	Merchants(ctx context.Context, filter MerchantFilter) ([]Merchant, error)
	// List returns a page of orders, newest first, and the exact total.
	List(ctx context.Context, merchantID int64, filter Filter) (Page, error)
	// Sums returns the totals of the orders of a filter, by currency; nil if they are more
	// than most, or too large to add up.
	Sums(ctx context.Context, merchantID int64, filter Filter, most int) ([]Amount, error)
	// Search returns a page of orders of all merchants, or of one.
	Search(ctx context.Context, search Search) (SearchPage, error)
	// OrderMerchant returns the merchant of the order with a reference, or ErrNotFound.
	OrderMerchant(ctx context.Context, reference string) (int64, error)
	// Inspect returns everything about the order of a merchant with a reference, without
	// unfinished uploads, or ErrNotFound.
	Inspect(ctx context.Context, merchantID int64, reference string) (Inspection, error)
	// DueOrders returns up to limit registered orders whose deadline is not later than
	// a time, after one of them, by deadline and legacy id.
	DueOrders(ctx context.Context, now time.Time, after Due, limit int) ([]Due, error)
	// NearDeadlines returns up to limit registered orders of whose deadline their merchant
	// was not warned, with their references, as DueOrders does.
	NearDeadlines(ctx context.Context, until time.Time, after Due, limit int) ([]Due, error)
	// Overview returns the numbers of all merchants' orders, with a page of merchants.
	Overview(ctx context.Context, query OverviewQuery, now time.Time) (Overview, error)
	// InvoiceFile returns the active invoice of an order by its stored name, or
	// ErrInvoiceNotFound.
	InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (Invoice, error)
	// Unanswered returns a page of registered orders, the earliest deadline first, then
	// those without one, oldest first, without their line items.
	Unanswered(ctx context.Context, merchantID int64, query UnansweredQuery) (UnansweredPage, error)
	// ByMerchantReference returns the orders of a merchant with exactly this number of its
	// own, the newest first, and at most limit of them, and the version of the data.
	ByMerchantReference(ctx context.Context, merchantID int64, number string, limit int) ([]Summary, DataVersion, error)
	// WithoutInvoice returns up to limit of the orders of Service.WithoutInvoice.
	WithoutInvoice(ctx context.Context, merchantID int64, after *Cursor, limit int) ([]Summary, error)

	// Events returns up to limit events of a merchant with numbers above after, and
	// the data version and history of the same moment. They are zero if the merchant
	// does not exist.
	Events(ctx context.Context, merchantID, after int64, limit int) (Feed, error)
	// MarketEvents returns up to limit events of all merchants after a cursor, by
	// position, merchant and number. It returns ErrOtherHistory or ErrOnCluster.
	MarketEvents(ctx context.Context, after MarketCursor, limit int) (MarketFeed, error)
	// MarketEnd returns the end of the feed of all merchants, without events. It returns
	// ErrOnCluster.
	MarketEnd(ctx context.Context) (MarketFeed, error)
	// OrderEvents returns up to limit events of one order with numbers above after,
	// oldest first, or ErrNotFound.
	OrderEvents(ctx context.Context, merchantID int64, id Identifier, after int64, limit int) ([]EventRecord, error)
	// DataVersions returns the current data versions of merchants with one
	// query. A merchant that does not exist or is suspended is absent from the map.
	DataVersions(ctx context.Context, merchantIDs []int64) (map[int64]DataVersion, error)
	// RevokedTokens returns those of the tokens that are revoked, with one query.
	RevokedTokens(ctx context.Context, tokenIDs []int64) ([]int64, error)
	// CommitVersion returns a text that changes with every commit of any process.
	// ok is false if the store cannot tell without a query.
	CommitVersion() (version string, ok bool)

	// OnEvents adds a function that is called with the merchant after each transaction
	// that has written events, also if it is not known whether the commit succeeded. It
	// must return at once. OnEvents is called before any change.
	OnEvents(notify func(merchantID int64))
	// ImportOrders adds a batch of orders and returns one result for each, in the same
	// order. A batch is one transaction, or several if a reference occurs more than once,
	// or if other changes had to wait too long for it. A refused order does not affect
	// the others. Each created order gets its OrderCreated event.
	ImportOrders(ctx context.Context, batch []Incoming, cause Cause) ([]ImportResult, error)
	// Prepare does a part of the work of ImportOrders ahead, beside the import of others.
	// The order must not change afterwards.
	Prepare(incoming *Incoming)

	// ExpiredReservations returns up to limit reservations made before a time
	// and never activated, and expired ones whose files may still be stored.
	ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]StoredInvoice, error)
	// ExpireReservation ends a reservation, which frees its slot among the
	// order's files; its name stays used. It reports whether the reservation is
	// expired now, by this call or an earlier one. It returns false if the
	// reservation was activated or released.
	ExpireReservation(ctx context.Context, invoice StoredInvoice, at time.Time) (bool, error)
	// DeletedInvoices returns up to limit invoices that were soft-deleted before
	// a time and whose files are still stored.
	DeletedInvoices(ctx context.Context, before time.Time, limit int) ([]StoredInvoice, error)
	// MarkPurged records that the file of a deleted or expired entry is gone.
	MarkPurged(ctx context.Context, invoice StoredInvoice, at time.Time) error

	// DeleteIdempotencyRecords deletes up to limit records created at or before
	// a time and returns how many it deleted.
	DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error)
}

// Tx is one transaction that changes orders. Each method that changes what a
// merchant can see also writes the event of the change: a change without its
// event cannot be expressed. The response cache, entity tags and the change feed rely
// on that.
type Tx interface {
	KeyTx

	// AddMerchant adds a merchant. Adding the same id and name again does
	// nothing. It returns ErrMerchantExists if the id has another name.
	AddMerchant(ctx context.Context, merchant Merchant, entry AuditEntry) error
	// ImportOrder adds an order, as Store.ImportOrders does.
	ImportOrder(ctx context.Context, incoming Incoming, cause Cause) (ImportResult, error)

	// LockOrder returns an order and blocks other changes of it until the
	// transaction ends. It returns ErrNotFound if the order does not exist.
	LockOrder(ctx context.Context, merchantID int64, id Identifier) (LockedOrder, error)
	// LockOrders is called before LockOrder is called for each of many orders, by reference:
	// where each call would take a round trip, it locks all at once.
	LockOrders(ctx context.Context, merchantID int64, references []string) error
	// Transition sets the state and the update time of an order, adjusts the day
	// counts, and writes the OrderStateChanged event.
	Transition(ctx context.Context, order LockedOrder, to State, cause Cause) error
	// Correct sets fields of an order and its update time, writes the OrderUpdated
	// event, and returns the names of the fields that changed. If there are none it
	// writes nothing. It returns ErrErased if the order is erased and the correction is
	// Personal.
	Correct(ctx context.Context, order LockedOrder, correction Correction, cause Cause) ([]string, error)

	// WarnOfDeadline writes the DeadlineNear event of an order, unless it was written for
	// its deadline before. It reports whether it has.
	WarnOfDeadline(ctx context.Context, order LockedOrder, cause Cause) (bool, error)

	// UpdateMerchantData sets fields of an order's MerchantData, writes the OrderUpdated
	// event, and returns the names of the fields that changed. If there are none it
	// writes nothing.
	UpdateMerchantData(ctx context.Context, order LockedOrder, update MerchantDataUpdate, cause Cause) ([]string, error)

	// AppendAudit appends an entry to the audit log of its merchant, or to that of what
	// belongs to no merchant. The store sets the number and the hash.
	AppendAudit(ctx context.Context, entry AuditEntry) error
	// EraseOrder applies Order.Erase to the stored order and removes what else holds
	// personal data of it: the digest of its document, recorded responses, texts in
	// the delivery log, and its words in the search index. It writes the OrderUpdated
	// event. It does nothing and returns false if the order is erased already.
	EraseOrder(ctx context.Context, order LockedOrder, cause Cause) (changed bool, err error)

	// DeleteOrder deletes an order with everything that is stored about it but its
	// events, its order keys and its entries in the audit log, and writes the
	// OrderDeleted event. It does nothing and returns false while files of the order
	// are stored.
	DeleteOrder(ctx context.Context, order LockedOrder, cause Cause) (deleted bool, err error)

	// Invoices returns the active invoices of an order, oldest first.
	Invoices(ctx context.Context, order LockedOrder) ([]Invoice, error)
	// InvoiceNameUsed reports whether a stored name was ever used in the order. It returns
	// ErrTooManyFiles if the order has had MaxInvoicesEver files. Expired reservations do
	// not count: they never were files.
	InvoiceNameUsed(ctx context.Context, order LockedOrder, name string) (bool, error)
	// ReserveInvoice reserves a slot and a name for a file, invisible until it
	// is activated, and returns the id of the entry. It returns ErrTooManyFiles
	// if no slot is free.
	ReserveInvoice(ctx context.Context, order LockedOrder, invoice Invoice) (id int64, err error)
	// ActivateInvoice makes a reserved entry visible and writes the
	// InvoiceUploaded event. It returns ErrInvoiceNotFound if the reservation
	// has expired, or the transaction does.
	ActivateInvoice(ctx context.Context, order LockedOrder, invoice Invoice, cause Cause) error
	// ReleaseInvoice removes a reservation and frees its slot and its name.
	ReleaseInvoice(ctx context.Context, order LockedOrder, id int64) error
	// DeleteInvoice soft-deletes an active invoice, frees its slot, and writes
	// the InvoiceDeleted event. It returns ErrInvoiceNotFound if the order has
	// no such active invoice, or the transaction does.
	DeleteInvoice(ctx context.Context, order LockedOrder, id int64, cause Cause) error

	// AddLinkKey returns the key that signs links. If there is none yet, it stores the given
	// one.
	AddLinkKey(ctx context.Context, key LinkKey, at time.Time) (LinkKey, error)
	// ReplaceLinkKey stores a key in place of the present one.
	ReplaceLinkKey(ctx context.Context, key LinkKey, at time.Time) error

	// LockMerchant returns a merchant and blocks other changes of it, also its events,
	// until the transaction ends. It returns ErrMerchantNotFound.
	LockMerchant(ctx context.Context, id int64) (Merchant, error)
	// UpdateMerchant stores name, suspension and request limit of a locked merchant, and
	// the audit entry of the change.
	UpdateMerchant(ctx context.Context, m Merchant, entry AuditEntry) error

	// HoldIdempotencyKey leaves a record without a response. The key is in use
	// as long as the reservation of the invoice exists.
	HoldIdempotencyKey(ctx context.Context, order LockedOrder, key Key, invoiceID int64) error
}

// StoredInvoice identifies an invoice entry and its order.
type StoredInvoice struct {
	MerchantID    int64
	OrderLegacyID int64
	Reference     string // of the order
	ID            int64  // of the entry
	Name          string // stored name
}

// Incoming is an order to be imported, read from a valid order document.
type Incoming struct {
	Order Order // LegacyID 0: assign the next free one
	// Digest covers the content of the document with its defaults filled in, but
	// not LegacyID. Documents with equal digests have equal content.
	Digest [32]byte
	// Prepared is what Store.Prepare has made of the order; nil: nothing.
	Prepared any
}

// LineStatus says what became of an order document (decision 7) or of a change of an
// order. Clients read it.
type LineStatus string

// The statuses.
const (
	Created   LineStatus = "created"
	Changed   LineStatus = "changed"
	Unchanged LineStatus = "unchanged"   // the order exists with the same content, or has the state and the values already
	Deleted   LineStatus = "deleted"     // the reference is that of an order of the merchant that is deleted
	Conflict  LineStatus = "conflicting" // the reference or the legacy id exists, with other content
	Refused   LineStatus = "refused"     // the order, as it is, does not allow it
	NotFound  LineStatus = "not_found"
	Invalid   LineStatus = "invalid" // the line cannot be read, or the merchant does not exist
)

// ImportError is the error of an order document that is not imported.
type ImportError struct{ ImportResult }

// Error implements error.
func (e *ImportError) Error() string { return string(e.Status) + ": " + e.Reason }

// ImportResult is the result for one order of an import.
type ImportResult struct {
	Status   LineStatus
	LegacyID int64  // of an order created, unchanged or deleted
	Reason   string // of a conflicting or invalid order: the field and what is wrong with it
}
