package demo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

// The demo merchant.
const (
	MerchantID   = 355
	MerchantName = "Demo Store"
)

// Result is the result of Prepare.
type Result uint8

// The results of Prepare.
const (
	Created Result = iota + 1 // there was no merchant: Prepare created the demo
	Exists                    // the demo exists and was not changed
	Skipped                   // there are other merchants and no demo: nothing was created
)

// Prepare creates the demo merchant and its orders if there is no merchant. It
// also completes a demo that was interrupted before its orders were imported.
// The orders depend on now only.
func Prepare(ctx context.Context, orders *order.Service, now time.Time) (Result, error) {
	merchants, err := orders.Merchants(ctx)
	if err != nil {
		return 0, err
	}
	exists := slices.ContainsFunc(merchants, func(m order.Merchant) bool { return m.ID == MerchantID && m.Name == MerchantName })
	if !exists && len(merchants) > 0 {
		return Skipped, nil
	}
	if exists {
		page, err := orders.List(ctx, MerchantID, order.NewFilter())
		if err != nil {
			return 0, err
		}
		if page.Total > 0 {
			return Exists, nil
		}
	}
	if err := orders.AddMerchant(ctx, MerchantID, MerchantName); err != nil {
		return 0, err
	}
	if err := addOrders(ctx, orders, now); err != nil {
		return 0, fmt.Errorf("add demo orders: %w", err)
	}
	if err := addInvoices(ctx, orders); err != nil {
		return 0, fmt.Errorf("add demo invoices: %w", err)
	}
	return Created, nil
}

// addOrders imports the orders in one transaction.
func addOrders(ctx context.Context, orders *order.Service, now time.Time) error {
	documents, err := Documents(now)
	if err != nil {
		return err
	}
	batch := make([]order.Incoming, len(documents))
	for i, document := range documents {
		if batch[i], err = ingest.Parse(document); err != nil {
			return err
		}
	}
	results, err := orders.Import(ctx, batch)
	if err != nil {
		return err
	}
	for i, result := range results {
		if result.Status != order.Created {
			return fmt.Errorf("%s is %s: %s", batch[i].Order.Reference, result.Status, result.Reason)
		}
	}
	return nil
}

// Example returns the reference of the newest order that can be accepted, else
// of the newest order; empty if there is no order.
func Example(ctx context.Context, orders *order.Service) (string, error) {
	filter := order.NewFilter()
	filter.PageSize = 1
	filter.AnyState, filter.States = false, []order.State{order.Registered}
	page, err := orders.List(ctx, MerchantID, filter)
	if err == nil && len(page.Orders) == 0 {
		filter.AnyState, filter.States = true, nil
		page, err = orders.List(ctx, MerchantID, filter)
	}
	if err != nil || len(page.Orders) == 0 {
		return "", err
	}
	return page.Orders[0].Reference, nil
}
