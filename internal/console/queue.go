package console

import (
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
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

// queueView is the data of the queue: the orders that wait for the merchant's answer, the
// soonest deadline first.
type queueView struct {
	queuePages
	Orders []newOrder

	Notice        string    // key of a message: what was done to one order; empty: nothing
	Was           string    // its reference
	Form          formView  // what was sent, of a form that is refused
	Problem       string    // key of a message; empty: none
	ReasonProblem string    // key of the message at the reasons; empty: none
	At            time.Time // when what follows was done; zero: just now
	Done          []string  // references of the orders that were answered, of up to maxSelected
	Answered      int64     // how many were answered
	Rejected      bool      // they were rejected, not accepted
	Refused       []refusal
	Unnamed       int64  // how many were refused beside Refused
	Left          int64  // how many are left because the work stopped
	Rest, Reason  string // the key of its form, and the reason of a rejection
	Names         names
}

// ForDone returns the path of a page for the orders that were answered.
func (v queueView) ForDone(page string) string {
	return Prefix + page + "?" + url.Values{"order": v.Done, "back": {v.Path}}.Encode()
}

// queue serves GET /new.
func (s *site) queue(w http.ResponseWriter, r *web.Request) error {
	view := queueView{}
	view.Notice, view.Was = orderNotice(r)
	said, err := s.readResult(r)
	if err != nil {
		return err
	}
	if said.Has("total") && !said.Has("stopped") {
		return s.show(w, r, http.StatusOK, "working", newWorkView(said))
	}
	if err := s.readAnswers(r, said, &view); err != nil {
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
	view.Orders = web.Collect(page.Orders, s.newOrder)
	view.Path = queuePage(view.Size, after)
	if after != nil {
		view.First = queuePage(view.Size, nil)
	}
	if page.Next != nil {
		view.Next = queuePage(view.Size, page.Next)
	}
	return s.show(w, r, status, "queue", &view)
}

// queueOrders yields the pages of the whole queue, at least one.
func (s *site) queueOrders(r *web.Request) iter.Seq2[[]order.UnansweredOrder, error] {
	return pagesAfter(func(after *order.UnansweredCursor) ([]order.UnansweredOrder, *order.UnansweredCursor, error) {
		page, err := s.Orders.Unanswered(r.Context(), r.Caller.MerchantID, order.UnansweredQuery{Limit: order.MaxUnansweredLimit, After: after})
		return page.Orders, page.Next, err
	})
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
