package console

import (
	"errors"
	"net/http"
	"net/url"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// orderView is the data of the page of an order.
type orderView struct {
	Order   order.Order
	Expiry  newOrder // the time left to answer; of a registered order
	History []order.EventRecord
	Token   int64 // that of the session: its changes are "you"

	Accept, Reject, Files, Edit bool // what is offered
	FilesLeft                   int64
	Reasons                     []order.Reason

	Notice        string // key of a message: what was done; empty: nothing
	Problem       string // key of a message: why it was not; empty: nothing
	First         *order.EventRecord
	ReasonProblem string   // key of the message at the field
	Own           formView // the merchant's own data
	Uploads       []uploadResult
}

// notices are what the address of an order may say was done.
var notices = map[string]string{"accepted": "done.accepted", "rejected": "done.rejected", "uploaded": "done.uploaded", "withdrawn": "done.withdrawn", "saved": "done.saved"}

// order serves GET /orders/{reference}.
func (s *site) order(w http.ResponseWriter, r *web.Request) error {
	return s.showOrder(w, r, http.StatusOK, orderView{Notice: notices[r.URL.Query().Get("done")]})
}

// showOrder sends the page of the order in the path. The view says what happened.
func (s *site) showOrder(w http.ResponseWriter, r *web.Request, status int, view orderView) error {
	id, merchantID := order.ByReference(r.PathValue("reference")), r.Caller.MerchantID
	var err error
	if view.Order, err = s.Orders.Get(r.Context(), merchantID, id); err != nil {
		return err
	}
	if view.History, err = s.Orders.OrderEvents(r.Context(), merchantID, id, order.FeedQuery{Limit: order.MaxFeedLimit}); err != nil {
		return err
	}
	o := view.Order
	view.Expiry = newOrders([]order.UnansweredOrder{{ExpiresAt: o.ExpiresAt}}, s.Orders.Now())[0]
	view.Token = r.Caller.TokenID
	mayAnswer := r.Caller.Can(order.ScopeOrdersWrite)
	view.Accept = mayAnswer && order.ActorMerchant.CanTransition(o.State, order.InProcessing)
	view.Reject = mayAnswer && order.ActorMerchant.CanTransition(o.State, order.RejectedByMerchant)
	view.Files = r.Caller.Can(order.ScopeInvoicesWrite)
	view.FilesLeft = int64(max(0, order.MaxInvoices-len(o.Invoices)))
	view.Reasons = order.Reasons
	if view.Edit = mayAnswer; !view.Own.Refused() {
		view.Own = newForm(merchantDataValues(o.MerchantData))
	}
	return s.show(w, r, status, "order", &view)
}

// accept serves POST /orders/{reference}/accept.
func (s *site) accept(w http.ResponseWriter, r *web.Request, form url.Values) error {
	reference := r.PathValue("reference")
	options := web.FormOptions[order.WriteResult](r)
	_, err := s.Orders.Accept(r.Context(), r.Caller, order.ByReference(reference), options)
	return s.answered(w, r, "accepted", err)
}

// reject serves POST /orders/{reference}/reject. The console asks for a reason,
// although the interfaces do not: the customer reads it.
func (s *site) reject(w http.ResponseWriter, r *web.Request, form url.Values) error {
	reference, reason := r.PathValue("reference"), order.Reason(form.Get("reason"))
	if reason == "" || !reason.Valid() {
		return s.showOrder(w, r, http.StatusBadRequest, orderView{ReasonProblem: "reject.reason.missing"})
	}
	options := web.FormOptions[order.WriteResult](r)
	_, err := s.Orders.Reject(r.Context(), r.Caller, order.ByReference(reference), reason, options)
	return s.answered(w, r, "rejected", err)
}

// answered sends the browser to the page of the order after an answer, or shows why
// there was none: somebody else was first.
func (s *site) answered(w http.ResponseWriter, r *web.Request, done string, err error) error {
	err = replayed(err)
	switch {
	case err == nil:
		s.toOrder(w, r, done)
		return nil
	case errors.Is(err, order.ErrPreconditionFailed), errors.Is(err, order.ErrCannotAccept), errors.Is(err, order.ErrCannotReject):
		return s.showConflict(w, r)
	}
	return err
}

// showConflict shows an order that has changed since the form was made, with the
// newest change of it.
func (s *site) showConflict(w http.ResponseWriter, r *web.Request) error {
	view := orderView{Problem: "conflict.changed"}
	events, err := s.Orders.OrderEvents(r.Context(), r.Caller.MerchantID, order.ByReference(r.PathValue("reference")),
		order.FeedQuery{Limit: order.MaxFeedLimit})
	if err != nil {
		return err
	}
	if n := len(events); n > 0 {
		view.First = &events[n-1]
	}
	return s.showOrder(w, r, http.StatusConflict, view)
}

// toOrder sends the browser to the page of the order in the path, which says what was
// done.
func (s *site) toOrder(w http.ResponseWriter, r *web.Request, done string) {
	http.Redirect(w, r.Request, s.root+orderPath(r.PathValue("reference"))+"?done="+done, http.StatusSeeOther)
}
