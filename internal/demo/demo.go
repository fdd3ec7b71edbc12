package demo

import (
	"context"
	"fmt"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

// The demo merchant.
const (
	MerchantID   = 355
	MerchantName = "Demo Store"
)

// Result is what Prepare found or made.
type Result uint8

// The results of Prepare.
const (
	Made    Result = iota + 1 // there was no merchant: the demo is there now
	Kept                      // the demo was there and is as it was
	Skipped                   // there are other merchants and no demo: nothing was made
)

// Prepare makes the demo merchant and its orders where there is no merchant at
// all. It depends on nothing but now: the same moment gives the same orders. A
// demo that was interrupted before its orders came in is completed.
func Prepare(ctx context.Context, orders *order.Service, now time.Time) (Result, error) {
	merchants, err := orders.Merchants(ctx)
	if err != nil {
		return 0, err
	}
	there := false
	for _, merchant := range merchants {
		there = there || merchant.ID == MerchantID && merchant.Name == MerchantName
	}
	if !there && len(merchants) > 0 {
		return Skipped, nil
	}
	if there {
		page, err := orders.List(ctx, MerchantID, order.NewFilter())
		if err != nil {
			return 0, err
		}
		if page.Total > 0 {
			return Kept, nil
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
	return Made, nil
}

// addOrders takes the orders in, all in one transaction.
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
	outcomes, err := orders.Import(ctx, batch)
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		if outcome.Status != order.Created {
			return fmt.Errorf("%s is %s: %s", batch[i].Order.Reference, outcome.Status, outcome.Reason)
		}
	}
	return nil
}

// Example returns the reference of the order that is best to try things on:
// the newest that can still be accepted, else the newest. Empty when there is
// none.
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
