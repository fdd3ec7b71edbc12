package order

import (
	"context"
	"crypto/sha256"
	"io"
	"time"
)

// Store keeps orders, their invoice entries and events. Every method that
// names a merchant sees that merchant's orders only. Beside the kinds named
// with each method, any may return ErrUnavailable.
type Store interface {
	// Order returns one whole order with its active invoices, or ErrNotFound.
	Order(ctx context.Context, merchantID int64, key Identifier) (Order, error)
	// Revision returns an order's number and revision, or ErrNotFound.
	Revision(ctx context.Context, merchantID int64, key Identifier) (number, revision int64, err error)
	// List returns a page of orders, newest first, and the exact total.
	List(ctx context.Context, merchantID int64, filter Filter) (Page, error)
	// InvoiceFile returns the active invoice of an order by its stored name, or
	// ErrInvoiceNotFound.
	InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (Invoice, error)

	// Events returns up to limit of a merchant's events with higher numbers
	// than after, oldest first.
	Events(ctx context.Context, merchantID, after int64, limit int) ([]EventRecord, error)
	// OrderEvents is Events of one order, or ErrNotFound.
	OrderEvents(ctx context.Context, merchantID int64, key Identifier, after int64, limit int) ([]EventRecord, error)
	// NewestEvent returns the number of a merchant's newest event, 0 when there
	// is none, and no merchant.
	NewestEvent(ctx context.Context, merchantID int64) (int64, error)

	// InTx runs fn in one transaction. It commits durably when fn returns nil
	// and otherwise leaves everything as it was and returns fn's error. fn may
	// be run again if the database asks for it, so it must have no effect but
	// through its Tx.
	InTx(ctx context.Context, fn func(Tx) error) error

	// ImportOrders takes in a batch in one transaction, each order on its own
	// merits, and returns an outcome for each, in their order. Adding an order
	// writes its OrderCreated event, by the ActorOperator, at the time now.
	ImportOrders(ctx context.Context, batch []Incoming, now time.Time) ([]ImportResult, error)

	// ExpiredReservations returns up to limit places for files that were
	// reserved before the time given and never activated, and those abandoned
	// whose files may still be there.
	ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]StoredInvoice, error)
	// ExpireReservation gives the place of a reservation back; its name stays
	// used. It reports whether the entry is abandoned now, be it by an earlier
	// call: false says that it was activated or released meanwhile.
	ExpireReservation(ctx context.Context, invoice StoredInvoice, at time.Time) (bool, error)
	// DeletedInvoices returns up to limit invoices deleted before the time
	// given whose files are still kept.
	DeletedInvoices(ctx context.Context, before time.Time, limit int) ([]StoredInvoice, error)
	// MarkPurged notes that the file of a deleted or abandoned invoice is gone.
	MarkPurged(ctx context.Context, invoice StoredInvoice, at time.Time) error

	// DeleteIdempotencyRecords removes up to limit keys, with their answers, that were
	// taken at or before the time given, and returns how many.
	DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error)

	// AddMerchant adds a merchant. The same id and name again is no error;
	// the id with another name is ErrMerchantExists.
	AddMerchant(ctx context.Context, merchant Merchant) error
	// Merchants returns every merchant, by id.
	Merchants(ctx context.Context) ([]Merchant, error)
}

// Tx is one transaction that changes orders.
type Tx interface {
	// LockOrder returns the order and keeps others from changing it until the
	// transaction ends, or returns ErrNotFound.
	LockOrder(ctx context.Context, merchantID int64, key Identifier) (LockedOrder, error)
	// Transition sets the state and update time of an order and keeps the day counts.
	// The caller appends the event of the move: what lists know of the counts
	// follows the events.
	Transition(ctx context.Context, order LockedOrder, to State, at time.Time) error

	// Invoices returns the active invoices of an order, oldest first.
	Invoices(ctx context.Context, order LockedOrder) ([]Invoice, error)
	// InvoiceNames returns every stored name ever used in the order.
	InvoiceNames(ctx context.Context, order LockedOrder) ([]string, error)
	// ReserveInvoice takes a place and a name for a file on its way, invisible
	// until activated, and returns the entry's id. ErrTooManyFiles when no
	// place is left.
	ReserveInvoice(ctx context.Context, order LockedOrder, invoice Invoice) (id int64, err error)
	// ActivateInvoice makes a reserved entry visible. ErrInvoiceNotFound when
	// the reservation was taken back meanwhile.
	ActivateInvoice(ctx context.Context, order LockedOrder, id int64) error
	// ReleaseInvoice forgets a reservation, its place and its name.
	ReleaseInvoice(ctx context.Context, order LockedOrder, id int64) error
	// DeleteInvoice marks an active invoice deleted and gives its place back,
	// or returns ErrInvoiceNotFound.
	DeleteInvoice(ctx context.Context, order LockedOrder, id int64, at time.Time) error

	// ReserveIdempotencyKey takes a merchant's key for a request at a moment. Whoever takes
	// the same key meanwhile waits until the transaction ends. Where the key was
	// taken within IdempotencyRetention it returns *ReplayError with the answer that was kept,
	// ErrIdempotencyKeyReused where that was for another request, and ErrIdempotencyKeyInUse where
	// HoldIdempotencyKey left it without an answer and its reservation is still there. It is
	// called first, before an order is locked.
	ReserveIdempotencyKey(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error
	// HoldIdempotencyKey leaves a key that was taken without an answer, for as long as the
	// reservation of a file of the order has not become an invoice.
	HoldIdempotencyKey(ctx context.Context, order LockedOrder, key string, invoiceID int64) error
	// SaveResponse keeps the answer to the request that a key was taken for.
	SaveResponse(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, answer []byte) error

	// Append writes an event of the order and gives it the merchant's next
	// number. It is called last: it locks the merchant's counter until the
	// transaction ends.
	Append(ctx context.Context, order LockedOrder, event Event) error
}

// StoredInvoice names an invoice entry and the order it belongs to.
type StoredInvoice struct {
	MerchantID    int64
	OrderLegacyID int64
	Reference     string
	ID            int64
	Name          string
}

// Files keeps the bytes of invoice files. Paths are those of InvoicePath.
type Files interface {
	// Stage opens a place for bytes that nobody can see.
	Stage(ctx context.Context) (StagedFile, error)
	// Open returns a stored file; an error that is fs.ErrNotExist when there
	// is none.
	Open(ctx context.Context, path string) (File, error)
	// Remove deletes a stored file. None there is no error.
	Remove(ctx context.Context, path string) error
	// Normalize returns an error when files cannot be stored now.
	Check(ctx context.Context) error
}

// Stage is a file on its way in.
type StagedFile interface {
	io.Writer
	// Commit makes the bytes written so far durable under path. When it has
	// returned nil they survive a power cut. After an error nothing is there,
	// unless the error is ErrOutcomeUnknown: then it may be, or appear later.
	Commit(ctx context.Context, path string) error
	// Abort lets go of what was not published. Safe to call at any time.
	Abort()
}

// File is a stored file being read.
type File interface {
	io.ReadSeekCloser
}
