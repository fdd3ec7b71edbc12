package console

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const listPath = Prefix + "/orders"

// listView is the data of the list of orders.
type listView struct {
	filterView
	Orders []listedOrder
	Total  int64          // not of a search
	Sums   []order.Amount // of all orders of the view; nil: there are none, or too many to add up
	Search bool
	Found  foundCount // of a search

	Page               int64
	First, Last        int64  // numbers of the first and the last order shown
	Previous, Next     string // queries of the pages; empty: there is none
	View               string // query of the view without a page, for the exports
	FirstPage, EndPage string // queries

	Views []savedView
	Saved *savedView // of Views, the one that is shown; nil: none
	Save  formView   // the form that saves the view
}

// listedOrder is an order of the list.
type listedOrder struct {
	order.Summary
	LineItems []order.LineItem
}

// wholeOrders returns the orders of a page of a list.
func (s *site) wholeOrders(r *web.Request, page []order.Summary) ([]order.Order, error) {
	return s.Orders.GetMany(r.Context(), r.Caller.MerchantID, web.Collect(page, func(o order.Summary) int64 { return o.LegacyID }))
}

// listed returns orders with their items.
func (s *site) listed(r *web.Request, orders []order.Summary) ([]listedOrder, error) {
	whole, err := s.wholeOrders(r, orders)
	items := make(map[int64][]order.LineItem)
	for _, o := range whole {
		items[o.LegacyID] = o.LineItems
	}
	return web.Collect(orders, func(o order.Summary) listedOrder { return listedOrder{o, items[o.LegacyID]} }), err
}

// monthView is a link to the orders of a month.
type monthView struct {
	Label  string // key of a message
	Query  string // of the view
	Chosen bool
}

// ItemsView is View for an export with a row an item.
func (v listView) ItemsView() string { return withQuery(v.View, "items=1") }

// newMonths returns the month of a day and the one before, with the other conditions of a
// form.
func newMonths(form formView, today order.Day) []monthView {
	months := make([]monthView, 2)
	begin := today.Start().AddDate(0, 0, 1-today.Start().Day())
	for i, label := range []string{"filter.month", "filter.lastmonth"} {
		month, first := maps.Clone(form.values), begin.AddDate(0, -i, 0)
		month.Set("from", order.DayOf(first).String())
		month.Set("to", order.DayOf(first.AddDate(0, 1, -1)).String())
		months[i] = monthView{Label: label, Query: viewQuery(month, 1), Chosen: month.Encode() == form.values.Encode()}
	}
	return months
}

// list serves GET /orders. A wrong form comes back with status 400 and no orders.
func (s *site) list(w http.ResponseWriter, r *web.Request) error {
	return s.showList(w, r, http.StatusOK, newForm(nil))
}

// showList sends the page of the list that the query names, with the form that saves it.
func (s *site) showList(w http.ResponseWriter, r *web.Request, status int, save formView) error {
	form, filter := s.ownFilter(r, r.URL.Query())
	view := listView{
		filterView: filterView{Form: form, Path: listPath, Months: newMonths(form, order.DayIn(s.Orders.Now(), filter.Zone))},
		View:       viewQuery(form.values, 1), Save: save,
	}
	if err := s.readViews(r, &view); err != nil {
		return err
	}
	if !form.valid() {
		return s.show(w, r, http.StatusBadRequest, "orders", &view)
	}
	if searches(form) {
		return s.searchOrders(w, r, status, view, filter)
	}
	page, err := s.Orders.List(r.Context(), r.Caller.MerchantID, filter)
	if err != nil {
		return err
	}
	pages := max(1, (page.Total+pageSize-1)/pageSize)
	if filter.Page > pages {
		// Orders have changed, or somebody typed a number.
		return s.redirect(w, r, Prefix+"/orders"+viewQuery(form.values, pages))
	}
	view.Total, view.Page = page.Total, filter.Page
	if view.Orders, err = s.listed(r, page.Orders); err != nil {
		return err
	}
	if 0 < page.Total && page.Total <= order.MaxSummed {
		if view.Sums, err = s.Orders.Sums(r.Context(), r.Caller.MerchantID, filter); err != nil {
			return err
		}
	}
	if len(page.Orders) > 0 {
		view.First = (filter.Page-1)*pageSize + 1
		view.Last = view.First + int64(len(page.Orders)) - 1
	}
	if filter.Page > 1 {
		view.Previous, view.FirstPage = pageQuery(form, filter.Page-1), pageQuery(form, 1)
	}
	if filter.Page < pages {
		view.Next, view.EndPage = pageQuery(form, filter.Page+1), pageQuery(form, pages)
	}
	return s.show(w, r, status, "orders", &view)
}

