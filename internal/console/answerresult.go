package console

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// refusal is why an order was not answered.
type refusal struct {
	Reference string
	Problem   string             // key of a message
	First     *order.EventRecord // the change of state that came first; nil: none known
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

const (
	// answerPart is how many orders of all pages are answered before the result is kept anew.
	answerPart = 100
	// answerPatience is how long a person waits for the result before the page of the work.
	answerPatience = time.Second
	// answerStale is the time without another part after which the work of another process has
	// stopped: the process is gone.
	answerStale = 20 * time.Second
)

// answerInBackground begins to answer the orders of all pages, unless the form has done so
// before, and waits for answerPatience. The result so far is kept for readResult. Nothing is
// begun while the process answers other orders of the store.
func (s *site) answerInBackground(r *web.Request, form url.Values, selected []string, shown map[string]int64, update order.Update) (begun bool, err error) {
	key := form.Get("key")
	if said, err := s.keptResult(r, key); err != nil || said != nil {
		return true, err
	}
	if other, busy := s.answering.LoadOrStore(r.Caller.MerchantID, key); busy {
		return other == key, nil
	}
	r = r.WithContext(web.Outlasting(r.Context()))
	var results []order.BatchResult
	left := func() []string { return selected[len(results):] }
	next := func() []string { return left()[:min(answerPart, len(left()))] }
	keep := func(stopped bool) error {
		said := saidOf(selected, results, true)
		said.Set("do", form.Get("do"))
		rest := left()
		if len(rest) > 0 {
			said.Set("total", strconv.Itoa(len(selected)))
			said.Set("request", r.Caller.RequestID)
			said.Set("reason", string(update.Reason))
		}
		for _, reference := range rest {
			if order.ValidReference(reference) {
				said.Add(shownField, shownAs(reference, shown[reference]))
			}
		}
		if stopped {
			said.Set("stopped", "yes")
		}
		return s.Sessions.Keep(r.Context(), r.Caller.MerchantID, r.Session, token.KeptResult, key, said.Encode())
	}
	if err := keep(false); err != nil {
		s.answering.Delete(r.Caller.MerchantID)
		return false, err
	}
	done := make(chan struct{})
	s.Background.Go(func() {
		defer close(done)
		defer s.answering.Delete(r.Caller.MerchantID)
		var err error
		// Who has signed out, or whose token is revoked, answers no further ones.
		for len(left()) > 0 && err == nil && !web.IsStopping(r.Context()) {
			_, grant, ended := s.find(r)
			if err = ended; grant.Suspended {
				err = web.ErrSuspended
			}
			var answered []order.BatchResult
			if err == nil {
				answered, err = s.answerAll(r, next(), shown, update)
			}
			if results = append(results, answered...); err == nil {
				err = keep(false)
			}
		}
		if len(left()) > 0 {
			err = errors.Join(err, keep(true))
		}
		if err != nil {
			s.Log.Error("the answer to many orders has stopped", "merchant", r.Caller.MerchantID, "request_id", r.Caller.RequestID, "error", err)
		}
	})
	select {
	case <-done:
	case <-time.After(answerPatience):
	}
	return true, nil
}

// workView is the data of the page about the orders of all pages while they are answered.
type workView struct {
	Rejected    bool
	Done, Total int64
}

func newWorkView(said url.Values) workView {
	done := numberOf(said, "answered") + numberOf(said, "unnamed") + int64(len(said["refused"]))
	return workView{said.Get("do") == "reject", done, numberOf(said, "total")}
}

// numberOf returns a number of a result.
func numberOf(said url.Values, name string) int64 {
	n, _ := order.ParseID(said.Get(name))
	return n
}

// readResult returns what the query of an address says became of orders, or what is kept of
// the orders of all pages: of the form with a key, or of the last one.
func (s *site) readResult(r *web.Request) (url.Values, error) {
	query := r.URL.Query()
	if name := query.Get("result"); name != "" {
		return s.keptResult(r, name)
	}
	query.Del("total")
	query.Del("at")
	return query, nil
}

// keptResult returns what is kept for the form with a key, or for the "last" one; nil: nothing.
// It has the time at which it was kept and the key, total while orders are left, and stopped if
// nobody answers them any more.
func (s *site) keptResult(r *web.Request, name string) (url.Values, error) {
	kept, err := s.Sessions.Kept(r.Context(), r.Caller.MerchantID, r.Session, token.KeptResult)
	i := slices.IndexFunc(kept, func(k token.Kept) bool { return name == "last" || k.Name == name })
	if err != nil || i < 0 {
		return nil, err
	}
	said, err := url.ParseQuery(kept[i].Value)
	said.Set("at", kept[i].At.Format(time.RFC3339))
	said.Set("key", kept[i].Name)
	if key, _ := s.answering.Load(r.Caller.MerchantID); said.Has("total") && key != kept[i].Name && s.Orders.Now().Sub(kept[i].At) >= answerStale {
		said.Set("stopped", "yes")
	}
	return said, err
}

// readLeft puts into the view how many of the orders of all pages are left because the work has
// stopped. What became of the part that it was at, the orders tell.
func (s *site) readLeft(r *web.Request, said url.Values, view *queueView) error {
	if !said.Has("total") {
		return nil
	}
	left, err := s.allUnanswered(r, said)
	if err != nil {
		return err
	}
	view.Left, view.Rest, view.Reason = int64(len(left)), said.Get("key"), said.Get("reason")
	for _, shown := range said[shownField][:min(answerPart, len(said[shownField]))] {
		if slices.Contains(left, shown) {
			continue
		}
		reference, _, _ := strings.Cut(shown, " ")
		events, err := s.Orders.OrderEvents(r.Context(), r.Caller.MerchantID, order.ByReference(reference), order.FeedQuery{Limit: order.MaxFeedLimit})
		if err != nil && !errors.Is(err, order.ErrNotFound) {
			return err
		}
		if slices.ContainsFunc(events, func(e order.EventRecord) bool { return e.By.RequestID == said.Get("request") }) {
			view.Answered++
		} else {
			said.Add("refused", reference)
		}
	}
	view.Unnamed += int64(max(0, len(said["refused"])-maxSelected))
	return nil
}

// readAnswers puts into the view what is said to have become of the selected orders: of those
// refused, why.
func (s *site) readAnswers(r *web.Request, said url.Values, view *queueView) (err error) {
	view.Done, view.Rejected = said["order"], said.Get("do") == "reject"
	view.At, _ = time.Parse(time.RFC3339, said.Get("at"))
	view.Answered = int64(len(view.Done))
	if said.Has("answered") {
		view.Answered, view.Unnamed = numberOf(said, "answered"), numberOf(said, "unnamed")
	}
	if err := s.readLeft(r, said, view); err != nil {
		return err
	}
	var first []order.Caller
	for _, reference := range said["refused"][:min(len(said["refused"]), maxSelected)] {
		refused := refusal{Reference: reference, Problem: "bulk.changed"}
		events, err := s.Orders.OrderEvents(r.Context(), r.Caller.MerchantID, order.ByReference(reference), order.FeedQuery{Limit: order.MaxFeedLimit})
		switch last := lastChange(events); {
		case errors.Is(err, order.ErrNotFound):
			refused.Problem = "bulk.unknown"
		case err != nil:
			return err
		case last != nil && last.Type == order.OrderStateChanged:
			refused.Problem, refused.First = "bulk.conflict", last
			first = append(first, last.By)
		}
		view.Refused = append(view.Refused, refused)
	}
	view.Names, err = s.namesOf(r, first)
	return err
}
