package v2

import (
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// unansweredView is a page of the orders that the merchant has yet to accept or reject.
type unansweredView struct {
	Orders []unansweredOrderView `json:"orders"`
	Next   *string               `json:"next"` // cursor of the next page; nil: there is none
}

type unansweredOrderView struct {
	summaryView
	ExpiresAt   *string        `json:"expiresAt"`
	SecondsLeft *int64         `json:"secondsLeft"` // until expiresAt; 0: it has passed; nil: there is none
	LineItems   []lineItemView `json:"lineItems"`
}

// listUnanswered serves GET /orders/unanswered.
func (a API) listUnanswered(r *web.Request) (any, error) {
	query := web.ParseQuery(r)
	list := fmt.Sprintf("unanswered %d", r.Caller.MerchantID) // in which a cursor is valid
	request := order.UnansweredQuery{
		ExpiresBefore: query.Time("expiresBefore"),
		Limit:         query.Limit(order.DefaultUnansweredLimit, order.MaxUnansweredLimit),
	}
	var expiresAt, createdAt, legacyID int64
	if query.Cursor(list, &expiresAt, &createdAt, &legacyID) {
		// The Unix seconds of the zero time are those of the zero time again.
		request.After = &order.UnansweredCursor{ExpiresAt: time.Unix(expiresAt, 0), CreatedAt: time.Unix(createdAt, 0), LegacyID: legacyID}
	}
	if err := query.Err(); err != nil {
		return nil, err
	}
	page, err := a.Orders.Unanswered(r.Context(), r.Caller.MerchantID, request)
	now := a.Orders.Now()
	view := unansweredView{Orders: make([]unansweredOrderView, len(page.Orders))}
	for i, o := range page.Orders {
		view.Orders[i] = unansweredOrderView{
			summaryView: newSummaryView(o.Summary), ExpiresAt: timeOf(o.ExpiresAt), LineItems: newLineItemViews(o.LineItems),
		}
		if !o.ExpiresAt.IsZero() {
			view.Orders[i].SecondsLeft = new(int64(max(0, o.ExpiresAt.Sub(now)) / time.Second))
		}
	}
	if next := page.Next; next != nil {
		view.Next = new(web.EncodeCursor(list, next.ExpiresAt.Unix(), next.CreatedAt.Unix(), next.LegacyID))
	}
	return view, err
}
