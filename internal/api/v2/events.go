package v2

import (
	"net/http"
	"time"

	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// eventsView is a page of the events of an order.
type eventsView struct {
	Events []eventView `json:"events"`
	Next   int64       `json:"next"` // the value of after for the next page
}

// feedView is a page of the feed.
type feedView struct {
	eventsView
	Newest  int64  `json:"newest"` // number of the newest event
	History string `json:"history"`
	// Problem says that the client has events that are not in the feed. It is no error: clients
	// compare after with Newest, since a failover may have lost events.
	Problem string `json:"problem,omitempty"`
}

const beyondNewest = "after is above newest: it is of another history, or of another merchant; begin a new copy"

type eventView struct {
	Seq            int64   `json:"seq"`
	Type           string  `json:"type"`
	OrderReference string  `json:"orderReference"` // empty: the event has no order
	OrderID        int64   `json:"orderId"`        // 0: the event has no order
	At             string  `json:"at"`
	Actor          string  `json:"actor"`
	TokenID        *int64  `json:"tokenId"`   // nil: no request made the change
	RequestID      *string `json:"requestId"` // nil: no request made the change
	Data           any     `json:"data"`
	// Order points to the order, nil if it is deleted or the event has none. It is nil
	// itself if orders were not asked for.
	Order *any `json:"order,omitempty"`
	// OrderProblem is why there is no order although it was asked for and exists: null
	// would say that it is deleted.
	OrderProblem string `json:"orderProblem,omitempty"`
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
	updatedView struct {
		Fields []string `json:"fields"` // names of those that changed
	}
	invoiceView struct {
		InvoiceID int64  `json:"invoiceId"`
		Filename  string `json:"filename"`
	}
	webhookFailedView struct {
		WebhookID int64        `json:"webhookId"`
		Reason    order.Reason `json:"reason"`
	}
	deadlineNearView struct {
		ExpiresAt string `json:"expiresAt"` // as in the order
	}
	noDataView struct{}
)

// listEvents serves GET /events.
func (a API) listEvents(w http.ResponseWriter, r *web.Request) error {
	query, err := parseFeedQuery(r, true)
	if err != nil {
		return err
	}
	query.TokenID, query.OnWait = r.Caller.TokenID, r.Leave
	feed, err := a.Orders.Events(r.Context(), r.Caller.MerchantID, query)
	if err == nil && feed.Waited {
		err = r.Reauthenticate(w.Header())
	}
	if err != nil {
		return err
	}
	view := newEventsView(feed.Events, feed.Next)
	if query.Orders {
		for i, e := range feed.Events {
			view.Events[i].addOrder(e.Order, newMerchantOrderView, a.StorageURL)
		}
	}
	page := feedView{view, feed.Version.Event, feed.History, ""}
	if !query.Latest && query.After > page.Newest {
		page.Problem = beyondNewest
	}
	return web.WriteJSON(w, http.StatusOK, page)
}

// listOrderEvents serves GET /orders/{orderReference}/events.
func (a API) listOrderEvents(r *web.Request) (any, error) {
	query, err := parseFeedQuery(r, false)
	if err != nil {
		return nil, err
	}
	events, err := a.Orders.OrderEvents(r.Context(), r.Caller.MerchantID, orderID(r), query)
	next := query.After
	if n := len(events); n > 0 {
		next = events[n-1].Seq
	}
	return newEventsView(events, next), err
}

// parseFeedQuery parses the query of the feed. The events of a single order are the
// same without waiting and without the latest. Every error is a *strict.ParamError.
func parseFeedQuery(r *web.Request, ofFeed bool) (order.FeedQuery, error) {
	query := web.ParseQuery(r)
	var feed order.FeedQuery
	if feed.Latest = ofFeed && query.Text("after") == "latest"; !feed.Latest {
		hint := ""
		if ofFeed {
			hint = ", or latest"
		}
		feed.After = query.Int("after", 0, 0, strict.MaxInt, hint)
	}
	feed.Limit = query.Limit(order.DefaultFeedLimit, order.MaxFeedLimit)
	if ofFeed {
		feed.Wait = time.Duration(query.Int("wait", 0, 0, int64(order.MaxFeedWait/time.Second))) * time.Second
		feed.Orders = query.OneOf("include", "order") != ""
		feed.Wants = webhookapi.ParseWanted(query)
	}
	return feed, query.Err()
}

// NewEventViews returns events as this version shows them, for the operator interface.
func NewEventViews(events []order.EventRecord) any { return newEventsView(events, 0).Events }

// marketEventView is an event in the feed of all merchants.
type marketEventView struct {
	ID         string `json:"id"` // no other event has it, in any history
	MerchantID int64  `json:"merchantId"`
	eventView
}

// NewMarketEventViews returns events of several merchants, if asked for with their orders,
// for the operator interface.
func NewMarketEventViews(events []order.EventRecord, orders bool, storageURL string) any {
	return web.Collect(events, func(e order.EventRecord) marketEventView { return newMarketEventView(e, orders, storageURL) })
}

func newMarketEventView(e order.EventRecord, orders bool, storageURL string) marketEventView {
	view := marketEventView{e.ID(), e.MerchantID, newEventView(e)}
	if orders {
		view.addOrder(e.Order, NewOrderView, storageURL)
	}
	return view
}

// newEventsView returns the view of events and the value of after for the next
// page.
func newEventsView(events []order.EventRecord, next int64) eventsView {
	return eventsView{Events: web.Collect(events, newEventView), Next: next}
}

func newEventView(e order.EventRecord) eventView {
	return eventView{
		Seq: e.Seq, Type: e.Type.String(), OrderReference: e.Reference, OrderID: e.LegacyID,
		At: web.TimeText(e.At), Actor: e.By.Actor.String(),
		TokenID: web.NonZero(e.By.TokenID), RequestID: web.NonZero(e.By.RequestID), Data: newDataView(e),
	}
}

// addOrder adds the view of the order to an event, null for nil, or why there is none.
func (v *eventView) addOrder(o *order.Order, newView func(order.Order, string) any, storageURL string) {
	if o != nil && o.Unreadable {
		v.OrderProblem = unreadable
		return
	}
	var view any
	if o != nil {
		view = newView(*o, storageURL)
	}
	v.Order = &view
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
	case order.OrderUpdated:
		return updatedView{Fields: append([]string{}, e.Fields...)}
	case order.InvoiceUploaded, order.InvoiceDeleted:
		return invoiceView{InvoiceID: e.InvoiceID, Filename: e.FileName}
	case order.WebhookFailed, order.WebhookFailing:
		return webhookFailedView{WebhookID: e.WebhookID, Reason: e.Reason}
	case order.DeadlineNear:
		return deadlineNearView{*timeOf(e.ExpiresAt)}
	}
	return noDataView{}
}
