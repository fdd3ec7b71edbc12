// Package demo creates a merchant with about 60 orders for trying the service:
// orders of the last six weeks in every state, some with requests for invoices,
// some of guests, and a few invoice files. It imports and uploads them like real
// orders and files.
//
// All persons, companies, couriers and products are invented (orders.jsonl). Phone
// numbers and tax numbers are of ranges that are not assigned.
package demo

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
	if err := orders.AddMerchant(ctx, MerchantID, MerchantName, order.MerchantOptions{}); err != nil {
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
	documents := Documents(now)
	batch := make([]order.Incoming, len(documents))
	for i, document := range documents {
		var err error
		if batch[i], err = ingest.Parse(document); err != nil {
			return err
		}
	}
	results, err := orders.Import(ctx, batch, order.Source{})
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

// ordersJSONL has the orders as order documents (decision 7), one a line, oldest
// first. Their times are relative: "now-27h5m3s" is a time, "now-27h5m3s date" the
// day of that time.
//
//go:embed orders.jsonl
var ordersJSONL []byte

var relativeTime = regexp.MustCompile(`"now[-+][0-9hms]+( date)?"`)

// Documents returns the orders as order documents (decision 7), oldest first.
// Only the times in them depend on now.
func Documents(now time.Time) [][]byte {
	now = now.UTC().Truncate(time.Second)
	text := relativeTime.ReplaceAllFunc(bytes.TrimSpace(ordersJSONL), func(relative []byte) []byte {
		age, isDay := strings.CutSuffix(strings.Trim(string(relative), `"`), " date")
		form := time.RFC3339
		if isDay {
			form = time.DateOnly
		}
		offset, err := time.ParseDuration(strings.TrimPrefix(age, "now"))
		if err != nil {
			return relative // not a valid time, which the import refuses
		}
		return []byte(`"` + now.Add(offset).Format(form) + `"`)
	})
	return bytes.Split(text, []byte("\n"))
}

// Example returns the reference of the newest order that can be accepted, else
// of the newest order; empty if there is no order.
func Example(ctx context.Context, orders *order.Service) (string, error) {
	newest, err := newestOrder(ctx, orders, order.Registered)
	if err == nil && newest.Reference == "" {
		newest, err = newestOrder(ctx, orders)
	}
	return newest.Reference, err
}

// newestOrder returns the newest order in one of the states, or in any state if
// there are none; the zero value if there is no such order.
func newestOrder(ctx context.Context, orders *order.Service, states ...order.State) (order.Summary, error) {
	filter := order.NewFilter()
	filter.PageSize, filter.AnyState, filter.States = 1, len(states) == 0, states
	page, err := orders.List(ctx, MerchantID, filter)
	if err != nil || len(page.Orders) == 0 {
		return order.Summary{}, err
	}
	return page.Orders[0], nil
}
