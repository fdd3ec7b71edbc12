package order

import "time"

// EventType is the type of an event. The numbers are stored: append, never
// reorder.
type EventType uint8

// The event types.
const (
	OrderCreated EventType = iota + 1
	OrderStateChanged
	OrderUpdated
	InvoiceUploaded
	InvoiceDeleted
)

// String returns the published name of the type.
func (t EventType) String() string {
	switch t {
	case OrderCreated:
		return "order.created"
	case OrderStateChanged:
		return "order.state_changed"
	case OrderUpdated:
		return "order.updated"
	case InvoiceUploaded:
		return "invoice.uploaded"
	case InvoiceDeleted:
		return "invoice.deleted"
	}
	return "unknown"
}

// Event records one change. The store writes it in the transaction of the
// change.
type Event struct {
	// Seq numbers a merchant's events 1, 2, 3, ... in commit order without
	// gaps. The store assigns it.
	Seq   int64
	Type  EventType
	Actor Actor
	At    time.Time

	From, To  State  // of OrderStateChanged; To alone of OrderCreated
	Reason    Reason // of a rejection; empty: none given
	InvoiceID int64  // of the invoice events
}
