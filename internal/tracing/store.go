package tracing

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/order"
)

// Store wraps the store of a service: the operations that requests make have spans.
func (t *Tracing) Store(next order.Stores) order.Stores { return store{next, t} }

// store is an order.Stores with spans. Those methods are not overridden that only
// background work calls.
type store struct {
	order.Stores
	t *Tracing
}

// traced runs an operation with a span.
func traced[T any](ctx context.Context, t *Tracing, name string, run func(context.Context) (T, error)) (T, error) {
	ctx, span := t.start(ctx, "orders "+name, trace.SpanKindInternal)
	result, err := run(ctx)
	end(span, err)
	return result, err
}

// Order implements order.Store.
func (s store) Order(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	return traced(ctx, s.t, "get", func(ctx context.Context) (order.Order, error) { return s.Stores.Order(ctx, merchantID, id) })
}

// Orders implements order.Store.
func (s store) Orders(ctx context.Context, at []order.Locator) (map[order.Locator]order.Order, error) {
	return traced(ctx, s.t, "orders", func(ctx context.Context) (map[order.Locator]order.Order, error) { return s.Stores.Orders(ctx, at) })
}

// OrderSizes implements order.Store.
func (s store) OrderSizes(ctx context.Context, at []order.Locator) (map[order.Locator]int64, error) {
	return traced(ctx, s.t, "order_sizes", func(ctx context.Context) (map[order.Locator]int64, error) {
		return s.Stores.OrderSizes(ctx, at)
	})
}

// ExportKeys implements order.Store.
func (s store) ExportKeys(ctx context.Context, merchantID int64, query order.ExportQuery, after *order.Cursor, limit int) ([]order.ExportKey, error) {
	return traced(ctx, s.t, "export", func(ctx context.Context) ([]order.ExportKey, error) {
		return s.Stores.ExportKeys(ctx, merchantID, query, after, limit)
	})
}

// Revision implements order.Store.
func (s store) Revision(ctx context.Context, merchantID int64, id order.Identifier) (legacyID, revision int64, err error) {
	_, err = traced(ctx, s.t, "revision", func(ctx context.Context) (struct{}, error) {
		legacyID, revision, err = s.Stores.Revision(ctx, merchantID, id)
		return struct{}{}, err
	})
	return legacyID, revision, err
}

// List implements order.Store.
func (s store) List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	return traced(ctx, s.t, "list", func(ctx context.Context) (order.Page, error) { return s.Stores.List(ctx, merchantID, filter) })
}

// Search implements order.Store.
func (s store) Search(ctx context.Context, search order.Search) (order.SearchPage, error) {
	return traced(ctx, s.t, "search", func(ctx context.Context) (order.SearchPage, error) { return s.Stores.Search(ctx, search) })
}

// InvoiceFile implements order.Store.
func (s store) InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (order.Invoice, error) {
	return traced(ctx, s.t, "invoice", func(ctx context.Context) (order.Invoice, error) {
		return s.Stores.InvoiceFile(ctx, merchantID, reference, name)
	})
}

// InvoiceByID implements order.Store.
func (s store) InvoiceByID(ctx context.Context, merchantID, legacyID, invoiceID int64) (reference string, invoice order.Invoice, err error) {
	invoice, err = traced(ctx, s.t, "invoice", func(ctx context.Context) (order.Invoice, error) {
		reference, invoice, err = s.Stores.InvoiceByID(ctx, merchantID, legacyID, invoiceID)
		return invoice, err
	})
	return reference, invoice, err
}

// AuditLog implements order.Store.
func (s store) AuditLog(ctx context.Context, query order.AuditQuery) (order.AuditPage, error) {
	return traced(ctx, s.t, "audit log", func(ctx context.Context) (order.AuditPage, error) { return s.Stores.AuditLog(ctx, query) })
}

// Events implements order.Store.
func (s store) Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	return traced(ctx, s.t, "events", func(ctx context.Context) (order.Feed, error) { return s.Stores.Events(ctx, merchantID, after, limit) })
}

// MarketEvents implements order.Store.
func (s store) MarketEvents(ctx context.Context, after order.MarketCursor, limit int) (order.MarketFeed, error) {
	return traced(ctx, s.t, "market_events", func(ctx context.Context) (order.MarketFeed, error) { return s.Stores.MarketEvents(ctx, after, limit) })
}

// OrderEvents implements order.Store.
func (s store) OrderEvents(ctx context.Context, merchantID int64, id order.Identifier, after int64, limit int) ([]order.EventRecord, error) {
	return traced(ctx, s.t, "events of an order", func(ctx context.Context) ([]order.EventRecord, error) {
		return s.Stores.OrderEvents(ctx, merchantID, id, after, limit)
	})
}

// InTx implements order.Store.
func (s store) InTx(ctx context.Context, fn func(order.Tx) error) error {
	_, err := traced(ctx, s.t, "change", func(ctx context.Context) (struct{}, error) { return struct{}{}, s.Stores.InTx(ctx, fn) })
	return err
}

// ImportOrders implements order.Store.
func (s store) ImportOrders(ctx context.Context, batch []order.Incoming, cause order.Cause) ([]order.ImportResult, error) {
	return traced(ctx, s.t, "import", func(ctx context.Context) ([]order.ImportResult, error) {
		return s.Stores.ImportOrders(ctx, batch, cause)
	})
}

// Merchants implements order.Store.
func (s store) Merchants(ctx context.Context, filter order.MerchantFilter) ([]order.Merchant, error) {
	return traced(ctx, s.t, "merchants", func(ctx context.Context) ([]order.Merchant, error) { return s.Stores.Merchants(ctx, filter) })
}
