package console

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// pageSize is how many orders a page of the list shows.
const pageSize = 25

// searches reports whether a filter selects orders by a search: they have no exact number.
func searches(form formView) bool { return form.Filled("q", "overdue") > 0 }

// filterView is the form above a list of orders.
type filterView struct {
	Form   formView // see readFilter
	Path   string   // of the list, below the root
	Months []monthView
	Market bool // the form has a store: the orders are those of several
}

// Empty reports whether the form selects all orders.
func (v filterView) Empty() bool { return len(v.Form.values) == 0 }

// Savable reports whether the form can be a view with a name.
func (v filterView) Savable() bool { return !v.Empty() && v.Form.Value("q") == "" }

// Refused reports whether something is wrong in the fields beside the search.
func (v filterView) Refused() bool {
	return v.Form.Problem("q") == "" && v.Form.Refused() || len(v.Form.problems) > 1
}

// chip is a condition of a view.
type chip struct {
	Name, Label, Value string // Label is the key of a message
	Without            string // query of the view without the condition
}

// Day returns the start of the day that is the value; zero: it is no day.
func (c chip) Day() time.Time {
	if day, ok := order.ParseDay(c.Value); ok {
		return day.Start()
	}
	return time.Time{}
}

// Chips returns the conditions of the view, unless something is wrong in them.
func (v filterView) Chips() (chips []chip) {
	if v.Form.Refused() {
		return nil
	}
	for _, c := range []chip{{Name: "q", Label: "filter.search"}, {Name: "merchant", Label: "merchants.id"}, {Name: "state", Label: "column.state"}, {Name: "from", Label: "filter.from"}, {Name: "to", Label: "filter.to"}, {Name: "overdue", Label: "found.overdue"}} {
		if c.Value = v.Form.Value(c.Name); c.Value != "" {
			rest := maps.Clone(v.Form.values)
			rest.Del(c.Name)
			c.Without = "?" + rest.Encode()
			chips = append(chips, c)
		}
	}
	return chips
}

// ownSearch is search for a merchant's staff, who also find what the merchant has written.
func (s *site) ownSearch(r *web.Request, form formView, filter order.Filter, after *order.SearchCursor) order.Search {
	search := s.search(form, r.Caller.MerchantID, filter, after)
	search.MerchantData = true
	return search
}

// search returns the search that a form describes, with the conditions of a filter.
func (s *site) search(form formView, merchantID int64, filter order.Filter, after *order.SearchCursor) order.Search {
	search := order.Search{
		MerchantID: merchantID, Text: form.Value("q"), States: filter.States, From: filter.From, To: filter.To, Zone: filter.Zone,
		Limit: int(filter.PageSize), After: after,
	}
	if form.Value("overdue") != "" {
		search.ExpiresBefore = s.Orders.Now()
		if !search.HasText() {
			search.Sort = order.SortExpires
		}
	}
	return search
}

// writeCursor returns a cursor as it stands in an address.
func writeCursor(after order.SearchCursor) string {
	return web.EncodeCursor("", after.At, after.LegacyID)
}

// readCursor reads what writeCursor returns; nil: there is no such thing.
func readCursor(query url.Values) *order.SearchCursor {
	var after order.SearchCursor
	if !web.DecodeCursor(query.Get("after"), "", &after.At, &after.LegacyID) {
		return nil
	}
	return &after
}

// viewQuery returns the query of a page of the view that a filter selects.
func viewQuery(filter url.Values, page int64) string {
	if page > 1 {
		filter = maps.Clone(filter)
		filter.Set("page", strconv.FormatInt(page, 10))
	}
	if len(filter) == 0 {
		return ""
	}
	return "?" + filter.Encode()
}

// ownFilter is readFilter for a merchant's staff: days are those of the store.
func (s *site) ownFilter(r *web.Request, query url.Values) (formView, order.Filter) {
	form, filter := readFilter(query)
	filter.Zone = s.zoneOf(r)
	return form, filter
}

// readFilter reads the filter of a view from the query of its address. The form has those fields
// that are filled in; overdue selects orders to answer whose deadline has passed. A page that is
// not a number is the first one.
func readFilter(query url.Values) (formView, order.Filter) {
	form := newForm(make(url.Values))
	set := func(field, text string) {
		if text != "" {
			form.values.Set(field, text)
		}
	}
	for _, field := range []string{"q", "from", "to"} {
		set(field, strings.TrimSpace(query.Get(field)))
	}
	set("state", query.Get("state"))
	if query.Get("overdue") != "" {
		set("overdue", "yes")
	}
	filter := order.NewFilter()
	filter.PageSize = pageSize
	if page, ok := order.ParseID(query.Get("page")); ok && page > 0 {
		filter.Page = page
	}
	if text := form.Value("q"); len(text) > order.MaxSearchText || !utf8.ValidString(text) {
		form.refuse("q", "filter.query.long")
	}
	if text := form.Value("state"); text != "" {
		state, ok := order.ParseState(text)
		if !ok {
			form.refuse("state", "filter.state.unknown")
		}
		filter.AnyState, filter.States = false, []order.State{state}
	}
	filter.From, filter.To = form.day("from", "filter.day.malformed"), form.day("to", "filter.day.malformed")
	if form.valid() && filter.Normalize() != nil {
		form.refuse("to", "filter.range")
	}
	return form, filter
}
