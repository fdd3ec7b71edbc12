// Package demo creates a merchant with about 60 orders for trying the service:
// orders of the last six weeks in every state, some with requests for invoices,
// some of guests, and a few invoice files. It imports and uploads them like real
// orders and files.
//
// The Simulator makes more orders of the same kind while a service runs, and moves
// them on as carriers do.
package demo

import (
	"context"
	"errors"
	"fmt"
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
	timeZone     = "Europe/Athens"
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
func Prepare(ctx context.Context, services order.Services, now time.Time) (Result, error) {
	orders := services.Orders
	merchants, err := services.Merchants.List(ctx, order.MerchantFilter{})
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
	if err := services.Merchants.Add(ctx, order.Command(), MerchantID, MerchantName, order.Options[order.Merchant]{}); err != nil {
		return 0, err
	}
	zone := timeZone
	if _, err := services.Merchants.Update(ctx, order.Command(), MerchantID, order.MerchantUpdate{TimeZone: &zone}, order.Options[order.Merchant]{}); err != nil {
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
	results, err := orders.Import(ctx, order.Command(), batch)
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

// history are the states of the orders, oldest first, and how many minutes ago they
// were placed and last changed; 0: never.
var history = []struct {
	state           order.State
	placed, changed time.Duration
}{
	{order.Completed, 54710, 34472}, {order.Canceled, 53954, 53498}, {order.Completed, 52289, 28442},
	{order.Completed, 37405, 21657}, {order.Completed, 36144, 12968}, {order.ReturnCanceled, 35319, 8980},
	{order.Completed, 34161, 12800}, {order.RejectedByMerchant, 31833, 31799}, {order.ReturnCanceled, 31174, 7519},
	{order.Completed, 30783, 14447}, {order.RejectedByMerchant, 29695, 29471}, {order.RejectedByMerchant, 29100, 28856},
	{order.RejectedByMerchant, 28830, 27589}, {order.Completed, 28681, 6275}, {order.Canceled, 28576, 27342},
	{order.DeliveredToCustomer, 27253, 21492}, {order.DeliveredToCustomer, 27048, 19936}, {order.DeliveredToCustomer, 26219, 21442},
	{order.DeliveredToCustomer, 24288, 19585}, {order.DeliveredToCustomer, 21404, 18152}, {order.DeliveredToCustomer, 15218, 12289},
	{order.Canceled, 13705, 11888}, {order.Canceled, 10476, 9518}, {order.DeliveryFailed, 8891, 3576},
	{order.DeliveredToCustomer, 7395, 347}, {order.DeliveredToPickupPoint, 7104, 4075}, {order.DeliveryFailed, 6354, 3325},
	{order.DeliveredToPickupPoint, 6292, 2203}, {order.DeliveryFailed, 6288, 1526}, {order.DeliveredToPickupPoint, 5853, 3861},
	{order.PickedByCourier, 5546, 2768}, {order.PickedByCourier, 5438, 3150}, {order.DeliveredToPickupPoint, 5034, 2312},
	{order.PickedByCourier, 4975, 2117}, {order.PickedByCourier, 4863, 2391}, {order.PickedByCourier, 4439, 2932},
	{order.ReadyForShipment, 3753, 3320}, {order.PickedByCourier, 3430, 1388}, {order.ReadyForShipment, 3216, 2516},
	{order.ReadyForShipment, 2967, 2665}, {order.ReadyForShipment, 2238, 1071}, {order.InProcessing, 1929, 1527},
	{order.InProcessing, 1916, 1766}, {order.InProcessing, 1785, 1769}, {order.ReadyForShipment, 1647, 880},
	{order.InProcessing, 1622, 1320}, {order.ReadyForShipment, 1561, 748}, {order.Registered, 1417, 0},
	{order.Registered, 1399, 0}, {order.InProcessing, 1347, 1072}, {order.Registered, 1214, 0},
	{order.Registered, 1083, 0}, {order.InProcessing, 1012, 678}, {order.Registered, 986, 0},
	{order.InProcessing, 941, 831}, {order.Registered, 920, 0}, {order.InProcessing, 815, 411},
	{order.Registered, 715, 0}, {order.Registered, 412, 0}, {order.Registered, 361, 0},
}

// seed is that of the demo orders.
const seed = 1

// firstOrderID is the numeric id of the first order. Those of real orders, which people
// import beside the demo, are smaller, and clients that keep ids in 32 bits can read it.
const firstOrderID = 1_990_000_001

// referencePrefix begins the references of the demo orders.
const referencePrefix = "DEMO-"

// Documents returns the orders as order documents (decision 7), oldest first.
// Only the times in them depend on now.
func Documents(now time.Time) [][]byte {
	now = now.UTC().Truncate(time.Second)
	documents := make([][]byte, len(history))
	for i, was := range history {
		p := placed{
			merchantID: MerchantID, reference: fmt.Sprintf("%s%04d", referencePrefix, 1+i), legacyID: firstOrderID + int64(i), seed: seed,
			state: was.state, createdAt: now.Add(-was.placed * time.Minute), hour: time.Hour,
		}
		if was.changed != 0 {
			p.updatedAt = now.Add(-was.changed * time.Minute)
		}
		documents[i] = p.document()
	}
	return documents
}

// Example returns the reference of the newest demo order that can be accepted, else
// of the newest order; empty if there is no order. The simulator does not move demo
// orders before they are accepted.
func Example(ctx context.Context, orders *order.Service) (string, error) {
	registered, err := newestOrders(ctx, orders, order.MaxPageSize, order.Registered)
	for _, o := range registered {
		if strings.HasPrefix(o.Reference, referencePrefix) {
			return o.Reference, err
		}
	}
	newest, anyErr := newestOrders(ctx, orders, 1)
	if err = errors.Join(err, anyErr); err != nil || len(newest) == 0 {
		return "", err
	}
	return newest[0].Reference, nil
}

// newestOrders returns up to limit orders in one of the states, or in any state if
// there are none.
func newestOrders(ctx context.Context, orders *order.Service, limit int64, states ...order.State) ([]order.Summary, error) {
	filter := order.NewFilter()
	filter.PageSize, filter.AnyState, filter.States = limit, len(states) == 0, states
	page, err := orders.List(ctx, MerchantID, filter)
	return page.Orders, err
}
