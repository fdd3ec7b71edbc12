package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// from returns the path of the view that a person came from to an order, as the address
// names it; empty: none. It is one of viewTitles.
func from(r *web.Request) string { return listOf(r.URL.Query().Get("from")) }

// viewTitles has the keys of the titles of the views of orders, by their paths.
var viewTitles = map[string]string{queuePath: "nav.new", shipPath: "nav.ship", listPath: "nav.orders"}

// listOf returns the path of a view of orders, and nothing for any other.
func listOf(path string) string {
	if view := localPath(path); viewTitles[baseOf(view)] != "" {
		return view
	}
	return ""
}

// titleOf returns the key of the title of a view; of none, that of the list.
func titleOf(view string) string { return cmp.Or(viewTitles[baseOf(view)], viewTitles[listPath]) }

// baseOf returns the path of a view without its query.
func baseOf(view string) string {
	base, _, _ := strings.Cut(view, "?")
	return base
}

// queryOf returns the query of the path of a view.
func queryOf(view string) string {
	_, query, _ := strings.Cut(view, "?")
	return query
}

// orderIn returns the path of the page of an order, for a person who comes from a view;
// empty: from none.
func orderIn(reference, view string) string {
	if view == "" {
		return orderPath(reference)
	}
	return orderPath(reference) + "?from=" + url.QueryEscape(view)
}

// withQuery returns a path with more of a query.
func withQuery(path, query string) string {
	if strings.Contains(path, "?") {
		return path + "&" + query
	}
	return path + "?" + query
}

// neighbors returns the paths of the orders before and after an order in a view; empty:
// there is none.
func (s *site) neighbors(r *web.Request, o order.Order, view string) (previous, next string, err error) {
	switch baseOf(view) {
	case queuePath:
		return s.queueNeighbors(r, o, view)
	case shipPath:
		return withQuery(view, "before="+url.QueryEscape(o.Reference)), withQuery(view, "after="+url.QueryEscape(o.Reference)), nil
	}
	return s.listNeighbors(r, o, view)
}

// queueNeighbors is neighbors for a page of the queue. The order may have left the queue.
func (s *site) queueNeighbors(r *web.Request, o order.Order, view string) (previous, next string, err error) {
	size, after, err := readQueue(queryOf(view))
	if err != nil {
		return "", "", nil // a page that does not exist
	}
	page, err := s.Orders.Unanswered(r.Context(), r.Caller.MerchantID, order.UnansweredQuery{Limit: size, After: after})
	if err != nil {
		return "", "", err
	}
	if i := slices.IndexFunc(page.Orders, func(other order.UnansweredOrder) bool { return other.Reference == o.Reference }); i > 0 {
		previous = orderIn(page.Orders[i-1].Reference, view)
	}
	if next, err = s.nextUnanswered(r, o); next != "" {
		next = orderIn(next, view)
	}
	return previous, next, err
}

// nextUnanswered returns the reference of the order after an order in the queue; empty:
// there is none. The order may have left the queue.
func (s *site) nextUnanswered(r *web.Request, o order.Order) (string, error) {
	after := &order.UnansweredCursor{ExpiresAt: o.ExpiresAt, CreatedAt: o.CreatedAt, LegacyID: o.LegacyID}
	page, err := s.Orders.Unanswered(r.Context(), r.Caller.MerchantID, order.UnansweredQuery{Limit: 1, After: after})
	if err != nil || len(page.Orders) == 0 {
		return "", err
	}
	return page.Orders[0].Reference, nil
}

// listNeighbors is neighbors for a page of the list. The results of a search have them on
// the same page only.
func (s *site) listNeighbors(r *web.Request, o order.Order, view string) (previous, next string, err error) {
	query, err := url.ParseQuery(queryOf(view))
	if err != nil {
		return "", "", err
	}
	form, filter := s.ownFilter(r, query)
	if !form.valid() {
		return "", "", nil
	}
	var orders []order.Summary
	var total int64 // of a search 0
	if searches(form) {
		found, err := s.Orders.Search(r.Context(), s.ownSearch(r, form, filter, readCursor(query)))
		if err != nil {
			return "", "", err
		}
		orders = summaries(found.Orders)
	} else {
		page, err := s.Orders.List(r.Context(), r.Caller.MerchantID, filter)
		if err != nil {
			return "", "", err
		}
		orders, total = page.Orders, page.Total
	}
	i := slices.IndexFunc(orders, func(other order.Summary) bool { return other.Reference == o.Reference })
	if i < 0 {
		return "", "", nil
	}
	first := (filter.Page-1)*filter.PageSize + 1 // position of the first order of the page
	// at returns the path of an order by its place on the page, or on the page before or after it.
	at := func(i int) (string, error) {
		if 0 <= i && i < len(orders) {
			return orderIn(orders[i].Reference, view), nil
		}
		position := first + int64(i)
		if position < 1 || position > total {
			return "", nil
		}
		one := filter
		one.PageSize, one.Page = 1, position
		found, err := s.Orders.List(r.Context(), r.Caller.MerchantID, one)
		if err != nil || len(found.Orders) == 0 {
			return "", err
		}
		return orderIn(found.Orders[0].Reference, listPath+viewQuery(form.values, (position-1)/filter.PageSize+1)), nil
	}
	if previous, err = at(i - 1); err == nil {
		next, err = at(i + 1)
	}
	return previous, next, err
}