// foundCount is how many orders a search finds. On other pages than the first it is zero.
type foundCount struct {
	Orders  int64
	AtLeast bool // there may be more
	None    bool
}

func newFoundCount(search order.Search, page order.SearchPage) foundCount {
	if !search.Count || search.After != nil {
		return foundCount{}
	}
	return foundCount{int64(page.Found), !page.Exact, page.Found == 0 && page.Exact}
}

// searchOrders sends a page of the results of a search. They have no numbers of pages:
// only a link to those that follow.
func (s *site) searchOrders(w http.ResponseWriter, r *web.Request, status int, view listView, filter order.Filter) error {
	after := readCursor(r.URL.Query())
	search := s.ownSearch(r, view.Form, filter, after)
	search.Count = search.HasText()
	page, err := s.Orders.Search(r.Context(), search)
	if err != nil {
		return err
	}
	if after == nil && search.HasText() {
		if err := s.addOwnNumber(r, search, filter, &page); err != nil {
			return err
		}
	}
	view.Found = newFoundCount(search, page)
	if view.Orders, err = s.listed(r, summaries(page.Orders)); err != nil {
		return err
	}
	if after == nil && page.Next == nil {
		view.Sums = sumsOf(view.Orders)
	}
	view.Search, view.Page = true, 1
	if after != nil {
		view.FirstPage = view.View
	}
	if page.Next != nil {
		view.Next = viewQuery(view.Form.values, 1) + "&after=" + writeCursor(*page.Next)
	}
	return s.show(w, r, status, "orders", &view)
}

// addOwnNumber puts the orders whose own number is the text of a search before its other
// results: the words of a number with spaces need not find it.
func (s *site) addOwnNumber(r *web.Request, search order.Search, filter order.Filter, page *order.SearchPage) error {
	exact, _, err := s.Orders.ByMerchantReference(r.Context(), r.Caller.MerchantID, strings.TrimSpace(search.Text))
	if err != nil {
		return err
	}
	var own []order.FoundOrder
	for _, o := range exact {
		day := order.DayIn(o.CreatedAt, filter.Zone)
		if (filter.AnyState || slices.Contains(filter.States, o.State)) && (filter.From == order.NoDay || day >= filter.From) && (filter.To == order.NoDay || day <= filter.To) {
			own = append(own, order.FoundOrder{Summary: o, MerchantID: r.Caller.MerchantID})
		}
	}
	others := slices.DeleteFunc(page.Orders, func(o order.FoundOrder) bool {
		return slices.ContainsFunc(own, func(first order.FoundOrder) bool { return first.LegacyID == o.LegacyID })
	})
	page.Found += len(own) + len(others) - len(page.Orders)
	page.Orders = append(own, others...)
	return nil
}

// sumsOf returns the totals of orders by currency.
func sumsOf(orders []listedOrder) (sums []order.Amount) {
	for _, o := range orders {
		i := slices.IndexFunc(sums, func(sum order.Amount) bool { return sum.Currency == o.Currency })
		if i < 0 {
			i, sums = len(sums), append(sums, order.Amount{Currency: o.Currency})
		}
		sums[i].Amount += o.Total
	}
	return sums
}

// summaries returns the summaries of orders that a search found.
func summaries(found []order.FoundOrder) []order.Summary {
	return web.Collect(found, func(o order.FoundOrder) order.Summary { return o.Summary })
}

// pageQuery returns the query of a page, never empty: it stands in a link.
func pageQuery(form formView, page int64) string {
	if query := viewQuery(form.values, page); query != "" {
		return query
	}
	return "?page=" + strconv.FormatInt(page, 10)
}
