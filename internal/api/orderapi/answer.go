package orderapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// Lists reads lists.
type Lists interface {
	// List returns a page of orders.
	List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error)
}

// List returns the answer of a list, whose body is view's. Its tag changes when
// anything of the merchant does, and with the day where the range that is shown
// ends today. now is the moment that the body shows; address is that of the
// list, without a query.
func List(r *http.Request, lists Lists, filter order.Filter, now time.Time, address string, view func(order.Page) any) web.Answer {
	answer := web.Answer{Day: order.NoDay, Body: func(answer *web.Answer) (any, error) {
		page, err := lists.List(r.Context(), web.MerchantID(r), filter)
		if err != nil {
			return nil, err
		}
		answer.Links = append(answer.Links, pageLinks(r, filter, page, address)...)
		return view(page), nil
	}}
	tag := `"` + strconv.FormatInt(web.MerchantID(r), 10) + "-" + strconv.FormatInt(web.MerchantEvent(r), 10)
	if filter.To == order.NoDay {
		answer.Day = order.DayOf(now)
		tag += "-" + strconv.FormatInt(int64(answer.Day), 10)
	}
	answer.Tag = tag + `"`
	return answer
}

// pageLinks are the Links to the first page of a list and, where there is one,
// to the next: it begins where this one ends, whatever comes in meanwhile.
func pageLinks(r *http.Request, filter order.Filter, page order.Page, address string) []string {
	query := r.URL.Query()
	query.Del(CursorName)
	query.Del("page")
	links := []string{link(address, query, "first")}
	if page.Next != nil {
		query.Set(CursorName, newCursor(web.MerchantID(r), filter, filter.Page+1, *page.Next))
		links = append(links, link(address, query, "next"))
	}
	return links
}

func link(address string, query url.Values, relation string) string {
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return "<" + address + `>; rel="` + relation + `"`
}

// Orders reads single orders.
type Orders interface {
	// Get returns a whole order, or order.ErrNotFound.
	Get(ctx context.Context, merchantID int64, key order.Identifier) (order.Order, error)
	// Revision returns an order's number and revision, or order.ErrNotFound.
	Revision(ctx context.Context, merchantID int64, key order.Identifier) (number, revision int64, err error)
}

// One returns the answer of a single order, whose body is view's. A client that
// says what it has costs one small read, if it has the newest.
func One(r *http.Request, orders Orders, key order.Identifier, view func(order.Order, *web.Answer) any) (web.Answer, error) {
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
		answer.Tag = web.OrderTag(found.LegacyID, found.Revision)
		return view(found, answer), nil
	}
	return answer, nil
}
