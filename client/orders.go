package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxPageSize is the maximum number of orders in a page.
const MaxPageSize = 100

// Filter selects orders. The zero value selects all.
type Filter struct {
	State State     // empty: every state
	From  time.Time // created on this day (of UTC) or later; zero: no limit
	To    time.Time // created on this day (of UTC) or earlier; zero: no limit

	// PageSize is the number of orders in a page, 1 to MaxPageSize; 0 means
	// MaxPageSize.
	PageSize int
}

// Page is one page of a list, newest first.
type Page struct {
	Number int64     // from 1
	Size   int64     // maximum number of orders in a page
	Total  int64     // exact number of orders that the filter selects, on all pages
	State  State     // of the filter; empty: every state
	From   time.Time // first second of the effective range
	To     time.Time // last second of the effective range
	Orders []Summary // newest first; empty after the last page
	Tag    string    // entity tag of the page; may be empty

	links links
}

// query returns the query parameters of a filter.
func (f Filter) query(page int64) url.Values {
	query := f.conditions()
	query.Set("page", strconv.FormatInt(page, 10))
	query.Set("itemsPerPage", strconv.Itoa(cmp.Or(f.PageSize, MaxPageSize)))
	return query
}

// conditions returns the query parameters that select orders.
func (f Filter) conditions() url.Values {
	query := make(url.Values)
	if f.State != "" {
		query.Set("state", string(f.State))
	}
	if !f.From.IsZero() {
		query.Set("dateFrom", f.From.UTC().Format(time.DateOnly))
	}
	if !f.To.IsZero() {
		query.Set("dateTo", f.To.UTC().Format(time.DateOnly))
	}
	return query
}

// OrdersPage returns one page of the orders that a filter selects. The first page
// is 1; a page after the last is empty. Orders that arrive between two calls move
// others to later pages. Orders handles that.
func (c *Client) OrdersPage(ctx context.Context, filter Filter, page int64) (Page, error) {
	return c.page(ctx, c.address(filter.query(page), "orders"))
}

func (c *Client) page(ctx context.Context, address string) (Page, error) {
	call := &call{op: "list orders", method: http.MethodGet, url: address}
	return fetch(ctx, c, call, func(r response) (Page, error) {
		page, err := decodePage(r)
		if err == nil {
			page.links, err = pageLinks(r.header, address)
		}
		return page, err
	})
}

