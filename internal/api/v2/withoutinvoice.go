package v2

import (
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// withoutInvoiceView is a page of the orders that have no invoice file and want one.
type withoutInvoiceView struct {
	Orders []summaryView `json:"orders"`
	Next   *string       `json:"next"` // cursor of the next page; nil: there is none
}

// listWithoutInvoice serves GET /orders/without-invoice.
func (a API) listWithoutInvoice(r *web.Request) (any, error) {
	query := web.ParseQuery(r)
	list := fmt.Sprintf("without-invoice %d", r.Caller.MerchantID) // in which a cursor is valid
	limit := query.Limit(order.DefaultUnansweredLimit, order.MaxUnansweredLimit)
	var after *order.Cursor
	var createdAt, legacyID int64
	if query.Cursor(list, &createdAt, &legacyID) {
		after = &order.Cursor{CreatedAt: time.Unix(createdAt, 0), LegacyID: legacyID}
	}
	if err := query.Err(); err != nil {
		return nil, err
	}
	orders, next, err := a.Orders.WithoutInvoice(r.Context(), r.Caller.MerchantID, after, limit)
	view := withoutInvoiceView{Orders: web.Collect(orders, newSummaryView)}
	if next != nil {
		view.Next = new(web.EncodeCursor(list, next.CreatedAt.Unix(), next.LegacyID))
	}
	return view, err
}
