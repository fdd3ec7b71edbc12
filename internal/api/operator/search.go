package operator

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// foundView is an order in the results of a search.
type foundView struct {
	MerchantID     int64   `json:"merchantId"`
	OrderID        int64   `json:"orderId"`
	OrderReference string  `json:"orderReference"`
	State          string  `json:"state"`
	CreatedAt      string  `json:"createdAt"`
	UpdatedAt      *string `json:"updatedAt"`
	ExpiresAt      *string `json:"expiresAt"`
	CustomerName   string  `json:"customerName"`
	Total          int64   `json:"total"` // in the currency's minor unit
	Currency       string  `json:"currency"`
	Invoices       int     `json:"invoices"` // active files
}

type searchView struct {
	Orders []foundView `json:"orders"`
	Next   *string     `json:"next"` // cursor of the next page; nil: there is none
}

// searchOrders serves GET /orders.
func (a API) searchOrders(w http.ResponseWriter, r *http.Request) error {
	search, err := parseSearch(r)
	if err != nil {
		return err
	}
	page, err := a.Orders.Search(r.Context(), search)
	if err != nil {
		return err
	}
	view := searchView{Orders: make([]foundView, 0, len(page.Orders))}
	for i := range page.Orders {
		view.Orders = append(view.Orders, newFoundView(&page.Orders[i]))
	}
	if page.Next != nil {
		next := searchCursor(search, *page.Next)
		view.Next = &next
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

func newFoundView(o *order.FoundOrder) foundView {
	return foundView{
		MerchantID: o.MerchantID, OrderID: o.LegacyID, OrderReference: o.Reference, State: o.State.String(),
		CreatedAt: web.TimeText(o.CreatedAt), UpdatedAt: web.TimeOrNull(o.UpdatedAt), ExpiresAt: web.TimeOrNull(o.ExpiresAt),
		CustomerName: strings.TrimSpace(o.Customer.FirstName + " " + o.Customer.LastName),
		Total:        o.Total, Currency: o.Currency, Invoices: o.Invoices,
	}
}

// sorts are the values of the parameter sort.
var sorts = map[string]order.SearchSort{"created": order.SortCreated, "updated": order.SortUpdated, "expires": order.SortExpires}

// parseSearch parses the query of GET /orders. Every error is a *web.ParamError.
func parseSearch(r *http.Request) (order.Search, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return order.Search{}, err
	}
	// A misspelled filter would show everything.
	if err := query.Allow("merchantId", "orderId", "reference", "email", "phone", "name", "q", "state", "dateFrom", "dateTo",
		"expiresBefore", "sort", "limit", "cursor"); err != nil {
		return order.Search{}, err
	}
	var s order.Search
	if s.MerchantID, err = query.Int("merchantId", 0, 1, web.MaxInt); err != nil {
		return order.Search{}, err
	}
	if s.LegacyID, err = query.Int("orderId", 0, 1, web.MaxInt); err != nil {
		return order.Search{}, err
	}
	limit, err := query.Int("limit", order.DefaultSearchLimit, 1, order.MaxSearchLimit)
	if err != nil {
		return order.Search{}, err
	}
	s.Limit = int(limit)
	if err := parseSearchTexts(query, &s); err != nil {
		return order.Search{}, err
	}
	if err := parseSearchTimes(query, &s); err != nil {
		return order.Search{}, err
	}
	if s.States, err = parseStates(query); err != nil {
		return order.Search{}, err
	}
	if err := parseSort(query, &s); err != nil {
		return order.Search{}, err
	}
	return s, readSearchCursor(query, &s)
}

func parseSearchTexts(query web.Query, s *order.Search) error {
	for _, param := range []struct {
		name string
		text *string
	}{{"reference", &s.Reference}, {"email", &s.Email}, {"phone", &s.Phone}, {"name", &s.Name}, {"q", &s.Text}} {
		value, err := query.Text(param.name)
		if err == nil && (len(value) > order.MaxSearchText || !utf8.ValidString(value)) {
			err = &web.ParamError{Name: param.name, Problem: fmt.Sprintf("must be text of at most %d bytes", order.MaxSearchText)}
		}
		if err != nil {
			return err
		}
		*param.text = value
	}
	return nil
}

// parseSearchTimes parses the days of creation and the deadline.
func parseSearchTimes(query web.Query, s *order.Search) (err error) {
	if s.From, err = query.Day("dateFrom"); err != nil {
		return err
	}
	if s.To, err = query.Day("dateTo"); err != nil {
		return err
	}
	if s.From != order.NoDay && s.To != order.NoDay && s.From > s.To {
		return &web.ParamError{Name: "dateFrom", Problem: "is after dateTo"}
	}
	text, err := query.Text("expiresBefore")
	if err != nil || text == "" {
		return err
	}
	// A plus that the client does not escape arrives as a space.
	t, ok := order.ParseTime(strings.Replace(text, " ", "+", 1))
	if !ok {
		return &web.ParamError{Name: "expiresBefore", Problem: "must be a time such as 2026-11-20T08:15:30Z"}
	}
	s.ExpiresBefore = t
	return nil
}

// parseStates parses names of states, separated by commas.
func parseStates(query web.Query) ([]order.State, error) {
	text, err := query.Text("state")
	if err != nil || text == "" {
		return nil, err
	}
	var states []order.State
	for _, name := range strings.Split(text, ",") {
		state, ok := order.ParseState(name)
		if !ok || len(states) >= order.NumStates {
			return nil, &web.ParamError{Name: "state", Problem: "must be one or several, separated by commas, of " + order.StateNames()}
		}
		states = append(states, state)
	}
	return states, nil
}

// parseSort parses the order of the results. By default they are sorted by deadline if
// that is searched for, else by creation.
func parseSort(query web.Query, s *order.Search) error {
	text, err := query.Text("sort")
	if err != nil {
		return err
	}
	if text == "" {
		if !s.ExpiresBefore.IsZero() && !s.HasText() {
			s.Sort = order.SortExpires
		}
		return nil
	}
	sort, ok := sorts[text]
	if !ok {
		return &web.ParamError{Name: "sort", Problem: "must be created, updated or expires"}
	}
	if sort != order.SortCreated && s.HasText() {
		return &web.ParamError{Name: "sort", Problem: "must be created with reference, email, phone, name or q"}
	}
	s.Sort = sort
	return nil
}

// searchCursor returns the text of a cursor of a search.
func searchCursor(s order.Search, c order.SearchCursor) string {
	return web.EncodeCursor(cursorList(s), c.At, c.LegacyID)
}

// cursorList identifies a search for its cursors: everything but the limit.
func cursorList(s order.Search) string {
	s.Limit, s.After = 0, nil
	return fmt.Sprintf("%+v", s)
}

// readSearchCursor sets the cursor of a search, whose other fields are set.
func readSearchCursor(query web.Query, s *order.Search) error {
	text, err := query.Text("cursor")
	if err != nil || text == "" {
		return err
	}
	var after order.SearchCursor
	if !web.DecodeCursor(text, cursorList(*s), &after.At, &after.LegacyID) {
		return &web.ParamError{Name: "cursor", Problem: "is not valid for this search; start again from the first page"}
	}
	s.After = &after
	return nil
}
