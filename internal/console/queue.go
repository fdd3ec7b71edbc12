package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

const (
	queuePath = Prefix + "/new"
	// queueCursor names the queue for its cursors.
	queueCursor = "queue"
)

// queueSizes are the sizes of a page of the queue that a person can choose. The first one
// is the default.
var queueSizes = []int{25, 50, 100}

// queuePages are what the pages of both queues have in common.
type queuePages struct {
	Total       int64
	Size        int
	Path        string // of this page, with its query
	First, Next string // paths of the first and the next page; empty: there is none
}

// Sizes returns the sizes of a page.
func (queuePages) Sizes() []int { return queueSizes }

// queueView is the data of the queue: the orders that wait for the merchant's answer, the
// soonest deadline first.
type queueView struct {
	queuePages
	Orders []newOrder

	Notice        string   // key of a message: what was done to one order; empty: nothing
	Was           string   // its reference
	Form          formView // what was sent, of a form that is refused
	Problem       string   // key of a message; empty: none
	ReasonProblem string   // key of the message at the reasons; empty: none
	Done          []string // references of the orders that were answered, of up to maxSelected
	Answered      int64    // how many were answered
	Rejected      bool     // they were rejected, not accepted
	Refused       []refusal
	Unnamed       int64 // how many were refused beside Refused
	Names         names
}

// refusal is why an order was not answered.
type refusal struct {
	Reference string
	Problem   string             // key of a message
	First     *order.EventRecord // the change of state that came first; nil: none known
}

// Reasons returns the reasons of a rejection.
func (queueView) Reasons() []order.Reason { return order.Reasons }

// ForDone returns the path of a page for the orders that were answered.
func (v queueView) ForDone(page string) string {
	return Prefix + page + "?" + url.Values{"order": v.Done, "back": {v.Path}}.Encode()
}

// queue serves GET /new.
func (s *site) queue(w http.ResponseWriter, r *web.Request) error {
	view := queueView{}
	view.Notice, view.Was = noticeOf(r)
	if err := s.readAnswers(r, &view); err != nil {
		return err
	}
	return s.showQueue(w, r, http.StatusOK, view)
}

// showQueue sends the page of the queue that the query names. The view says what happened.
func (s *site) showQueue(w http.ResponseWriter, r *web.Request, status int, view queueView) error {
	size, after, err := readQueue(r.URL.RawQuery)
	if err != nil {
		return err
	}
	view.Size = size
	page, err := s.Orders.Unanswered(r.Context(), r.Caller.MerchantID, order.UnansweredQuery{Limit: view.Size, After: after})
	if err != nil {
		return err
	}
	if view.Total, _, err = s.queues(r); err != nil {
		return err
	}
	view.Orders = newOrders(page.Orders, s.Orders.Now())
	view.Path = queuePage(view.Size, after)
	if after != nil {
		view.First = queuePage(view.Size, nil)
	}
	if page.Next != nil {
		view.Next = queuePage(view.Size, page.Next)
	}
	return s.show(w, r, status, "queue", &view)
}

// queuePage returns the path of the page of the queue after an order.
func queuePage(size int, after *order.UnansweredCursor) string {
	query := url.Values{"limit": {strconv.Itoa(size)}}
	if after != nil {
		query.Set(web.CursorName, web.EncodeCursor(queueCursor, after.ExpiresAt.Unix(), after.CreatedAt.Unix(), after.LegacyID))
	}
	return queuePath + "?" + query.Encode()
}

// readQueue returns the size of the page of the queue that the query of an address names,
// and the order after which it begins; nil: it is the first page. Errors:
// *strict.ParamError.
func readQueue(raw string) (size int, after *order.UnansweredCursor, err error) {
	query := web.ParseRawQuery(raw)
	size = query.Limit(queueSizes[0], order.MaxUnansweredLimit)
	var expiresAt, createdAt, legacyID int64
	if query.Cursor(queueCursor, &expiresAt, &createdAt, &legacyID) {
		// The Unix seconds of the zero time are those of the zero time again.
		after = &order.UnansweredCursor{ExpiresAt: time.Unix(expiresAt, 0), CreatedAt: time.Unix(createdAt, 0), LegacyID: legacyID}
	}
	return size, after, query.Err()
}

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
		if form[shownField], err = s.allUnanswered(r); err != nil {
			return err
		}
		delete(form, "order")
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
		if err := s.answerInParts(r, form, selected, shown, update); err != nil {
			return err
		}
		http.Redirect(w, r.Request, s.root+withQuery(queuePage(size, after), "result="+form.Get("key")), http.StatusSeeOther)
		return nil
	}
	results, err := s.answerAll(r, selected, shown, update)
	if err != nil {
		return err
	}
	said := saidOf(selected, results, false)
	if form.Get("then") == "print" && said.Has("order") && !said.Has("refused") {
		view.Done, view.Path = said["order"], queuePage(size, after)
		http.Redirect(w, r.Request, s.root+view.ForDone("/print"), http.StatusSeeOther)
		return nil
	}
	said.Set("do", form.Get("do"))
	// A page of its own: a person comes back to it from the packing slips.
	http.Redirect(w, r.Request, s.root+withQuery(queuePage(size, after), said.Encode()), http.StatusSeeOther)
	return nil
}

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

