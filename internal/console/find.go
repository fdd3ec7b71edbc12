package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// foundOrders is how many orders the search of the header shows while one types.
const foundOrders = 8

// findView is the data of what the search of the header finds while one types.
type findView struct {
	Stores []order.Merchant
	Pages  []findable
	Orders []matchedOrder
	More   string // query of all orders that are found; empty: there are no others
}

// findable is a page of the console that people look for by its name.
type findable struct{ Title, Path, Scope string }

// findables are the pages for a merchant's staff.
var findables = []findable{
	{"nav.overview", "", "orders:read"}, {"nav.new", "/new", "orders:read"}, {"nav.ship", "/ship", "orders:read"}, {"invoices.add", "/invoices", "invoices:write"},
	{"op.tokens", "/tokens", "tokens"}, {"people.heading", "/people", "tokens"}, {"store.heading", "/store", "tokens"}, {"op.webhooks", "/webhooks", "webhooks"}, {"mail.heading", "/mail", "webhooks"},
}

// matchedOrder is an order with what of it a search matches, if the list does not show it.
type matchedOrder struct {
	order.FoundOrder
	Path, Match string
}

// findAhead serves GET /find?q= and GET /operator/find?q=: a part of a page, which find.js shows.
func (s *site) findAhead(w http.ResponseWriter, r *web.Request) error {
	form, filter := s.ownFilter(r, url.Values{"q": r.URL.Query()["q"]})
	filter.PageSize = foundOrders
	var view findView
	if form.valid() && form.Value("q") != "" {
		find := s.findOwn
		if r.Caller.Operator() {
			find = s.findInMarket
		}
		page, err := find(r, form, filter, &view)
		if err != nil {
			return err
		}
		if page.Next != nil {
			view.More = viewQuery(form.values, 1)
		}
		for _, o := range page.Orders {
			path := orderPath(o.Reference)
			if r.Caller.Operator() {
				path = operatorOrderPath(strconv.FormatInt(o.MerchantID, 10), o.Reference)
			}
			view.Orders = append(view.Orders, matchedOrder{o, path, matchOf(o, folded(form.Value("q")))})
		}
	}
	return s.show(w, r, http.StatusOK, "find", &view)
}

// findOwn returns the orders of a store that a form finds, and adds the pages to the view.
func (s *site) findOwn(r *web.Request, form formView, filter order.Filter, view *findView) (order.SearchPage, error) {
	view.Pages = s.pagesNamed(folded(form.Value("q")), layout{Scopes: r.Caller.Scopes})
	search := s.ownSearch(r, form, filter, nil)
	page, err := s.Orders.Search(r.Context(), search)
	if err == nil {
		err = s.addOwnNumber(r, search, filter, &page)
	}
	return page, err
}

// findInMarket is findOwn for operators, with the stores.
func (s *site) findInMarket(r *web.Request, form formView, filter order.Filter, view *findView) (page order.SearchPage, err error) {
	for _, section := range sectionsOf(r.Caller.Scopes) {
		if isNamed("op."+section.Name, folded(form.Value("q"))) {
			view.Pages = append(view.Pages, findable{Title: "op." + section.Name, Path: strings.TrimPrefix(section.Path(), Prefix)})
		}
	}
	if view.Stores, err = s.storesNamed(r.Context(), form.Value("q")); err != nil {
		return page, err
	}
	return s.Orders.Search(r.Context(), s.search(form, 0, filter, nil))
}

// isNamed reports whether a message has a folded text, in any language.
func isNamed(key, text string) bool {
	return slices.ContainsFunc(languages, func(code string) bool {
		return strings.Contains(folded(language{code: code}.text(key)), text)
	})
}

// pagesNamed returns the pages that somebody may see and whose title has a folded text.
func (s *site) pagesNamed(text string, who layout) (pages []findable) {
	for _, page := range findables {
		if isNamed(page.Title, text) && who.Can(page.Scope) && (page.Path != "/mail" || s.Digests != nil) {
			pages = append(pages, page)
		}
	}
	return pages
}

// matchOf returns the value of an order that a folded text begins or is in; empty: the
// reference or the name, which the list shows, or several.
func matchOf(o order.FoundOrder, text string) string {
	if strings.Contains(folded(o.Reference+" "+o.Customer.FirstName+" "+o.Customer.LastName), text) {
		return ""
	}
	values := append([]string{
		order.TextOf(o.Customer.Phone), o.Customer.Email, o.Customer.Company, order.TextOf(o.MerchantData.Reference), order.TextOf(o.MerchantData.Note),
	}, o.Codes...)
	for _, value := range values {
		if strings.Contains(folded(value), text) {
			return value
		}
	}
	return ""
}

// folded returns a text as a search compares it: small letters without accents, spaces and signs.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return -1
		case r == 'ς':
			return 'σ'
		}
		return r
	}, norm.NFKD.String(strings.ToLower(text)))
}

// searched is a page that the search of the header leads to.
type searched interface {
	searchText() (text string, refused bool)
}

func (v filterView) searchText() (text string, refused bool) {
	return v.Form.Value("q"), v.Form.Problem("q") != ""
}

// FindPath returns the path of what the search of the header finds while one types; empty: there
// is no search.
func (l layout) FindPath() string {
	switch {
	case l.Session == nil || !l.Can("orders:read"):
		return ""
	case l.Operator:
		return operatorPrefix + "/find"
	}
	return Prefix + "/find"
}

// SearchPath returns the path that the search of the header leads to.
func (l layout) SearchPath() string {
	if l.Operator {
		return operatorPrefix + "/orders"
	}
	return listPath
}
