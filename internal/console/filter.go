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

// filterForm is the form above the list as it was sent: what is wrong in it comes back
// with its problem.
type filterForm struct {
	Query, State, From, To string
	Overdue                string // not empty: orders to answer whose deadline has passed
	// Keys of messages; empty: nothing is wrong.
	QueryProblem, StateProblem, FromProblem, ToProblem string
}

// valid reports whether nothing is wrong in the form.
func (f filterForm) valid() bool {
	return f.QueryProblem == "" && f.StateProblem == "" && f.FromProblem == "" && f.ToProblem == ""
}

// Empty reports whether the form selects all orders.
func (f filterForm) Empty() bool {
	return f.Query == "" && f.State == "" && f.From == "" && f.To == "" && f.Overdue == ""
}

// Savable reports whether the form can be a view with a name.
func (f filterForm) Savable() bool { return !f.Empty() && f.Query == "" }

// searches reports whether the form selects orders by a search: they have no exact number.
func (f filterForm) searches() bool { return f.Query != "" || f.Overdue != "" }

// filterView is the form above a list of orders.
type filterView struct {
	Form   filterForm
	States []order.State
	Path   string // of the list, below the root
	Months []monthView
	Market *formView // the store; nil: the orders are those of one store
}

// Refused reports whether something is wrong in the fields beside the search.
func (v filterView) Refused() bool {
	return v.Form.StateProblem != "" || v.Form.FromProblem != "" || v.Form.ToProblem != "" || v.Market != nil && v.Market.Refused()
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
	if v.Refused() || v.Form.QueryProblem != "" {
		return nil
	}
	values := v.Form.values()
	if v.Market != nil && v.Market.Value("merchant") != "" {
		values.Set("merchant", v.Market.Value("merchant"))
	}
	for _, c := range []chip{{Name: "q", Label: "filter.search"}, {Name: "merchant", Label: "merchants.id"}, {Name: "state", Label: "column.state"}, {Name: "from", Label: "filter.from"}, {Name: "to", Label: "filter.to"}, {Name: "overdue", Label: "found.overdue"}} {
		if c.Value = values.Get(c.Name); c.Value != "" {
			rest := maps.Clone(values)
			rest.Del(c.Name)
			c.Without = "?" + rest.Encode()
			chips = append(chips, c)
		}
	}
	return chips
}

// ownSearch is search for a merchant's staff, who also find what the merchant has written.
func (s *site) ownSearch(r *web.Request, form filterForm, filter order.Filter, after *order.SearchCursor) order.Search {
	search := s.search(form, r.Caller.MerchantID, filter, after)
	search.MerchantData = true
	return search
}

// search returns the search that a form describes, with the conditions of a filter.
func (s *site) search(form filterForm, merchantID int64, filter order.Filter, after *order.SearchCursor) order.Search {
	search := order.Search{
		MerchantID: merchantID, Text: form.Query, States: filter.States, From: filter.From, To: filter.To, Zone: filter.Zone,
		Limit: int(filter.PageSize), After: after,
	}
	if form.Overdue != "" {
		search.ExpiresBefore = s.Orders.Now()
		if !search.HasText() {
			search.Sort = order.SortExpires
		}
	}
	return search
}

// further returns the query of the results of a search after some of them.
func (f filterForm) further(after order.SearchCursor) string {
	return f.query(1) + "&after=" + writeCursor(after)
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

// values returns the fields that are filled in.
func (f filterForm) values() url.Values {
	values := make(url.Values)
	for name, value := range map[string]string{"q": f.Query, "state": f.State, "from": f.From, "to": f.To, "overdue": f.Overdue} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// query returns the query of the view that the form selects, with a page.
func (f filterForm) query(page int64) string {
	values := f.values()
	if page > 1 {
		values.Set("page", strconv.FormatInt(page, 10))
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}

// ownFilter is readFilter for a merchant's staff: days are those of the store.
func (s *site) ownFilter(r *web.Request, query url.Values) (filterForm, order.Filter) {
	form, filter := readFilter(query)
	filter.Zone = s.zoneOf(r)
	return form, filter
}

// readFilter reads the filter of a view from the query of its address. A page that is
// not a number is the first one.
func readFilter(query url.Values) (filterForm, order.Filter) {
	form := filterForm{Query: strings.TrimSpace(query.Get("q")), State: query.Get("state"), From: strings.TrimSpace(query.Get("from")), To: strings.TrimSpace(query.Get("to")), Overdue: query.Get("overdue")}
	if form.Overdue != "" {
		form.Overdue = "yes"
	}
	filter := order.NewFilter()
	filter.PageSize = pageSize
	if page, ok := order.ParseID(query.Get("page")); ok && page > 0 {
		filter.Page = page
	}
	if len(form.Query) > order.MaxSearchText || !utf8.ValidString(form.Query) {
		form.QueryProblem = "filter.query.long"
	}
	if form.State != "" {
		state, ok := order.ParseState(form.State)
		if !ok {
			form.StateProblem = "filter.state.unknown"
		}
		filter.AnyState, filter.States = false, []order.State{state}
	}
	day := func(text string, problem *string) order.Day {
		if text == "" {
			return order.NoDay
		}
		day, ok := order.ParseDay(text)
		if !ok {
			*problem = "filter.day.malformed"
		}
		return day
	}
	filter.From, filter.To = day(form.From, &form.FromProblem), day(form.To, &form.ToProblem)
	if form.valid() && filter.Normalize() != nil {
		form.ToProblem = "filter.range"
	}
	return form, filter
}
