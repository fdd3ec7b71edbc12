package console

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

const (
	// liveWait is how long a request waits for events. It is shorter than the usual
	// timeouts of proxies.
	liveWait = 25 * time.Second
	// backgroundHeader marks requests of scripts. They do not count as use of the
	// session: a page that nobody looks at does not keep it.
	backgroundHeader = "Console-Background"
)

// liveView is the body of GET /live.
type liveView struct {
	Next    int64    `json:"next"`    // the value of after for the next request
	Newest  int64    `json:"newest"`  // number of the newest event
	History string   `json:"history"` // of the feed; another one: numbers mean other events
	Orders  []string `json:"orders"`  // references of the orders that have changed, each once
	Created int      `json:"created"` // how many of them are new
	New     int64    `json:"new"`     // orders that wait for an answer
	ToShip  int64    `json:"toShip"`  // accepted ones that wait for their dispatch
}

// live serves GET /live?store=355&after=5: it waits for the merchant's events after a number. For a
// page of another store it leads to the sign-in: somebody has signed in for this one in the browser.
func (s *site) live(w http.ResponseWriter, r *web.Request) error {
	after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if err != nil || after < 0 {
		return strict.ErrInvalidPayload
	}
	if store := r.URL.Query().Get("store"); store != "" && store != strconv.FormatInt(r.Caller.MerchantID, 10) {
		return s.redirect(w, r, "/")
	}
	feed, err := s.Orders.Events(r.Context(), r.Caller.MerchantID, order.FeedQuery{
		After: after, Limit: order.MaxFeedLimit, Wait: liveWait, TokenID: r.Caller.TokenID, OnWait: r.Leave,
	})
	if err != nil {
		return err
	}
	if feed.Waited {
		if _, _, err := s.find(r); errors.Is(err, token.ErrNoSession) {
			return s.redirect(w, r, "/")
		} else if err != nil {
			return err
		}
	}
	view := liveView{Next: feed.Next, Newest: feed.Version.Event, History: feed.History, Orders: []string{}}
	seen := make(map[string]bool)
	for _, event := range feed.Events {
		if event.Reference != "" && !seen[event.Reference] {
			seen[event.Reference] = true
			view.Orders = append(view.Orders, event.Reference)
		}
		if event.Type == order.OrderCreated {
			view.Created++
		}
	}
	orders, err := s.Orders.StateCounts(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	view.New, view.ToShip = queueCounts(orders)
	return web.WriteJSON(w, http.StatusOK, view)
}
