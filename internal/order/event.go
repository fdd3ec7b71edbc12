package order

import "time"

// EventType says what happened. The numbers are stored: append, never reorder.
type EventType uint8

// The types of events.
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

// Event tells of one change. It is written in the transaction of the change.
type Event struct {
	// Seq numbers a merchant's events 1, 2, 3, ... in commit order without
	// gaps. Given by the store.
	Seq   int64
	Type  EventType
	Actor Actor
	At    time.Time

	From, To  State  // of OrderStateChanged; To alone of OrderCreated
	Reason    Reason // of a rejection, where one was given
	InvoiceID int64  // of the invoice events
}
