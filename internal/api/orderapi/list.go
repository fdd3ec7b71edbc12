// Package orderapi holds what orders and lists of both versions have in common beside
// their bodies: entity tags, links to further pages, and cursors. It must not know
// the representation of either version.
package orderapi

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// Lister reads lists. order.Service implements it.
type Lister interface {
	// List returns a page of orders.
	List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error)
}

// Represent returns the representation of a list whose body view makes. Its tag changes
// with every change of the merchant's data, and each day if the filter has no last
// day, since the body then shows the present day. now is the time of the request,
// address the URL of the list without a query.
func Represent(r *web.Request, lists Lister, list List, now time.Time, address string, view func(order.Page) any) web.Representation {
	day := order.NoDay
	if list.To == order.NoDay {
		day = order.DayOf(now)
	}
	return RepresentData(r, day, func(rep *web.Representation) (any, order.DataVersion, error) {
		page, err := lists.List(r.Context(), r.Caller.MerchantID, list.Filter)
		if err != nil {
			return nil, order.DataVersion{}, err
		}
		rep.Links = append(rep.Links, pageLinks(r.Caller.MerchantID, list, page, address)...)
		return view(page), page.Version, nil
	})
}

// RepresentData returns the representation of data of the merchant in the version that read
// returns. day is the present one if the body shows it, else order.NoDay.
func RepresentData(r *web.Request, day order.Day, read func(*web.Representation) (any, order.DataVersion, error)) web.Representation {
	return web.Representation{Day: day, Tag: listTag(r.Caller.MerchantID, r.DataVersion, day), Body: func(rep *web.Representation) (any, error) {
		body, version, err := read(rep)
		// The body may show changes from after the authentication.
		rep.Tag = listTag(r.Caller.MerchantID, version, day)
		return body, err
	}}
}

// listTag returns the data tag of a list: <merchant>-<data version>,
// and -<day> if the list shows the present day.
func listTag(merchantID int64, version order.DataVersion, day order.Day) string {
	tag := strconv.FormatInt(merchantID, 10) + "-" + version.String()
	if day != order.NoDay {
		tag += "-" + strconv.FormatInt(int64(day), 10)
	}
	return tag
}

// pageLinks returns the links to the first page of a list and to the next page, if
// there is one. The next page begins where this one ends, whatever orders arrive
// meanwhile.
func pageLinks(merchantID int64, list List, page order.Page, address string) []string {
	query := list.inLinks
	links := []string{link(address, query, "first")}
	if page.Next != nil {
		query.Set(web.CursorName, newCursor(merchantID, list.Filter, list.Page+1, *page.Next))
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

// ListParams says how a version spells the query of a list, as Route.Takes does. Each parameter
// has the name of this version and then that of the other one: a filter that is ignored
// would show every order to a client that accepts what it lists (decision 3).
type ListParams struct {
	PageSize, State, From, To string
	// ParseStates returns the states that a value of State selects, or what is
	// wrong with it. The values are those of this version under either name.
	ParseStates func(text string) (states []order.State, problem string)
}

// OfList returns the parameters of a list.
func (p ListParams) OfList() []string { return append(p.OfExport(), "page", p.PageSize) }

// OfExport returns the parameters of an export.
func (p ListParams) OfExport() []string {
	return []string{p.State, p.From, p.To, web.CursorName}
}

// List is the parsed query of a list.
type List struct {
	order.Filter
	State *string // as requested; nil: every state

	// inLinks are the parameters of the query that links to other pages repeat.
	inLinks url.Values
}

// Parse parses the query of a list (decision 3). Every error is a
// *strict.ParamError.
func (p ListParams) Parse(r *web.Request) (List, error) {
	query := web.ParseQuery(r)
	size := query.First(p.PageSize)
	page, pageSize := query.Int("page", 1, 1, strict.MaxInt), query.Int(size, order.DefaultPageSize, 1, strict.MaxInt)
	list := p.parseFilter(query)
	list.Page, list.PageSize = page, pageSize
	_ = list.Normalize() // parseFilter has refused a range that ends before it begins
	maps.Copy(list.inLinks, query.Only(size))
	if query.Text(web.CursorName) != "" {
		list.Page, list.After = parseCursor(query, cursorList(r.Caller.MerchantID, list.Filter))
	}
	return list, query.Err()
}

// parseFilter parses the parameters that select orders.
func (p ListParams) parseFilter(query *web.Query) List {
	list := List{Filter: order.NewFilter()}
	state := query.First(p.State)
	if text := query.Text(state); text != "" {
		states, problem := p.ParseStates(text)
		query.Refuse(state, problem)
		list.State, list.AnyState, list.States = &text, false, states
	}
	from, to := query.First(p.From), query.First(p.To)
	list.From, list.To = query.Days(from, to)
	list.inLinks = query.Only(state, from, to)
	return list
}

// newCursor returns the cursor of a page: its number, and the order after which it
// begins, in the list of a merchant and filter.
func newCursor(merchantID int64, filter order.Filter, page int64, after order.Cursor) string {
	return web.EncodeCursor(cursorList(merchantID, filter), page, after.CreatedAt.Unix(), after.LegacyID)
}

// cursorList identifies a list for its cursors: which orders it has, without the page and
// its size, which may change from page to page. The text is that of 1.0.0, because clients
// also page while the service is upgraded. Append what a new parameter selects only where
// it is given.
func cursorList(merchantID int64, filter order.Filter) string {
	return fmt.Sprintf("%d {AnyState:%t States:%v From:%s To:%s Zone:UTC Page:0 PageSize:0 After:<nil>}",
		merchantID, filter.AnyState, filter.States, filter.From, filter.To)
}

// parseCursor parses the cursor of a list: the number of its page, and the order after
// which the page begins.
func parseCursor(query *web.Query, list string) (page int64, after *order.Cursor) {
	var createdAt, legacyID int64
	if query.Cursor(list, &page, &createdAt, &legacyID) && page < 1 {
		query.RefuseCursor()
	}
	return page, &order.Cursor{CreatedAt: time.Unix(createdAt, 0).UTC(), LegacyID: legacyID}
}
