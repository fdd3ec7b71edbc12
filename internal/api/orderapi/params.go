package orderapi

import (
	"fmt"
	"maps"
	"net/url"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// ListParams says how a version spells the query of a list. Each parameter has the
// name of this version and then that of the other one: a filter that is ignored
// would show every order to a client that accepts what it lists (decision 3).
type ListParams struct {
	PageSize, State, From, To []string
	// ParseStates returns the states that a value of State selects, or what is
	// wrong with it. The values are those of this version under either name.
	ParseStates func(text string) (states []order.State, problem string)
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
	size := query.First(p.PageSize...)
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
	state := query.First(p.State...)
	if text := query.Text(state); text != "" {
		states, problem := p.ParseStates(text)
		query.Refuse(state, problem)
		list.State, list.AnyState, list.States = &text, false, states
	}
	from, to := query.First(p.From...), query.First(p.To...)
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

// ParseReason returns the "reason" of a request to reject an order, empty if there
// is none or it is null. It returns strict.ErrInvalidPayload if the reason is not a
// string.
func ParseReason(body strict.Object) (order.Reason, error) {
	if !body.Has("reason") || body.Null("reason") {
		return "", nil
	}
	text, ok := body.Text("reason")
	if !ok {
		return "", strict.ErrInvalidPayload
	}
	return order.Reason(text), nil
}
