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

	TrackingLink string // of the store; empty: none
	Names        names

	Accept, Reject bool // what is offered
	FilesLeft      int64

	From           string // path of the view that the person came from; empty: none is known
	Previous, Next string // paths of the orders beside this one in that view; empty: there is none

	Notice        string   // key of a message: what was done; empty: nothing
	Was           string   // reference of the order that it was done to; empty: this one
	Problem       string   // key of a message: why it was not; empty: nothing
	ReasonProblem string   // key of the message at the field
	Own           formView // the merchant's own data
	Uploads       []uploadResult
	File          formView // what was typed about the file that was refused
}

// Last returns the change that gave the order its state; nil: none is known.
func (v orderView) Last() *order.EventRecord { return lastChange(v.History) }

// OwnOpen reports whether the merchant's own data is shown without a click.
func (v orderView) OwnOpen() bool {
	return v.Own.Refused() || v.Own.Filled(merchantReferenceField, merchantNoteField) > 0
}

// Came returns the key of the title of the view that the person came from.
func (v orderView) Came() string { return titleOf(v.From) }

// In returns the query of the path of a form of the order: it leads back to the same view.
func (v orderView) In() string {
	if v.From == "" {
		return ""
	}
	return "?from=" + url.QueryEscape(v.From)
}

// conflictChanged is the problem of a form for an order that has changed since the form was
// made.
const conflictChanged = "conflict.changed"

// First returns the change that came before a form that is refused for it; nil: none.
func (v orderView) First() *order.EventRecord {
	if n := len(v.History); n > 0 && v.Problem == conflictChanged {
		return &v.History[n-1]
	}
	return nil
}

// order serves GET /orders/{reference}.
func (s *site) order(w http.ResponseWriter, r *web.Request) error {
	notice, was := orderNotice(r)
	return s.showOrder(w, r, http.StatusOK, orderView{Notice: notice, Was: was})
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
	view.TrackingLink = r.Session.TrackingLink
	if view.From = from(r); view.From != "" {
		if view.Previous, view.Next, err = s.neighbors(r, o, view.From); err != nil {
			return err
		}
	}
	view.Expiry = s.newOrder(order.UnansweredOrder{ExpiresAt: o.ExpiresAt})
	if view.Names, err = s.namesOf(r, web.Collect(view.History, eventCaller)); err != nil {
		return err
	}
	mayAnswer := r.Caller.Can(order.ScopeOrdersWrite)
	view.Accept = mayAnswer && order.ActorMerchant.CanTransition(o.State, order.InProcessing)
	view.Reject = mayAnswer && order.ActorMerchant.CanTransition(o.State, order.RejectedByMerchant)
	view.FilesLeft = int64(max(0, order.MaxInvoices-len(o.Invoices)))
	view.Own = view.Own.or(merchantDataValues(o.MerchantData))
	return s.show(w, r, status, "order", &view)
}

// accept serves POST /orders/{reference}/accept.
func (s *site) accept(w http.ResponseWriter, r *web.Request, form url.Values) error {
	if form.Get("reason") != "" {
		form.Del("reason")
		return s.showOrder(w, r, http.StatusUnprocessableEntity, orderView{Problem: reasonOfAcceptance, Own: newForm(form)})
	}
	return s.answer(w, r, form, "accepted", func(id order.Identifier, options order.Options[order.WriteResult]) error {
		_, err := s.Orders.Accept(r.Context(), r.Caller, id, options)
		return err
	})
}

// reject serves POST /orders/{reference}/reject. The console asks for a reason,
// although the interfaces do not: the customer reads it.
func (s *site) reject(w http.ResponseWriter, r *web.Request, form url.Values) error {
	reason := order.Reason(form.Get("reason"))
	if reason == "" || !reason.Valid() {
		return s.showOrder(w, r, http.StatusBadRequest, orderView{ReasonProblem: "reject.reason.missing", Own: newForm(form)})
	}
	return s.answer(w, r, form, "rejected", func(id order.Identifier, options order.Options[order.WriteResult]) error {
		_, err := s.Orders.Reject(r.Context(), r.Caller, id, reason, options)
		return err
	})
}

// answer answers an order and stores the merchant's own data that its form has. Then it
// sends the browser on, or shows why nothing was done: somebody else was first.
func (s *site) answer(w http.ResponseWriter, r *web.Request, values url.Values, done string, change func(order.Identifier, order.Options[order.WriteResult]) error) error {
	own, form := readMerchantData(values)
	if !form.valid() {
		return s.showOrder(w, r, http.StatusBadRequest, orderView{Own: form})
	}
	id := order.ByReference(r.PathValue("reference"))
	err := replayed(change(id, web.FormOptions[order.WriteResult](r, done)))
	if err == nil && values.Has(merchantReferenceField) {
		// The order was as the page showed it. Sent again, the form stores it again.
		options := web.FormOptions[order.WriteResult](r, "own", values.Get(merchantReferenceField), values.Get(merchantNoteField))
		options.IfMatch = nil
		_, err = s.Orders.UpdateMerchantData(r.Context(), r.Caller, id, own, options)
		err = replayed(err)
	}
	switch {
	case err == nil:
		return s.toNext(w, r, done)
	case errors.Is(err, order.ErrPreconditionFailed), errors.Is(err, order.ErrCannotAccept), errors.Is(err, order.ErrCannotReject):
		return s.showConflict(w, r, form)
	}
	return err
}

// toNext sends a person who came from the queue to the next order of it, or back to the
// queue after the last one. It sends anybody else to the order in the path.
func (s *site) toNext(w http.ResponseWriter, r *web.Request, done string) error {
	view := from(r)
	if baseOf(view) != queuePath {
		return s.toOrder(w, r, done)
	}
	reference := r.PathValue("reference")
	o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(reference))
	if err != nil {
		return err
	}
	next, err := s.nextUnanswered(r, o)
	if err != nil {
		return err
	}
	said := url.Values{"done": {done}, "was": {reference}}.Encode()
	if next == "" {
		next = view
	} else {
		next = orderIn(next, view)
	}
	return s.redirect(w, r, withQuery(next, said))
}

// showConflict shows an order that has changed since the form was made, with the
// newest change of it and what was typed.
func (s *site) showConflict(w http.ResponseWriter, r *web.Request, own formView) error {
	return s.showOrder(w, r, http.StatusConflict, orderView{Problem: conflictChanged, Own: own})
}

// toOrder sends the browser to the page of the order in the path, which says what was
// done.
func (s *site) toOrder(w http.ResponseWriter, r *web.Request, done string) error {
	return s.redirect(w, r, withQuery(orderIn(r.PathValue("reference"), from(r)), "done="+done))
}
