package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Filter chooses orders. The zero value chooses all.
type Filter struct {
	State State     // empty: every state
	From  time.Time // created on this day (of UTC) or later; zero: no limit
	To    time.Time // created on this day (of UTC) or earlier; zero: no limit

	// PageSize is how many orders are asked for at once, 1 to 100. 0: 100. It
	// changes how often the service is asked, not what comes.
	PageSize int
}

// Page is one page of a list, newest first.
type Page struct {
	Number int64     // from 1
	Size   int64     // orders that a page has at most
	Total  int64     // orders that the filter chooses, on all pages; exact
	State  State     // of the filter; empty: every state
	From   time.Time // the range in force, its first second
	To     time.Time // and its last
	Orders []Summary // newest first; empty past the end
	Tag    string    // names this very content; empty: the service gives none

	links links
}

const dayForm = "2006-01-02"

// query returns a filter as the parameters of a list.
func (f Filter) query(page int64) url.Values {
	query := url.Values{"page": {strconv.FormatInt(page, 10)}, "itemsPerPage": {"100"}}
	if f.PageSize != 0 {
		query.Set("itemsPerPage", strconv.Itoa(f.PageSize))
	}
	if f.State != "" {
		query.Set("state", string(f.State))
	}
	if !f.From.IsZero() {
		query.Set("dateFrom", f.From.UTC().Format(dayForm))
	}
	if !f.To.IsZero() {
		query.Set("dateTo", f.To.UTC().Format(dayForm))
	}
	return query
}

// OrdersPage returns one page of the orders that a filter chooses, from 1. A
// page past the end is empty. Orders that arrive while pages are asked for one
// after the other move others to later pages: Orders sees to that.
func (c *Client) OrdersPage(ctx context.Context, filter Filter, page int64) (Page, error) {
	return c.page(ctx, c.address(filter.query(page), "orders"))
}

func (c *Client) page(ctx context.Context, address string) (Page, error) {
	call := &call{op: "list orders", method: http.MethodGet, url: address}
	a, err := c.do(ctx, call)
	if err != nil {
		return Page{}, err
	}
	page, err := decodePage(a.body)
	if err == nil {
		page.links, err = pageLinks(a.header, address)
	}
	if err != nil {
		return Page{}, c.malformed(call, a, err)
	}
	page.Tag = a.header.Get("ETag")
	return page, nil
}

// Orders returns all orders that a filter chooses, newest first, page after
// page. The first error ends them.
//
// Where the service links to the next page, every order that was there at the
// first page comes exactly once, whatever arrives meanwhile. A service without
// links is asked for pages by number: what new orders push from one page to the
// next is left out there, but an order that leaves the filter meanwhile can
// take another one with it.
func (c *Client) Orders(ctx context.Context, filter Filter) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		address := c.address(filter.query(1), "orders")
		before := map[string]bool{} // references of the page before
		for number := int64(1); ; number++ {
			page, err := c.page(ctx, address)
			if err != nil {
				yield(Summary{}, err)
				return
			}
			seen := make(map[string]bool, len(page.Orders))
			for _, order := range page.Orders {
				seen[order.Reference] = true
				if !before[order.Reference] && !yield(order, nil) {
					return
				}
			}
			before = seen
			switch {
			case page.links.next != "":
				address = c.address(nil, "orders") + "?" + page.links.next
			case page.links.any || len(page.Orders) == 0 || number*page.Size >= page.Total:
				return
			default:
				address = c.address(filter.query(number+1), "orders")
			}
		}
	}
}

// Order returns one order, whole. No such order, or another merchant's:
// ErrNotFound.
func (c *Client) Order(ctx context.Context, reference string) (Order, error) {
	op := "read order " + reference
	if err := c.checkReference(op, reference); err != nil {
		return Order{}, err
	}
	call := &call{op: op, method: http.MethodGet, url: c.address(nil, "orders", reference)}
	a, err := c.do(ctx, call)
	if err != nil {
		return Order{}, err
	}
	order, err := decodeOrder(a.body)
	if err == nil && order.Reference != reference {
		err = fmt.Errorf("order %.64q", order.Reference)
	}
	if err != nil {
		return Order{}, c.malformed(call, a, err)
	}
	order.Tag = a.header.Get("ETag")
	return order, nil
}

// checkReference refuses a reference that would name something else.
func (c *Client) checkReference(op, reference string) error {
	if reference == "" {
		return c.refuse(op, ErrInvalidParams, "the order reference is empty")
	}
	return nil
}
