package tracing

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/order"
)

// Store wraps the store of a service: the operations that requests make have spans.
func (t *Tracing) Store(next order.Store) order.Store { return store{next, t} }

// store is an order.Store with spans. Those methods are not overridden that only
// background work calls.
type store struct {
	order.Store
	t *Tracing
}

// operation begins the span of an operation.
func (s store) operation(ctx context.Context, name string) (context.Context, trace.Span) {
	return s.t.start(ctx, "orders "+name, trace.SpanKindInternal)
}

// Order implements order.Store.
func (s store) Order(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	ctx, span := s.operation(ctx, "get")
	o, err := s.Store.Order(ctx, merchantID, id)
	end(span, err)
	return o, err
}

// Revision implements order.Store.
func (s store) Revision(ctx context.Context, merchantID int64, id order.Identifier) (legacyID, revision int64, err error) {
	ctx, span := s.operation(ctx, "revision")
	legacyID, revision, err = s.Store.Revision(ctx, merchantID, id)
	end(span, err)
	return legacyID, revision, err
}

// List implements order.Store.
func (s store) List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	ctx, span := s.operation(ctx, "list")
	page, err := s.Store.List(ctx, merchantID, filter)
	end(span, err)
	return page, err
}

// Search implements order.Store.
func (s store) Search(ctx context.Context, search order.Search) (order.SearchPage, error) {
	ctx, span := s.operation(ctx, "search")
	page, err := s.Store.Search(ctx, search)
	end(span, err)
	return page, err
}

// InvoiceFile implements order.Store.
func (s store) InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (order.Invoice, error) {
	ctx, span := s.operation(ctx, "invoice")
	invoice, err := s.Store.InvoiceFile(ctx, merchantID, reference, name)
	end(span, err)
	return invoice, err
}

// InvoiceByID implements order.Store.
func (s store) InvoiceByID(ctx context.Context, merchantID, legacyID, invoiceID int64) (string, order.Invoice, error) {
	ctx, span := s.operation(ctx, "invoice")
	reference, invoice, err := s.Store.InvoiceByID(ctx, merchantID, legacyID, invoiceID)
	end(span, err)
	return reference, invoice, err
}

// AuditLog implements order.Store.
func (s store) AuditLog(ctx context.Context, query order.AuditQuery) (order.AuditPage, error) {
	ctx, span := s.operation(ctx, "audit log")
	page, err := s.Store.AuditLog(ctx, query)
	end(span, err)
	return page, err
}

// Events implements order.Store.
func (s store) Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	ctx, span := s.operation(ctx, "events")
	feed, err := s.Store.Events(ctx, merchantID, after, limit)
	end(span, err)
	return feed, err
}

// OrderEvents implements order.Store.
func (s store) OrderEvents(ctx context.Context, merchantID int64, id order.Identifier, after int64, limit int) ([]order.EventRecord, error) {
	ctx, span := s.operation(ctx, "events of an order")
	events, err := s.Store.OrderEvents(ctx, merchantID, id, after, limit)
	end(span, err)
	return events, err
}

// InTx implements order.Store.
func (s store) InTx(ctx context.Context, fn func(order.Tx) error) error {
	ctx, span := s.operation(ctx, "change")
	err := s.Store.InTx(ctx, fn)
	end(span, err)
	return err
}

// ImportOrders implements order.Store.
func (s store) ImportOrders(ctx context.Context, batch []order.Incoming, cause order.Cause) ([]order.ImportResult, error) {
	ctx, span := s.operation(ctx, "import")
	results, err := s.Store.ImportOrders(ctx, batch, cause)
	end(span, err)
	return results, err
}

// Merchants implements order.Store.
func (s store) Merchants(ctx context.Context, filter order.MerchantFilter) ([]order.Merchant, error) {
	ctx, span := s.operation(ctx, "merchants")
	merchants, err := s.Store.Merchants(ctx, filter)
	end(span, err)
	return merchants, err
}
