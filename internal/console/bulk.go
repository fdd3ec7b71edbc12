package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// maxSelected is how many orders one form may accept: those of the largest page.
const maxSelected = order.MaxPageSize

// bulkView is the data of the results of a bulk accept.
type bulkView struct {
	Back     string // local path of the list
	Problem  string // key of a message; empty: none
	Accepted int64
	Results  []bulkResult
}

// Refused returns how many orders were not accepted.
func (v bulkView) Refused() int64 { return int64(len(v.Results)) - v.Accepted }

// bulkResult is the result for one order.
type bulkResult struct {
	Reference string
	Accepted  bool
	Problem   string             // key of a message, of a refusal
	First     *order.EventRecord // the change of state that came first; nil: none known
}

// bulkAccept serves POST /accept: it accepts the selected orders one by one. A
// refusal of one does not affect the others.
func (s *site) bulkAccept(w http.ResponseWriter, r *web.Request, form url.Values) error {
	view := bulkView{Back: localPath(form.Get("back"))}
	selected, problem := selection(form)
	if problem != "" {
		view.Problem = problem
		return s.show(w, r, http.StatusUnprocessableEntity, "bulk", view)
	}
	for _, reference := range selected {
		// A key for each order: the same form with another selection, as after going
		// back, accepts what is new in it.
		options := web.FormOptions[order.WriteResult](r, reference)
		_, err := s.Orders.Accept(r.Context(), r.Caller, order.ByReference(reference), options)
		result := s.bulkResult(r, reference, replayed(err))
		if result.Accepted {
			view.Accepted++
		}
		view.Results = append(view.Results, result)
	}
	return s.show(w, r, http.StatusOK, "bulk", view)
}

// selection returns the references of the selected orders, each once and in the sequence
// of the page, or the key of a message.
func selection(form url.Values) (selected []string, problem string) {
	seen := make(map[string]bool)
	for _, reference := range form["order"] {
		if !seen[reference] {
			seen[reference] = true
			selected = append(selected, reference)
		}
	}
	switch {
	case len(selected) == 0:
		return nil, "bulk.none"
	case len(selected) > maxSelected:
		return nil, "bulk.many"
	}
	return selected, ""
}

// bulkResult returns the result for an order whose acceptance returned an error, or
// nil.
func (s *site) bulkResult(r *web.Request, reference string, err error) bulkResult {
	result := bulkResult{Reference: reference, Accepted: err == nil}
	switch {
	case err == nil:
	case errors.Is(err, order.ErrNotFound):
		result.Problem = "bulk.unknown"
	case errors.Is(err, order.ErrCannotAccept):
		result.Problem = "bulk.conflict"
		if first, err := s.lastTransition(r.Context(), r.Caller.MerchantID, reference); err == nil {
			result.First = first
		}
	default:
		s.Log.Warn("an order of a bulk accept failed", "order", reference, "error", err)
		result.Problem = "bulk.failed"
	}
	return result
}

// lastTransition returns the latest change of the state of an order; nil if there was
// none.
func (s *site) lastTransition(ctx context.Context, merchantID int64, reference string) (*order.EventRecord, error) {
	events, err := s.Orders.OrderEvents(ctx, merchantID, order.ByReference(reference), order.FeedQuery{Limit: order.MaxFeedLimit})
	if err != nil {
		return nil, err
	}
	for _, event := range slices.Backward(events) {
		if event.Type == order.OrderStateChanged {
			return &event, nil
		}
	}
	return nil, nil
}

// bulkPage serves GET /accept, which only a sign-in leads to: the form is gone.
func (s *site) bulkPage(w http.ResponseWriter, r *web.Request) error {
	http.Redirect(w, r.Request, s.root+Prefix+"/orders?state="+order.Registered.String(), http.StatusSeeOther)
	return nil
}
