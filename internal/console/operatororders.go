package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// foundView is the data of the search over all merchants.
type foundView struct {
	filterView
	Stores  []order.Merchant // whose name or number is searched for
	Orders  []order.FoundOrder
	Found   foundCount
	Overdue bool   // sorted by deadline
	First   string // query of the first page; empty: this is it
	Next    string // query of the next page; empty: there is none
}

// operatorSearch serves GET /operator/orders.
func (s *site) operatorSearch(w http.ResponseWriter, r *web.Request) error {
	form, filter := readFilter(r.URL.Query())
	if store := r.URL.Query().Get("merchant"); store != "" {
		form.values.Set("merchant", store)
	}
	view := foundView{filterView: filterView{Form: form, Path: operatorPrefix + "/orders", Market: true}}
	merchantID, err := s.readStore(r, form)
	if err != nil {
		return err
	}
	if !form.valid() {
		return s.show(w, r, http.StatusBadRequest, "found", view)
	}
	after := readCursor(r.URL.Query())
	search := s.search(form, merchantID, filter, after)
	view.Overdue = search.Sort == order.SortExpires
	search.Count = search.HasText()
	page, err := s.Orders.Search(r.Context(), search)
	if err != nil {
		return err
	}
	view.Orders, view.Found = page.Orders, newFoundCount(search, page)
	if form.Value("q") != "" && after == nil {
		if view.Stores, err = s.storesNamed(r.Context(), form.Value("q")); err != nil {
			return err
		}
	}
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
	To          []order.State // transitions that are allowed, without a cancellation
	MayCancel   bool
	Form        formView // of a transition
	Correct     formView // of a correction
	FileEntries []order.FileEntry
	Deliveries  []orderDelivery
	Entries     []order.AuditEntry // of the audit log
}

// orderDelivery is a delivery of an event of an order. Only operators who may see
// webhooks see the address and the response.
type orderDelivery struct {
	delivery.Attempt
	URL string // empty: unknown
}

// operatorOrder serves GET /operator/orders/{merchant}/{reference}.
func (s *site) operatorOrder(w http.ResponseWriter, r *web.Request) error {
	view := operatorOrderView{}
	view.Notice = noticeOf(r, "operatororder")
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
		view.Entries = page.Entries
	}
	mayMove := r.Caller.Can(order.ScopeOrdersTransition)
	for _, to := range order.States() {
		switch allowed := mayMove && order.ActorOperator.CanTransition(view.Order.State, to); {
		case allowed && to == order.Canceled:
			view.MayCancel = true
		case allowed:
			view.To = append(view.To, to)
		}
	}
	view.Correct = view.Correct.or(correctionValues(view.Order))
	by := append(web.Collect(view.History, eventCaller), web.Collect(view.Entries, entryCaller)...)
	if view.Names, err = s.namesOf(r, by); err != nil {
		return err
	}
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

// usualReasons are the reasons of cancellations that the form offers.
var usualReasons = []order.Reason{
	"customer-changed-mind", "customer-unreachable", "duplicate-order", "payment-failed", "suspected-fraud", "undeliverable-address", "merchant-unresponsive",
}

// readReason returns the reason of a form: the words that were typed, joined as the
// interface has them, else the one that was chosen.
func readReason(values url.Values) order.Reason {
	words := strings.FieldsFunc(strings.ToLower(values.Get("other")), func(r rune) bool { return strings.ContainsRune(" -_,.'’", r) })
	return order.Reason(cmp.Or(strings.Join(words, "-"), values.Get("reason")))
}

// transition serves POST /operator/orders/{merchant}/{reference}/state.
func (s *site) transition(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form, reason := newForm(values), readReason(values)
	to, ok := order.ParseState(values.Get("state"))
	if values.Get("do") == "cancel" {
		to, ok = order.Canceled, true
	}
	switch {
	case !ok:
		form.refuse("state", "transition.state")
	case to == order.Canceled && reason == "":
		form.refuse("reason", "transition.why")
	case to == order.RejectedByMerchant && !reason.Valid():
		form.refuse("reason", "transition.rejection")
	case !reason.ValidFor(to):
		form.refuse("other", "transition.reason")
	}
	if !form.valid() {
		return s.showOperatorOrder(w, r, http.StatusUnprocessableEntity, operatorOrderView{Form: form})
	}
	reference := r.PathValue("reference")
	page := operatorOrderPath(r.PathValue("merchant"), reference)
	if to.Final() && values.Get("sure") == "" {
		view := question{
			Title: "transition.sure.title", To: "state." + to.String(), Button: "transition.button", Danger: true, Text: "ask.forever",
			Subject: reference, Store: merchantOf(r), Reason: reason, Path: page + "/state", Back: page, Keep: "transition.keep",
			Fields: url.Values{"key": values["key"], "revision": values["revision"], "state": {to.String()}, "reason": {string(reason)}, "sure": {"yes"}},
		}
		if to == order.Canceled {
			view.Title, view.To, view.Button = "transition.sure.cancel", "", "transition.sure.button"
		}
		return s.show(w, r, http.StatusOK, "ask", view)
	}
	options := web.FormOptions[order.WriteResult](r)
	change := order.Update{To: to, Reason: reason}
	_, err := s.Orders.ChangeOrder(r.Context(), r.Caller, merchantOf(r), order.ByReference(reference), change, options)
	switch err = replayed(err); {
	case errors.Is(err, order.ErrPreconditionFailed), errors.Is(err, order.ErrInvalidTransition):
		return s.showOperatorConflict(w, r, operatorOrderView{Form: form})
	case err != nil:
		return err
	}
	return s.redirect(w, r, page+"?done=yes")
}

// showOperatorConflict shows an order that has changed since the form was made, with
// the newest change of it and what was typed.
func (s *site) showOperatorConflict(w http.ResponseWriter, r *web.Request, view operatorOrderView) error {
	view.Problem = conflictChanged
	return s.showOperatorOrder(w, r, http.StatusConflict, view)
}

// operatorOrderPath returns the path of the page of an order for operators, below the
// root. Both parts stand in the path of a request.
func operatorOrderPath(merchant, reference string) string {
	return operatorPrefix + "/orders/" + merchant + "/" + reference
}