// Orders returns all orders that a filter selects, newest first. The first error
// ends the iteration.
//
// It follows the service's links to the next page. Then each order that existed at
// the first page is returned exactly once, also if orders arrive meanwhile. If the
// service has no links, it requests pages by number and skips orders that it has
// returned already; an order may be missing if another one leaves the filter
// meanwhile.
func (c *Client) Orders(ctx context.Context, filter Filter) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		address := c.address(filter.query(1), "orders")
		previous := map[string]bool{} // references of the previous page
		for number := int64(1); ; number++ {
			page, err := c.page(ctx, address)
			if err != nil {
				yield(Summary{}, err)
				return
			}
			seen := make(map[string]bool, len(page.Orders))
			for _, order := range page.Orders {
				seen[order.Reference] = true
				if !previous[order.Reference] && !yield(order, nil) {
					return
				}
			}
			previous = seen
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

// Unanswered returns the orders that wait to be accepted or rejected: the earliest
// deadline first, then those without a deadline, oldest first. If before is not zero, it
// returns only those with an earlier deadline. The first error ends the iteration.
func (c *Client) Unanswered(ctx context.Context, before time.Time) iter.Seq2[UnansweredOrder, error] {
	query := make(url.Values)
	if !before.IsZero() {
		query.Set("expiresBefore", before.UTC().Format(time.RFC3339))
	}
	return withCursor(ctx, c, "unanswered", query, decodeUnanswered, func(w wireUnanswered) UnansweredOrder {
		return UnansweredOrder{w.summary(), w.ExpiresAt.Time, w.SecondsLeft, w.LineItems}
	})
}

// WithoutInvoice returns the orders whose customer asked for an invoice and that have no
// invoice file, unless they are rejected or canceled: oldest first. The first error ends
// the iteration; that of a service of version 1.0.0 is ErrNotFound.
func (c *Client) WithoutInvoice(ctx context.Context) iter.Seq2[Summary, error] {
	return withCursor(ctx, c, "without-invoice", url.Values{}, decodeSummaries, wireSummary.summary)
}

// withCursor returns the orders on all pages of the list at a path below orders.
func withCursor[W, T any](ctx context.Context, c *Client, path string, query url.Values, decode func(response) (cursorPage[W], error), order func(W) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(query) // an iteration may begin again
		query.Set("limit", strconv.Itoa(MaxPageSize))
		for {
			call := &call{op: "list " + path + " orders", method: http.MethodGet, url: c.address(query, "orders", path)}
			page, err := fetch(ctx, c, call, decode)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, w := range page.Orders {
				if !yield(order(w), nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// ByMerchantReference returns the orders with your own number, newest first, at most 100.
func (c *Client) ByMerchantReference(ctx context.Context, number string) ([]Summary, error) {
	call := &call{op: "find orders by number " + number, method: http.MethodGet, url: c.address(nil, "orders", "by-merchant-reference", number)}
	if number == "" {
		// The path would be another one.
		call.invalid = "the number is empty"
	}
	return fetch(ctx, c, call, func(r response) ([]Summary, error) {
		page, err := decodeSummaries(r)
		orders := make([]Summary, len(page.Orders))
		for i, w := range page.Orders {
			orders[i] = w.summary()
		}
		return orders, err
	})
}

// Order returns one order. The error is ErrNotFound if the order does not exist or
// belongs to another merchant.
func (c *Client) Order(ctx context.Context, reference string) (Order, error) {
	call := c.orderCall(http.MethodGet, "read order "+reference, reference)
	return fetch(ctx, c, call, func(r response) (Order, error) {
		order, err := decodeOrder(r)
		if err == nil && order.Reference != reference {
			err = fmt.Errorf("order %.64q", order.Reference)
		}
		return order, err
	})
}

// Accept accepts an order: its state changes from Registered to InProcessing.
// Errors in addition to those of every call: ErrNotFound, ErrCannotAccept,
// ErrPrecondition.
func (c *Client) Accept(ctx context.Context, reference string, options ...WriteOption) error {
	return c.act(ctx, "accept", reference, nil, options)
}

// Reject rejects an order: its state changes from Registered to
// RejectedByMerchant. Errors in addition to those of every call: ErrNotFound,
// ErrInvalidReason, ErrCannotReject, ErrPrecondition.
func (c *Client) Reject(ctx context.Context, reference string, reason Reason, options ...WriteOption) error {
	body := map[string]string{"status": "D"}
	if reason != NoReason {
		body["reason"] = string(reason)
	}
	return c.act(ctx, "reject", reference, body, options)
}

// OrderUpdate is your own number and note of an order. Nil leaves a field as it is, and
// an empty text removes it.
type OrderUpdate struct {
	MerchantReference *string `json:"merchantReference,omitempty"` // at most 64 characters
	MerchantNote      *string `json:"merchantNote,omitempty"`      // at most 1000 characters
}

// Update changes your own number and note of an order, which the marketplace does not
// see. Errors in addition to those of every call: ErrNotFound, ErrInvalidParams,
// ErrPrecondition.
func (c *Client) Update(ctx context.Context, reference string, update OrderUpdate, options ...WriteOption) error {
	_, err := send(ctx, c, c.orderCall(http.MethodPatch, "update order "+reference, reference), update, options, decodeSuccess)
	return err
}

// act accepts or rejects an order.
func (c *Client) act(ctx context.Context, action, reference string, body any, options []WriteOption) error {
	call := c.orderCall(http.MethodPatch, action+" order "+reference, reference, action)
	_, err := send(ctx, c, call, body, options, decodeSuccess)
	return err
}

// links are the page links of a response.
type links struct {
	any  bool   // whether there are page links at all
	next string // query of the next page; empty: none
}

// pageLinks parses the Link headers (RFC 8288) of a list. It uses only the query of
// a link: scheme and host may differ from those of the client's base URL, and the
// client must not send the token to another host.
func pageLinks(header http.Header, address string) (links, error) {
	var found links
	at, err := url.Parse(address)
	if err != nil {
		return links{}, err
	}
	for _, link := range linkForm.FindAllStringSubmatch(strings.Join(header.Values("Link"), ","), -1) {
		for _, relation := range relations(link[2]) {
			switch strings.ToLower(relation) {
			case "first", "prev":
				found.any = true
			case "next":
				found.any = true
				to, err := at.Parse(link[1])
				if err != nil || to.RawQuery == "" || !strings.HasSuffix(to.Path, "/orders") {
					return links{}, errors.New("the link to the next page is not a list of orders")
				}
				if to.RawQuery == at.RawQuery {
					return links{}, errors.New("the link to the next page is the same page")
				}
				found.next = to.RawQuery
			}
		}
	}
	return found, nil
}

var (
	// linkForm matches a link of a Link header: its target and its parameters.
	linkForm = regexp.MustCompile(`<([^>]*)>((?:` + paramForm.String() + `)*)`)
	// paramForm matches a parameter: its name, and its value with or without quotes.
	paramForm = regexp.MustCompile(`\s*;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)

// relations returns the values of the first parameter rel.
func relations(params string) []string {
	for _, param := range paramForm.FindAllStringSubmatch(params, -1) {
		if strings.EqualFold(param[1], "rel") {
			return strings.Fields(param[2] + param[3])
		}
	}
	return nil
}
