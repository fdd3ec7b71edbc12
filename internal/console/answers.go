package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

const (
	// maxSelected is how many orders one form may select: those of the largest page.
	maxSelected = order.MaxPageSize
	// maxAll is how many orders of all pages a form may answer at once, and maxAllForm its
	// size in bytes.
	maxAll     = 5000
	maxAllForm = 1 << 20
)

// Responses that are recorded for the key of an answer to one of several orders.
const (
	answerDone      = "done"
	answerUnchanged = "unchanged" // the order had the state already
)

// answerSelected serves POST /new: it accepts or rejects the selected orders. A refusal of
// one does not affect the others.
func (s *site) answerSelected(w http.ResponseWriter, r *web.Request, form url.Values) error {
	view := queueView{Form: newForm(form)}
	update := order.Update{To: order.InProcessing}
	switch form.Get("do") {
	case "none": // the first button of the form, which Enter presses
		return s.showQueue(w, r, http.StatusOK, view)
	case "/print", "/pick", "/orders.xlsx", "/invoices": // a page about the selected orders
		return s.showSelection(w, r, form)
	case "accept":
		if form.Get("reason") != "" {
			view.Problem = reasonOfAcceptance
			form.Del("reason")
		}
	case "reject":
		view.Rejected = true
		update = order.Update{To: order.RejectedByMerchant, Reason: order.Reason(form.Get("reason"))}
		if !update.Reason.Valid() || update.Reason == "" {
			view.ReasonProblem = "reject.reason.missing"
		}
	default:
		return strict.ErrInvalidPayload
	}
	size, after, err := readQueue(r.URL.RawQuery)
	if err != nil {
		return err
	}
	all := form.Get("all") != ""
	if all && form.Get("sure") == "" {
		if left, err := s.selectAll(r, form); err != nil {
			return err
		} else if !left { // it was answered meanwhile
			return s.redirect(w, r, withQuery(queuePage(size, after), "result="+form.Get("rest")))
		}
	}
	selected, problem := selection(form)
	shown := shownRevisions(form)
	if problem == "" && slices.ContainsFunc(selected, func(reference string) bool { _, ok := shown[reference]; return !ok }) {
		problem = "bulk.notshown"
	}
	if view.Problem = cmp.Or(view.Problem, problem); view.Problem != "" || view.ReasonProblem != "" {
		return s.showQueue(w, r, http.StatusUnprocessableEntity, view)
	}
	if (view.Rejected || all || len(selected) > maxUnasked) && form.Get("sure") == "" {
		return s.askAnswers(w, r, form, selected, queuePage(size, after))
	}
	if all {
		begun, err := s.answerInBackground(r, form, selected, shown, update)
		if err != nil {
			return err
		}
		if !begun {
			view.Problem = "bulk.busy"
			return s.showQueue(w, r, http.StatusUnprocessableEntity, view)
		}
		return s.redirect(w, r, withQuery(queuePage(size, after), "result="+form.Get("key")))
	}
	results, err := s.answerAll(r, selected, shown, update)
	if err != nil {
		return err
	}
	said := saidOf(selected, results, false)
	said.Set("do", form.Get("do"))
	if err := s.Sessions.Keep(r.Context(), r.Caller.MerchantID, r.Session, token.KeptResult, ofSelected, said.Encode()); err != nil {
		return err
	}
	if form.Get("then") == "print" && said.Has("order") && !said.Has("refused") {
		view.Done, view.Path = said["order"], queuePage(size, after)
		return s.redirect(w, r, view.ForDone("/print"))
	}
	// A page of its own: a person comes back to it from the packing slips.
	return s.redirect(w, r, withQuery(queuePage(size, after), said.Encode()))
}

// showSelection leads to a page about the selected orders. What the form needs for an answer would
// make its address too long.
func (s *site) showSelection(w http.ResponseWriter, r *web.Request, form url.Values) error {
	shown := url.Values{"order": form["order"], "back": form["back"]}
	if form.Get("all") != "" {
		shown = url.Values{"all": {"yes"}, "back": form["back"]}
	} else if _, problem := selection(form); problem != "" {
		return s.showQueue(w, r, http.StatusUnprocessableEntity, queueView{Form: newForm(form), Problem: problem})
	}
	return s.redirect(w, r, Prefix+form.Get("do")+"?"+shown.Encode())
}

// selectAll selects all orders of the queue, or what the work with the key rest has left. left is
// false if that is nothing.
func (s *site) selectAll(r *web.Request, form url.Values) (left bool, err error) {
	var of url.Values
	if form.Has("rest") {
		if of, err = s.keptResult(r, form.Get("rest")); err == nil && of == nil {
			err = strict.ErrInvalidPayload
		}
	}
	if err == nil {
		form[shownField], err = s.allUnanswered(r, of)
	}
	delete(form, "order")
	return of == nil || len(form[shownField]) > 0, err
}

