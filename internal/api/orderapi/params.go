package orderapi

import (
	"fmt"
	"net/url"
	"time"

	"merchantorders/internal/order"
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
// *web.ParamError.
func (p ListParams) Parse(r *web.Request) (List, error) {
	query, err := web.ParseQuery(r.Request)
	if err != nil {
		return List{}, err
	}
	list := List{Filter: order.NewFilter()}
	if list.Page, err = query.Int("page", list.Page, 1, web.MaxInt); err != nil {
		return List{}, err
	}
	size := query.First(p.PageSize...)
	if list.PageSize, err = query.Int(size, list.PageSize, 1, web.MaxInt); err != nil {
		return List{}, err
	}
	stateName := query.First(p.State...)
	state, err := query.Text(stateName)
	if err != nil {
		return List{}, err
	}
	if state != "" {
		states, problem := p.ParseStates(state)
		if problem != "" {
			return List{}, &web.ParamError{Name: stateName, Problem: problem}
		}
		list.State, list.AnyState, list.States = &state, false, states
	}
	from, to := query.First(p.From...), query.First(p.To...)
	if list.From, err = query.Day(from); err != nil {
		return List{}, err
	}
	if list.To, err = query.Day(to); err != nil {
		return List{}, err
	}
	if list.Normalize() != nil {
		return List{}, &web.ParamError{Name: from, Problem: "is after " + to}
	}
	list.inLinks = query.Only(size, stateName, from, to)
	return list, readCursor(query, r.MerchantID, &list.Filter)
}

// CursorName is the query parameter of a list that says where the previous page
// ended. Its values are made by the service, in the Link headers of lists.
const CursorName = "cursor"

// newCursor returns the cursor of a page: its number, and the order after which it
// begins, in the list of a merchant and filter.
func newCursor(merchantID int64, filter order.Filter, page int64, after order.Cursor) string {
	return web.EncodeCursor(cursorList(merchantID, filter), page, after.CreatedAt.Unix(), after.LegacyID)
}

// cursorList identifies a list for its cursors. It does not cover the page size, which
// may change from page to page.
func cursorList(merchantID int64, filter order.Filter) string {
	return fmt.Sprintf("%d %t %v %d %d", merchantID, filter.AnyState, filter.States, filter.From, filter.To)
}

// readCursor applies the cursor of a request, if it has one, to a filter. It
// returns a *web.ParamError if the cursor is not one of this merchant and filter.
func readCursor(query web.Query, merchantID int64, filter *order.Filter) error {
	text, err := query.Text(CursorName)
	if err != nil || text == "" {
		return err
	}
	var page, createdAt, legacyID int64
	if !web.DecodeCursor(text, cursorList(merchantID, *filter), &page, &createdAt, &legacyID) || page < 1 {
		return &web.ParamError{Name: CursorName, Problem: "is not valid; start again from the first page"}
	}
	filter.Page, filter.After = page, &order.Cursor{CreatedAt: time.Unix(createdAt, 0).UTC(), LegacyID: legacyID}
	return nil
}

// ParseReason returns the "reason" of a request to reject an order, empty if there
// is none or it is null. It returns web.ErrInvalidPayload if the reason is not a
// string.
func ParseReason(body web.Object) (order.Reason, error) {
	if !body.Has("reason") || body.Null("reason") {
		return "", nil
	}
	text, ok := body.Text("reason")
	if !ok {
		return "", web.ErrInvalidPayload
	}
	return order.Reason(text), nil
}
