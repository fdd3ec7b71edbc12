package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// foundView is the data of the search over all merchants.
type foundView struct {
	Form     filterForm
	Merchant formView
	States   []order.State
	Orders   []order.FoundOrder
	Overdue  bool   // sorted by deadline
	First    string // query of the first page; empty: this is it
	Next     string // query of the next page; empty: there is none
}

// operatorSearch serves GET /operator/orders.
func (s *site) operatorSearch(w http.ResponseWriter, r *web.Request) error {
	form, filter := readFilter(r.Request)
	view := foundView{Form: form, Merchant: newForm(r.URL.Query()), States: order.States()}
	merchantID, text := int64(0), strings.TrimSpace(view.Merchant.Value("merchant"))
	if text != "" {
		var ok bool
		if merchantID, ok = order.ParseID(text); !ok || merchantID == 0 {
			view.Merchant.refuse("merchant", "problem.id")
		}
	}
	if !form.valid() || !view.Merchant.valid() {
		return s.show(w, r, http.StatusBadRequest, "found", view)
	}
	after := readCursor(r.Request)
	search := form.search(merchantID, filter, after)
	if view.Merchant.Value("overdue") != "" {
		search.ExpiresBefore = s.Orders.Now()
		if view.Overdue = !search.HasText(); view.Overdue {
			search.Sort = order.SortExpires
		}
	}
	page, err := s.Orders.Search(r.Context(), search)
	if err != nil {
		return err
	}
	view.Orders = page.Orders
	query := r.URL.Query()
	if query.Del("after"); after != nil {
		view.First = "?" + query.Encode()
	}
	if page.Next != nil {
		query.Set("after", writeCursor(*page.Next))
		view.Next = "?" + query.Encode()
	}
	return s.show(w, r, http.StatusOK, "found", view)
}

// auditShown is how many entries of the audit log the page of an order shows.
const auditShown = 50

// operatorOrderView is the data of the page of an order for operators.
type operatorOrderView struct {
	orderView
	To          []order.State // transitions that are allowed
	Form        formView      // of a transition
	MayCorrect  bool
	Correct     formView // of a correction
	FileEntries []order.FileEntry
	Deliveries  []orderDelivery
	Audit       []order.AuditEntry
}

// orderDelivery is a delivery of an event of an order. Only operators who may see
// webhooks see the address and the response.
type orderDelivery struct {
	webhook.OrderDelivery
	URL string // empty: unknown
}

// operatorNotices are what the address of an order may say was done.
var operatorNotices = map[string]string{"yes": "transition.done", "corrected": "correct.done"}

// operatorOrder serves GET /operator/orders/{merchant}/{reference}.
func (s *site) operatorOrder(w http.ResponseWriter, r *web.Request) error {
	view := operatorOrderView{}
	view.Notice = operatorNotices[r.URL.Query().Get("done")]
	return s.showOperatorOrder(w, r, http.StatusOK, view)
}

// showOperatorOrder sends the page of the order in the path. The view says what
// happened. A form that the view does not have is a new one.
func (s *site) showOperatorOrder(w http.ResponseWriter, r *web.Request, status int, view operatorOrderView) error {
	merchantID := merchantOf(r)
	all, err := s.Orders.Inspect(r.Context(), r.PathValue("reference"))
	if err == nil && all.Order.MerchantID != merchantID {
		err = order.ErrNotFound
	}
	if err != nil {
		return err
	}
	view.Order, view.History, view.FileEntries = all.Order, all.Events, all.Files
	if view.Deliveries, err = s.orderDeliveries(r, view.Order); err != nil {
		return err
	}
	if r.Caller.Can(order.ScopeAudit) {
		page, err := s.Audit.Page(r.Context(), order.AuditQuery{MerchantID: &merchantID, Reference: view.Order.Reference, Limit: auditShown})
		if err != nil {
			return err
		}
		view.Audit = page.Entries
	}
	view.MayCorrect = r.Caller.Can(order.ScopeOrdersTransition)
	for _, to := range order.States() {
		if view.MayCorrect && order.ActorOperator.CanTransition(view.Order.State, to) {
			view.To = append(view.To, to)
		}
	}
	if view.Correct.problems == nil {
		view.Correct = correctionForm(view.Order)
	}
	by := slices.Concat(eventCallers(view.History), entryCallers(view.Audit))
	if view.Names, err = s.namesOf(r, by); err != nil {
		return err
	}
	view.Reasons = order.Reasons
	return s.show(w, r, status, "operatororder", view)
}

// orderDeliveries returns the newest deliveries of the events of an order.
func (s *site) orderDeliveries(r *web.Request, o order.Order) ([]orderDelivery, error) {
	deliveries, err := s.Webhooks.OrderDeliveries(r.Context(), o.MerchantID, o.LegacyID)
	if err != nil || len(deliveries) == 0 {
		return nil, err
	}
	addresses := make(map[int64]string)
	if r.Caller.Can(order.ScopeWebhooks) {
		endpoints, err := s.Webhooks.List(r.Context(), o.MerchantID)
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			addresses[e.ID] = e.URL
		}
	}
	views := make([]orderDelivery, len(deliveries))
	for i, d := range deliveries {
		if !r.Caller.Can(order.ScopeWebhooks) {
			d.Response = ""
		}
		views[i] = orderDelivery{d, addresses[d.WebhookID]}
	}
	return views, nil
}

// transition serves POST /operator/orders/{merchant}/{reference}/state.
func (s *site) transition(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form, reason := newForm(values), order.Reason(strings.TrimSpace(values.Get("reason")))
	to, ok := order.ParseState(values.Get("state"))
	switch {
	case !ok:
		form.refuse("state", "transition.state")
	case !reason.ValidFor(to):
		form.refuse("reason", "transition.reason")
		if to == order.RejectedByMerchant {
			form.refuse("reason", "transition.rejection")
		}
	}
	if !form.valid() {
		return s.showOperatorOrder(w, r, http.StatusUnprocessableEntity, operatorOrderView{Form: form})
	}
	reference := r.PathValue("reference")
	options := web.FormOptions[order.WriteResult](r)
	change := order.Update{To: to, Reason: reason}
	_, err := s.Orders.ChangeOrder(r.Context(), r.Caller, merchantOf(r), order.ByReference(reference), change, options)
	switch err = replayed(err); {
	case errors.Is(err, order.ErrPreconditionFailed), errors.Is(err, order.ErrInvalidTransition):
		return s.showOperatorConflict(w, r, operatorOrderView{Form: form})
	case err != nil:
		return err
	}
	http.Redirect(w, r.Request, s.root+operatorOrderPath(r.PathValue("merchant"), reference)+"?done=yes", http.StatusSeeOther)
	return nil
}

// showOperatorConflict shows an order that has changed since the form was made, with
// the newest change of it and what was typed.
func (s *site) showOperatorConflict(w http.ResponseWriter, r *web.Request, view operatorOrderView) error {
	view.Problem = "conflict.changed"
	events, err := s.Orders.OrderEvents(r.Context(), merchantOf(r), order.ByReference(r.PathValue("reference")), order.FeedQuery{Limit: order.MaxFeedLimit})
	if err != nil {
		return err
	}
	if n := len(events); n > 0 {
		view.First = &events[n-1]
	}
	return s.showOperatorOrder(w, r, http.StatusConflict, view)
}

// operatorOrderPath returns the path of the page of an order for operators, below the
// root. Both parts stand in the path of a request.
func operatorOrderPath(merchant, reference string) string {
	return operatorPrefix + "/orders/" + merchant + "/" + reference
}
