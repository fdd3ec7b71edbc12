package orderapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// List returns the answer of a list. Its tag changes when anything of the
// merchant does, and with the day where the range that is shown ends today. now
// is the moment that the body shows.
func List(r *http.Request, filter order.Filter, now time.Time, body func(*web.Answer) (any, error)) web.Answer {
	answer := web.Answer{Day: order.NoDay, Body: body}
	tag := `"` + strconv.FormatInt(web.MerchantID(r), 10) + "-" + strconv.FormatInt(web.MerchantEvent(r), 10)
	if filter.To == order.NoDay {
		answer.Day = order.DayOf(now)
		tag += "-" + strconv.FormatInt(int64(answer.Day), 10)
	}
	answer.Tag = tag + `"`
	return answer
}

// Orders reads single orders.
type Orders interface {
	// Get returns a whole order, or order.ErrNotFound.
	Get(ctx context.Context, merchantID int64, key order.Key) (order.Order, error)
	// Revision returns an order's number and revision, or order.ErrNotFound.
	Revision(ctx context.Context, merchantID int64, key order.Key) (number, revision int64, err error)
}

// One returns the answer of a single order, whose body is view's. A client that
// says what it has costs one small read, if it has the newest.
func One(r *http.Request, orders Orders, key order.Key, view func(order.Order, *web.Answer) any) (web.Answer, error) {
	merchantID := web.MerchantID(r)
	answer := web.Answer{Day: order.NoDay}
	if r.Header.Get("If-None-Match") != "" {
		number, revision, err := orders.Revision(r.Context(), merchantID, key)
		if err != nil {
			return web.Answer{}, err
		}
		answer.Tag = web.OrderTag(number, revision)
	}
	answer.Body = func(answer *web.Answer) (any, error) {
		found, err := orders.Get(r.Context(), merchantID, key)
		if err != nil {
			return nil, err
		}
		answer.Tag = web.OrderTag(found.Number, found.Revision)
		return view(found, answer), nil
	}
	return answer, nil
}