// ofSelected is the name of the result of the orders that were selected last.
const ofSelected = "selected"

// answerAll changes the selected orders that are still as they were shown.
func (s *site) answerAll(r *web.Request, selected []string, shown map[string]int64, update order.Update) ([]order.BatchResult, error) {
	batch := make([]order.BatchChange, len(selected))
	for i, reference := range selected {
		// A key for each order: the same form with another selection, as after going
		// back, answers what is new in it.
		options := web.FormOptions[order.BatchResult](r, update.To.String(), reference)
		asShown := func(o order.LockedOrder) bool { return o.Revision == shown[reference] }
		batch[i] = order.BatchChange{MerchantID: r.Caller.MerchantID, Reference: reference, Update: update, IfMatch: asShown, Key: options.Key}
	}
	return s.Orders.ChangeOrders(r.Context(), r.Caller, batch, func(_ order.BatchChange, result order.BatchResult) ([]byte, error) {
		if result.Changed {
			return []byte(answerDone), nil
		}
		return []byte(answerUnchanged), nil
	})
}

// reasonOfAcceptance is the problem of an acceptance with a reason: a person who chose one
// did not mean to accept.
const reasonOfAcceptance = "bulk.reason"

// maxUnasked is how many orders a person accepts without being asked.
const maxUnasked = 10

// askAnswers asks whether the selected orders of a page are to be answered.
func (s *site) askAnswers(w http.ResponseWriter, r *web.Request, form url.Values, selected []string, page string) error {
	view := question{
		Title: "ask." + form.Get("do"), Button: "ask." + form.Get("do") + ".button", Danger: form.Get("do") == "reject", Count: int64(len(selected)),
		Path: page, Back: page, Fields: url.Values{"sure": {"yes"}},
	}
	if len(selected) == maxAll {
		view.Text = "ask.first"
	}
	if view.Danger {
		view.Reason = order.Reason(form.Get("reason"))
	} else if len(selected) <= maxSelected {
		view.Then = "ask.accept.print"
	}
	for _, name := range []string{"key", "do", "reason", "order", "all", shownField} {
		view.Fields[name] = form[name]
	}
	for _, reference := range selected[:min(len(selected), maxNamed)] {
		o, err := s.Orders.Get(r.Context(), r.Caller.MerchantID, order.ByReference(reference))
		if errors.Is(err, order.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		view.Named = append(view.Named, o)
	}
	return s.show(w, r, http.StatusOK, "ask", view)
}

// shownField is the field with what the page of a form showed: for each order its
// reference and its revision.
const shownField = "shown"

// shownAs returns what shownField has for an order.
func shownAs(reference string, revision int64) string {
	return reference + " " + strconv.FormatInt(revision, 10)
}

// shownRevisions returns the revisions of the orders that the page of a form showed. A
// browser may tick boxes by their position after a step back, on a list that has changed.
func shownRevisions(form url.Values) map[string]int64 {
	shown := make(map[string]int64)
	for _, text := range form[shownField] {
		reference, revision, _ := strings.Cut(text, " ")
		if n, err := strconv.ParseInt(revision, 10, 64); err == nil {
			shown[reference] = n
		}
	}
	return shown
}

// allUnanswered returns what the page of a form with all orders of the queue would have shown,
// for shownField: of more than maxAll the soonest deadlines. of is the result of work that has
// stopped: only what it left, as it was shown; nil: all.
func (s *site) allUnanswered(r *web.Request, of url.Values) (shown []string, err error) {
	left := make(map[string]bool)
	for _, text := range of[shownField] {
		left[text] = true
	}
	for page, err := range s.queueOrders(r) {
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if text := shownAs(o.Reference, o.Revision); of == nil || left[text] {
				shown = append(shown, text)
			}
		}
		if len(shown) >= maxAll || of != nil && len(shown) == len(left) {
			break
		}
	}
	return shown[:min(len(shown), maxAll)], nil
}

// selection returns the references of the selected orders, each once and in the sequence
// of the page, or the key of a message.
func selection(form url.Values) (selected []string, problem string) {
	references, limit := form["order"], maxSelected
	if form.Get("all") != "" {
		limit = maxAll
		references = web.Collect(form[shownField], func(text string) string { reference, _, _ := strings.Cut(text, " "); return reference })
	}
	seen := make(map[string]bool)
	for _, reference := range references {
		if !seen[reference] {
			seen[reference] = true
			selected = append(selected, reference)
		}
	}
	switch {
	case len(selected) == 0:
		return nil, "bulk.none"
	case len(selected) > limit:
		return nil, "bulk.many"
	}
	return selected, ""
}
