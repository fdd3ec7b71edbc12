package operator

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
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
	Next   *string     `json:"next"`  // cursor of the next page; nil: there is none
	Total  *int        `json:"total"` // nil: not counted, or too many
}

// searchOrders serves GET /orders.
func (a API) searchOrders(r *web.Request) (any, error) {
	search, err := parseSearch(r)
	if err != nil {
		return nil, err
	}
	page, err := a.Orders.Search(r.Context(), search)
	view := searchView{Orders: web.Collect(page.Orders, newFoundView)}
	if page.Next != nil {
		view.Next = new(web.EncodeCursor(cursorList(search), page.Next.At, page.Next.LegacyID))
	}
	if search.Count && page.Exact {
		view.Total = &page.Found
	}
	return view, err
}

func newFoundView(o order.FoundOrder) foundView {
	return foundView{
		MerchantID: o.MerchantID, OrderID: o.LegacyID, OrderReference: o.Reference, State: o.State.String(),
		CreatedAt: web.TimeText(o.CreatedAt), UpdatedAt: web.TimeOrNull(o.UpdatedAt), ExpiresAt: web.TimeOrNull(o.ExpiresAt),
		CustomerName: strings.TrimSpace(o.Customer.FirstName + " " + o.Customer.LastName),
		Total:        o.Total, Currency: o.Currency, Invoices: o.Invoices,
	}
}

// sorts are the values of the parameter sort.
var sorts = map[string]order.SearchSort{"created": order.SortCreated, "updated": order.SortUpdated, "expires": order.SortExpires}

// parseSearch parses the query of GET /orders. Every error is a *strict.ParamError.
func parseSearch(r *web.Request) (order.Search, error) {
	query := web.ParseQuery(r)
	s := order.Search{
		MerchantID: query.Int("merchantId", 0, 1, strict.MaxInt),
		LegacyID:   query.Int("orderId", 0, 1, strict.MaxInt),
		Limit:      query.Limit(order.DefaultSearchLimit, order.MaxSearchLimit),
		Reference:  searchText(query, "reference"),
		Email:      searchText(query, "email"),
		Phone:      searchText(query, "phone"),
		Name:       searchText(query, "name"),
		Text:       searchText(query, "q"),
	}
	s.From, s.To = query.Days("dateFrom", "dateTo")
	s.ExpiresBefore = query.Time("expiresBefore")
	s.States = parseStates(query)
	s.Sort = parseSort(query, s)
	s.After = parseSearchCursor(query, s)
	s.Count = s.HasText() && s.After == nil
	return s, query.Err()
}

// unreadableView stands for an order in an export. An import refuses it.
type unreadableView struct {
	MerchantID int64  `json:"merchantId"`
	LegacyID   int64  `json:"orderId"`
	Reference  string `json:"reference"`
	Problem    string `json:"problem"`
}

// exportOrders serves GET /orders/export: order documents, which an import accepts.
func (a API) exportOrders(s *web.Stream) error {
	query := web.ParseQuery(s.Request)
	export := orderapi.Export{Market: true}
	export.MerchantID = query.Int("merchantId", 0, 1, strict.MaxInt)
	if text := query.Text("state"); text != "" {
		state, ok := order.ParseState(text)
		if export.State = state; !ok {
			query.Refuse("state", "must be one of "+order.StateNames())
		}
	}
	export.From, export.To = query.Days("dateFrom", "dateTo")
	export.ParseCursor(query)
	err := query.Err()
	if err == nil && export.MerchantID != 0 {
		_, err = a.Merchants.Get(s.Context(), export.MerchantID)
	}
	if err != nil {
		return err
	}
	return export.Serve(s, a.Orders, func(o *order.Order) (any, error) {
		if o.Unreadable {
			return unreadableView{o.MerchantID, o.LegacyID, o.Reference, "The details of this order cannot be decoded. check names what to do."}, nil
		}
		document, err := ingest.Encode(o)
		return json.RawMessage(document), err
	})
}

// searchText parses a text to search for.
func searchText(query *web.Query, name string) string {
	text := query.Text(name)
	if len(text) > order.MaxSearchText || !utf8.ValidString(text) {
		query.Refuse(name, fmt.Sprintf("must be text of at most %d bytes", order.MaxSearchText))
	}
	return text
}

// parseStates parses names of states, separated by commas.
func parseStates(query *web.Query) []order.State {
	text := query.Text("state")
	if text == "" {
		return nil
	}
	var states []order.State
	for name := range strings.SplitSeq(text, ",") {
		state, ok := order.ParseState(name)
		if !ok || len(states) >= order.NumStates {
			query.Refuse("state", "must be one or several, separated by commas, of "+order.StateNames())
			return nil
		}
		states = append(states, state)
	}
	return states
}

// parseSort parses the order of the results. By default they are sorted by deadline if
// that is searched for, else by creation.
func parseSort(query *web.Query, s order.Search) order.SearchSort {
	text := query.Text("sort")
	if text == "" {
		if !s.ExpiresBefore.IsZero() && !s.HasText() {
			return order.SortExpires
		}
		return order.SortCreated
	}
	sort, ok := sorts[text]
	if !ok {
		query.Refuse("sort", "must be created, updated or expires")
	}
	if sort != order.SortCreated && s.HasText() {
		query.Refuse("sort", "must be created with reference, email, phone, name or q")
	}
	return sort
}

// cursorList identifies a search for its cursors: what it finds and in which order. The
// text is that of 1.0.0, as that of orderapi's lists is.
func cursorList(s order.Search) string {
	return fmt.Sprintf("{MerchantID:%d LegacyID:%d Reference:%s Email:%s Phone:%s Name:%s Text:%s MerchantData:false States:%v "+
		"From:%s To:%s Zone:UTC ExpiresBefore:%s Sort:%d Limit:0 Count:false After:<nil>}",
		s.MerchantID, s.LegacyID, s.Reference, s.Email, s.Phone, s.Name, s.Text, s.States, s.From, s.To, s.ExpiresBefore.UTC(), s.Sort)
}

// parseSearchCursor parses the cursor of a search, whose other fields are set.
func parseSearchCursor(query *web.Query, s order.Search) *order.SearchCursor {
	text := query.Text("cursor")
	if text == "" {
		return nil
	}
	var after order.SearchCursor
	if !web.DecodeCursor(text, cursorList(s), &after.At, &after.LegacyID) {
		query.Refuse("cursor", "is not valid for this search; start again from the first page")
	}
	return &after
}
