package operator

import (
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// inspectionView is everything about one order.
type inspectionView struct {
	Merchant merchantRef `json:"merchant"`
	OrderID  int64       `json:"orderId"`
	Order    any         `json:"order"`   // as its merchant sees it
	History  any         `json:"history"` // its events, oldest first, as its merchant sees them
	Files    []fileView  `json:"files"`

	Deliveries []webhookapi.OrderDelivery `json:"deliveries"` // of its events, newest first
}

// merchantRef is a merchant in the view of something else.
type merchantRef struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// fileView is an invoice file that an order has or had.
type fileView struct {
	ID         int64   `json:"id"`
	Filename   string  `json:"filename"`
	Size       int64   `json:"size"` // bytes
	UploadedAt string  `json:"uploadedAt"`
	DeletedAt  *string `json:"deletedAt"`
	PurgedAt   *string `json:"purgedAt"` // when its bytes were removed
}

func newFileView(f order.FileEntry) fileView {
	return fileView{
		ID: f.ID, Filename: f.Name, Size: f.Size,
		UploadedAt: web.TimeText(f.CreatedAt), DeletedAt: web.TimeOrNull(f.DeletedAt), PurgedAt: web.TimeOrNull(f.PurgedAt),
	}
}

// inspectOrder serves GET /orders/{orderReference}.
func (a API) inspectOrder(r *web.Request) (any, error) {
	all, err := a.Orders.Inspect(r.Context(), r.PathValue("orderReference"))
	if err != nil {
		return nil, err
	}
	deliveries, err := a.Webhooks.Webhooks.OrderDeliveries(r.Context(), all.Order.MerchantID, all.Order.LegacyID)
	if err != nil {
		return nil, err
	}
	view := inspectionView{
		Merchant: merchantRef{ID: all.Order.MerchantID, Name: all.Order.MerchantName}, OrderID: all.Order.LegacyID,
		Order: a.OrderView(all.Order), History: a.EventViews(all.Events), Files: web.Collect(all.Files, newFileView),
		Deliveries: webhookapi.NewOrderDeliveries(deliveries),
	}
	r.LogOrder(all.Order.Reference, all.Order.LegacyID)
	return view, nil
}

// overviewView is the numbers of all orders.
type overviewView struct {
	States           map[string]int64 `json:"states"`
	OldestUnanswered *string          `json:"oldestUnanswered"`
	Overdue          int64            `json:"overdue"`
	Merchants        []unansweredView `json:"merchants"`
	Next             *string          `json:"next"` // cursor of the next page of merchants; nil: there is none
}

// unansweredView is a merchant with orders that it has yet to accept or reject.
type unansweredView struct {
	ID               int64   `json:"id"`
	Name             string  `json:"name"`
	Unanswered       int64   `json:"unanswered"`
	OldestUnanswered *string `json:"oldestUnanswered"`
}

func newUnansweredView(m order.MerchantUnanswered) unansweredView {
	return unansweredView{ID: m.MerchantID, Name: m.Name, Unanswered: m.Unanswered, OldestUnanswered: web.TimeOrNull(m.Oldest)}
}

// overview serves GET /overview.
func (a API) overview(r *web.Request) (any, error) {
	query, err := parseOverview(r)
	if err != nil {
		return nil, err
	}
	o, err := a.Orders.Overview(r.Context(), query)
	view := overviewView{
		States: make(map[string]int64, len(o.States)), OldestUnanswered: web.TimeOrNull(o.OldestUnanswered), Overdue: o.Overdue,
		Merchants: web.Collect(o.Merchants, newUnansweredView),
	}
	for state, n := range o.States {
		view.States[state.String()] = n
	}
	if o.Next != nil {
		view.Next = new(web.EncodeCursor("", o.Next.Unanswered, o.Next.MerchantID))
	}
	return view, err
}

// parseOverview parses the query of GET /overview. Every error is a *strict.ParamError.
func parseOverview(r *web.Request) (order.OverviewQuery, error) {
	query := web.ParseQuery(r)
	overview := order.OverviewQuery{Limit: query.Limit(order.DefaultOverviewLimit, order.MaxOverviewLimit)}
	var after order.OverviewCursor
	if query.Cursor("", &after.Unanswered, &after.MerchantID) {
		overview.After = &after
	}
	return overview, query.Err()
}
