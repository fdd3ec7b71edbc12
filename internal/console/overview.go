package console

import (
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const (
	// shownUnanswered and shownWithoutInvoice bound the lists of the overview.
	shownUnanswered     = 10
	shownWithoutInvoice = 5
	// chartDays is how many days the chart shows, today included.
	chartDays = 42
)

// overviewView is the data of the overview.
type overviewView struct {
	New            []newOrder
	States         map[order.State]int64 // orders in each
	Chart          chart
	WithoutInvoice []order.Summary
}

// newOrder is an order that waits for the merchant's answer.
type newOrder struct {
	order.UnansweredOrder
	Left    time.Duration // until it expires; 0: it has expired or never does
	Expired bool
	Urgent  bool // less than urgentTime is left
}

// urgentTime is the time left from which an order is shown as urgent.
const urgentTime = 4 * time.Hour

func (s *site) newOrder(o order.UnansweredOrder) newOrder {
	left := o.ExpiresAt.Sub(s.Orders.Now())
	if o.ExpiresAt.IsZero() {
		return newOrder{UnansweredOrder: o}
	}
	return newOrder{o, max(0, left), left <= 0, left < urgentTime}
}

// overview serves GET /console.
func (s *site) overview(w http.ResponseWriter, r *web.Request) error {
	if home := s.home(r.Caller); home != "" {
		return s.redirect(w, r, home)
	}
	if r.Caller.Operator() || !r.Caller.Can(order.ScopeOrdersRead) {
		return web.ErrForbidden
	}
	ctx, merchantID, now := r.Context(), r.Caller.MerchantID, s.Orders.Now()
	unanswered, err := s.Orders.Unanswered(ctx, merchantID, order.UnansweredQuery{Limit: shownUnanswered})
	if err != nil {
		return err
	}
	view := overviewView{New: web.Collect(unanswered.Orders, s.newOrder)}
	if view.States, err = s.Orders.StateCounts(ctx, merchantID); err != nil {
		return err
	}
	zone := s.zoneOf(r)
	today := order.DayIn(now, zone)
	days, err := s.Orders.DayCounts(ctx, merchantID, order.Filter{From: today - chartDays + 1, To: today, Zone: zone})
	if err != nil {
		return err
	}
	view.Chart = newChart(days, today)
	if view.WithoutInvoice, _, err = s.Orders.WithoutInvoice(ctx, merchantID, nil, shownWithoutInvoice); err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "overview", &view)
}

// queues returns how many orders wait for an answer, and how many for their dispatch: as the
// session was read with, unless the request may have changed them since.
func (s *site) queues(r *web.Request) (unanswered, toShip int64, err error) {
	if r.Method == http.MethodGet {
		return r.Session.Unanswered, r.Session.ToShip, nil
	}
	orders, err := s.Orders.StateCounts(r.Context(), r.Caller.MerchantID)
	unanswered, toShip = queueCounts(orders)
	return unanswered, toShip, err
}

// queueCounts returns the numbers of the two queues.
func queueCounts(orders map[order.State]int64) (unanswered, toShip int64) {
	for _, state := range order.ShipStates {
		toShip += orders[state]
	}
	return orders[order.Registered], toShip
}
