package v2

import (
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// listOrders serves GET /orders.
func (a API) listOrders(r *web.Request) (web.Representation, error) {
	list, err := listParams.Parse(r)
	if err != nil {
		return web.Representation{}, err
	}
	now := a.Orders.Now()
	return orderapi.Represent(r, a.Orders, list, now, a.BaseURL+"/v2/orders", func(page order.Page) any {
		return newListView(list, page, now)
	}), nil
}

// foundView is the orders with a merchant's own number.
type foundView struct {
	Orders []summaryView `json:"orders"`
}

// listByMerchantReference serves GET /orders/by-merchant-reference/{merchantReference}.
func (a API) listByMerchantReference(r *web.Request) (web.Representation, error) {
	return orderapi.RepresentData(r, order.NoDay, func(*web.Representation) (any, order.DataVersion, error) {
		orders, version, err := a.Orders.ByMerchantReference(r.Context(), r.Caller.MerchantID, r.PathValue("merchantReference"))
		return foundView{web.Collect(orders, newSummaryView)}, version, err
	}), nil
}

var listParams = orderapi.ListParams{
	PageSize:    "itemsPerPage|items_per_page",
	State:       "state|status",
	From:        "dateFrom|date_from",
	To:          "dateTo|date_to",
	ParseStates: parseState,
}

func parseState(name string) (states []order.State, problem string) {
	state, ok := order.ParseState(name)
	if !ok {
		return nil, "must be one of " + order.StateNames()
	}
	return []order.State{state}, ""
}

// exportOrders serves GET /orders/export.
func (a API) exportOrders(s *web.Stream) error {
	export, err := listParams.ParseExport(s.Request)
	if err != nil {
		return err
	}
	return export.Serve(s, a.Orders, func(o *order.Order) (any, error) {
		if o.Unreadable {
			return unreadableView{o.Reference, unreadable}, nil
		}
		return newMerchantOrderView(*o, a.StorageURL), nil
	})
}

// listView is a list (spec 2.4).
type listView struct {
	Params paramsView    `json:"params"`
	Orders []summaryView `json:"orders"`
}

type paramsView struct {
	Page         int64   `json:"page"`
	ItemsPerPage int64   `json:"itemsPerPage"`
	TotalItems   int64   `json:"totalItems"`
	Status       *string `json:"status"`
	DateFrom     string  `json:"dateFrom"`
	DateTo       string  `json:"dateTo"`
}

type summaryView struct {
	ID               string       `json:"id"`
	State            string       `json:"state"`
	CountryCode      string       `json:"countryCode"`
	HasInvoice       bool         `json:"hasInvoice"`
	TotalItemsAmount int64        `json:"totalItemsAmount"`
	Currency         string       `json:"currency"`
	CreatedAt        string       `json:"createdAt"`
	UpdatedAt        *string      `json:"updatedAt"`
	Customer         customerView `json:"customer"`
}

func newListView(list orderapi.List, page order.Page, now time.Time) listView {
	from, to := list.EffectiveRange(now)
	return listView{
		Params: paramsView{
			Page:         list.Page,
			ItemsPerPage: list.PageSize,
			TotalItems:   page.Total,
			Status:       list.State,
			DateFrom:     from.Format(timeFormat),
			DateTo:       to.Format(timeFormat),
		},
		Orders: web.Collect(page.Orders, newSummaryView),
	}
}

func newSummaryView(o order.Summary) summaryView {
	return summaryView{
		ID:               o.Reference,
		State:            o.State.String(),
		CountryCode:      o.CountryCode,
		HasInvoice:       o.HasInvoice,
		TotalItemsAmount: o.Total,
		Currency:         o.Currency,
		CreatedAt:        o.CreatedAt.UTC().Format(timeFormat),
		UpdatedAt:        timeOf(o.UpdatedAt),
		Customer:         customerView(o.Customer),
	}
}

// timeOf returns a time as text, nil if there is none.
func timeOf(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(timeFormat))
}