// answerPart is how many orders of all pages are answered before the result is kept anew.
const answerPart = 500

// answerInParts is answerAll for the orders of all pages. It goes on if the person leaves, and
// keeps the result so far for readResult.
func (s *site) answerInParts(r *web.Request, form url.Values, selected []string, shown map[string]int64, update order.Update) error {
	r = r.WithContext(context.WithoutCancel(r.Context()))
	var results []order.BatchResult
	for part := range slices.Chunk(selected, answerPart) {
		answered, err := s.answerAll(r, part, shown, update)
		if err != nil {
			return err
		}
		results = append(results, answered...)
		said := saidOf(selected, results, true)
		said.Set("do", form.Get("do"))
		if err := s.Sessions.Keep(r.Context(), r.Caller.MerchantID, r.Session, token.KeptResult, form.Get("key"), said.Encode()); err != nil {
			return err
		}
	}
	return nil
}

// readResult returns what the query of an address says became of orders, or what is kept of
// the orders of all pages: of the form with a key, or of the last one.
func (s *site) readResult(r *web.Request) (url.Values, error) {
	query := r.URL.Query()
	name := query.Get("result")
	if name == "" {
		return query, nil
	}
	kept, err := s.Sessions.Kept(r.Context(), r.Caller.MerchantID, r.Session, token.KeptResult)
	i := slices.IndexFunc(kept, func(k token.Kept) bool { return name == "last" || k.Name == name })
	if err != nil || i < 0 {
		return nil, err
	}
	return url.ParseQuery(kept[i].Value)
}

// saidOf returns what the address of the next page says became of the selected orders: the
// references of up to maxSelected that were answered, and of those that were refused; of the
// orders of all pages numbers instead of the answered ones.
func saidOf(selected []string, results []order.BatchResult, all bool) url.Values {
	said := make(url.Values)
	var answered, refused int
	for i, result := range results {
		if replay, ok := errors.AsType[*order.ReplayError](result.Err); ok {
			result.Changed, result.Err = string(replay.Response) == answerDone, nil
		}
		name, n := "refused", &refused
		if result.Err == nil && result.Changed {
			name, n = "order", &answered
		}
		if *n++; order.ValidReference(selected[i]) && len(said[name]) < maxSelected {
			said.Add(name, selected[i])
		}
	}
	if all {
		delete(said, "order")
		said.Set("answered", strconv.Itoa(answered))
		said.Set("unnamed", strconv.Itoa(refused-len(said["refused"])))
	}
	return said
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
// for shownField: of more than maxAll the soonest deadlines.
func (s *site) allUnanswered(r *web.Request) (shown []string, err error) {
	query := order.UnansweredQuery{Limit: order.MaxUnansweredLimit}
	for len(shown) < maxAll {
		page, err := s.Orders.Unanswered(r.Context(), r.Caller.MerchantID, query)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Orders {
			shown = append(shown, o.Reference+" "+strconv.FormatInt(o.Revision, 10))
		}
		if query.After = page.Next; query.After == nil {
			break
		}
	}
	return shown[:min(len(shown), maxAll)], nil
}

// readAnswers puts into the view what the address says became of the selected orders: of
// those refused, why.
func (s *site) readAnswers(r *web.Request, view *queueView) error {
	query, err := s.readResult(r)
	if err != nil {
		return err
	}
	view.Done, view.Rejected = query["order"], query.Get("do") == "reject"
	view.Answered = int64(len(view.Done))
	if query.Has("answered") {
		view.Answered, _ = order.ParseID(query.Get("answered"))
		view.Unnamed, _ = order.ParseID(query.Get("unnamed"))
	}
	var first []order.Caller
	for _, reference := range query["refused"][:min(len(query["refused"]), maxSelected)] {
		refused := refusal{Reference: reference, Problem: "bulk.changed"}
		if refused.First, err = s.lastTransition(r.Context(), r.Caller.MerchantID, reference); errors.Is(err, order.ErrNotFound) {
			refused.Problem = "bulk.unknown"
		} else if err != nil {
			return err
		}
		if refused.First != nil {
			refused.Problem = "bulk.conflict"
			first = append(first, refused.First.By)
		}
		view.Refused = append(view.Refused, refused)
	}
	view.Names, err = s.namesOf(r, first)
	return err
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

// lastTransition returns the latest change of the state of an order; nil if there was
// none.
func (s *site) lastTransition(ctx context.Context, merchantID int64, reference string) (*order.EventRecord, error) {
	events, err := s.Orders.OrderEvents(ctx, merchantID, order.ByReference(reference), order.FeedQuery{Limit: order.MaxFeedLimit})
	if err != nil {
		return nil, err
	}
	if last := lastChange(events); last != nil && last.Type == order.OrderStateChanged {
		return last, nil
	}
	return nil, nil
}
