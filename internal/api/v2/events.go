package v2

import (
	"net/http"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// eventsView is a page of the feed.
type eventsView struct {
	Events []eventView `json:"events"`
	Next   int64       `json:"next"` // the value of after for the next page
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

// listEvents serves GET /events.
func (a API) listEvents(w http.ResponseWriter, r *web.Request) error {
	query, err := parseFeedQuery(r.Request, true)
	if err != nil {
		return err
	}
	events, err := a.Orders.Events(r.Context(), r.MerchantID, query)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newEventsView(events, query.After))
}

// listOrderEvents serves GET /orders/{orderReference}/events.
func (a API) listOrderEvents(w http.ResponseWriter, r *web.Request) error {
	query, err := parseFeedQuery(r.Request, false)
	if err != nil {
		return err
	}
	events, err := a.Orders.OrderEvents(r.Context(), r.MerchantID, orderID(r), query)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newEventsView(events, query.After))
}

// parseFeedQuery parses the query of the feed. The events of a single order are the
// same without waiting. Every error is a *web.ParamError.
func parseFeedQuery(r *http.Request, mayWait bool) (order.FeedQuery, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return order.FeedQuery{}, err
	}
	after, err := query.Int("after", 0, 0, web.MaxInt)
	if err != nil {
		return order.FeedQuery{}, err
	}
	limit, err := query.Int("limit", order.DefaultFeedLimit, 1, order.MaxFeedLimit)
	if err != nil || !mayWait {
		return order.FeedQuery{After: after, Limit: int(limit)}, err
	}
	seconds, err := query.Int("wait", 0, 0, int64(order.MaxFeedWait/time.Second))
	return order.FeedQuery{After: after, Limit: int(limit), Wait: time.Duration(seconds) * time.Second}, err
}

// newEventsView returns the view of the events after a number.
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
