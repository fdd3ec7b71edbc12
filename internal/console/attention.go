package console

import (
	"net/http"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const (
	// shownOverdue and shownWebhooks bound the lists of the page for operators.
	shownOverdue  = 10
	shownWebhooks = 10
	// attentionCursor names the list of stores for its cursors.
	attentionCursor = "attention"
)

// attentionView is the data of the page that operators begin with: what needs them.
type attentionView struct {
	Now       time.Time
	Overview  *order.Overview    // nil: the token does not allow it
	Overdue   []order.FoundOrder // the longest overdue ones
	Next      string             // query of the next page of stores; empty: there is none
	Endpoints []webhook.Endpoint // given up or failing; nil: none, or the token does not allow them
}

func (v attentionView) stores() []int64 {
	ids := append(web.Collect(v.Overdue, foundStore), web.Collect(v.Endpoints, endpointStore)...)
	if v.Overview != nil {
		for _, m := range v.Overview.Merchants {
			ids = append(ids, m.MerchantID)
		}
	}
	return ids
}

// Unanswered returns how many orders wait for an answer.
func (v attentionView) Unanswered() int64 { return v.Overview.States[order.Registered] }

// Age returns how long ago a time was.
func (v attentionView) Age(t time.Time) time.Duration { return v.Now.Sub(t) }

// OldestDay returns the day of the oldest order that waits for an answer, for the search.
func (v attentionView) OldestDay() string { return order.DayOf(v.Overview.OldestUnanswered).String() }

// Most reports whether there may be more overdue orders than are counted.
func (v attentionView) Most() bool { return v.Overview.Overdue == order.MaxOverdue }

// attention serves GET /operator. A session that may see none of it goes to its first
// section.
func (s *site) attention(w http.ResponseWriter, r *web.Request) error {
	allowed := sectionsOf(r.Caller.Scopes)
	if len(allowed) == 0 {
		return web.ErrForbidden
	}
	if allowed[0].Name != attentionSection {
		return s.redirect(w, r, allowed[0].Path())
	}
	view := attentionView{Now: s.Orders.Now()}
	if r.Caller.Can(order.ScopeOrdersRead) {
		if err := s.readOverview(r, &view); err != nil {
			return err
		}
	}
	if r.Caller.Can(order.ScopeWebhooks) {
		for _, state := range []delivery.State{delivery.Failed, delivery.Failing} {
			endpoints, err := s.Webhooks.Page(r.Context(), state, 0, shownWebhooks)
			if err != nil {
				return err
			}
			view.Endpoints = append(view.Endpoints, endpoints...)
		}
	}
	return s.show(w, r, http.StatusOK, "attention", view)
}

// readOverview reads the overview of the orders, with the page of stores that the query
// names, and the longest overdue orders.
func (s *site) readOverview(r *web.Request, view *attentionView) error {
	query := web.ParseQuery(r)
	var after order.OverviewCursor
	stores := order.OverviewQuery{Limit: order.DefaultOverviewLimit}
	if query.Cursor(attentionCursor, &after.Unanswered, &after.MerchantID) {
		stores.After = &after
	}
	if err := query.Err(); err != nil {
		return err
	}
	overview, err := s.Orders.Overview(r.Context(), stores)
	if err != nil {
		return err
	}
	view.Overview = &overview
	if overview.Next != nil {
		view.Next = "?" + web.CursorName + "=" + web.EncodeCursor(attentionCursor, overview.Next.Unanswered, overview.Next.MerchantID)
	}
	if overview.Overdue == 0 {
		return nil
	}
	overdue := order.Search{From: order.NoDay, To: order.NoDay, ExpiresBefore: view.Now, Sort: order.SortExpires, Limit: shownOverdue}
	page, err := s.Orders.Search(r.Context(), overdue)
	view.Overdue = page.Orders
	return err
}
