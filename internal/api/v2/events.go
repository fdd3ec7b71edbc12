package v2

import (
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// eventsView is the answer of a reading of events.
type eventsView struct {
	Events []eventView `json:"events"`
	Next   int64       `json:"next"` // what to ask for after next
}

type eventView struct {
	Seq            int64  `json:"seq"`
	Type           string `json:"type"`
	OrderReference string `json:"orderReference"`
	OrderID        int64  `json:"orderId"`
	At             string `json:"at"`
	Actor          string `json:"actor"`
	Data           any    `json:"data"`
}

// The data of each type of event.
type (
	createdView struct {
		State string `json:"state"`
	}
	stateChangedView struct {
		From   string        `json:"from"`
		To     string        `json:"to"`
		Reason *order.Reason `json:"reason"`
	}
	invoiceView struct {
		InvoiceID int64  `json:"invoiceId"`
		Filename  string `json:"filename"`
	}
	noDataView struct{}
)

// listEvents answers GET /events.
func (a *api) listEvents(w http.ResponseWriter, r *http.Request) error {
	query, err := parseFeedQuery(r, true)
	if err != nil {
		return err
	}
	events, err := a.orders.Events(r.Context(), web.MerchantID(r), query)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newEventsView(events, query.After))
}

// listOrderEvents answers GET /orders/{orderReference}/events.
func (a *api) listOrderEvents(w http.ResponseWriter, r *http.Request) error {
	query, err := parseFeedQuery(r, false)
	if err != nil {
		return err
	}
	events, err := a.orders.OrderEvents(r.Context(), web.MerchantID(r), orderIdentifier(r), query)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newEventsView(events, query.After))
}

// parseFeedQuery reads the query of the feed, or of one order's events, which
// does not wait. Errors are *web.ParamError.
func parseFeedQuery(r *http.Request, waits bool) (order.FeedQuery, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return order.FeedQuery{}, err
	}
	after, err := query.Int("after", 0, 0, web.MaxInt)
	if err != nil {
		return order.FeedQuery{}, err
	}
	limit, err := query.Int("limit", order.DefaultFeedLimit, 1, order.MaxFeedLimit)
	if err != nil || !waits {
		return order.FeedQuery{After: after, Limit: int(limit)}, err
	}
	seconds, err := query.Int("wait", 0, 0, int64(order.MaxFeedWait/time.Second))
	return order.FeedQuery{After: after, Limit: int(limit), Wait: time.Duration(seconds) * time.Second}, err
}

// newEventsView shows the events that came after one.
func newEventsView(events []order.EventRecord, after int64) eventsView {
	view := eventsView{Events: make([]eventView, len(events)), Next: after}
	for i, e := range events {
		view.Events[i] = eventView{
			Seq: e.Seq, Type: e.Type.String(), OrderReference: e.Reference, OrderID: e.LegacyID,
			At: e.At.UTC().Format(time.RFC3339), Actor: e.Actor.String(), Data: newDataView(e),
		}
		view.Next = e.Seq
	}
	return view
}

func newDataView(e order.EventRecord) any {
	switch e.Type {
	case order.OrderCreated:
		return createdView{State: e.To.String()}
	case order.OrderStateChanged:
		view := stateChangedView{From: e.From.String(), To: e.To.String()}
		if e.Reason != "" {
			view.Reason = &e.Reason
		}
		return view
	case order.InvoiceUploaded, order.InvoiceDeleted:
		return invoiceView{InvoiceID: e.InvoiceID, Filename: e.FileName}
	}
	return noDataView{}
}
