package v2

import (
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// listOrders serves GET /orders.
func (a API) listOrders(r *web.Request) (web.Representation, error) {
	params, err := parseListParams(r)
	if err != nil {
		return web.Representation{}, err
	}
	now := a.Orders.Now()
	return orderapi.List(r, a.Orders, params.filter, now, a.BaseURL+"/v2/orders", func(page order.Page) any {
		return newListView(params, page, now)
	}), nil
}

// listParams are the parameters of a list.
type listParams struct {
	filter order.Filter
	state  *string // as requested; nil: every state
}

// parseListParams parses the query of a list (decision 3). Every error is a
// *web.ParamError.
func parseListParams(r *web.Request) (listParams, error) {
	query, err := web.ParseQuery(r.Request)
	if err != nil {
		return listParams{}, err
	}
	params := listParams{filter: order.NewFilter()}
	filter := &params.filter
	if filter.Page, err = query.Int("page", filter.Page, 1, web.MaxInt); err != nil {
		return listParams{}, err
	}
	if filter.PageSize, err = query.Int("itemsPerPage", filter.PageSize, 1, web.MaxInt); err != nil {
		return listParams{}, err
	}
	if err := params.parseState(query); err != nil {
		return listParams{}, err
	}
	if filter.From, err = query.Day("dateFrom"); err != nil {
		return listParams{}, err
	}
	if filter.To, err = query.Day("dateTo"); err != nil {
		return listParams{}, err
	}
	if filter.Normalize() != nil {
		return listParams{}, &web.ParamError{Name: "dateFrom", Problem: "is after dateTo"}
	}
	if err := orderapi.ReadCursor(query, r.MerchantID, filter); err != nil {
		return listParams{}, err
	}
	return params, nil
}

// parseState parses the state filter.
func (p *listParams) parseState(query web.Query) error {
	name, err := query.Text("state")
	if err != nil || name == "" {
		return err
	}
	state, ok := order.ParseState(name)
	if !ok {
		return &web.ParamError{Name: "state", Problem: "must be one of " + order.StateNames()}
	}
	p.state = &name
	p.filter.AnyState, p.filter.States = false, []order.State{state}
	return nil
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
	CreatedAt        string       `json:"createdAt"`
	UpdatedAt        *string      `json:"updatedAt"`
	Customer         customerView `json:"customer"`
}

func newListView(params listParams, page order.Page, now time.Time) listView {
	from, to := params.filter.EffectiveRange(now)
	view := listView{
		Params: paramsView{
			Page:         params.filter.Page,
			ItemsPerPage: params.filter.PageSize,
			TotalItems:   page.Total,
			Status:       params.state,
			DateFrom:     from.Format(timeFormat),
			DateTo:       to.Format(timeFormat),
		},
		Orders: make([]summaryView, 0, len(page.Orders)),
	}
	for _, o := range page.Orders {
		view.Orders = append(view.Orders, summaryView{
			ID:               o.Reference,
			State:            o.State.String(),
			CountryCode:      o.CountryCode,
			HasInvoice:       o.HasInvoice,
			TotalItemsAmount: o.Total,
			CreatedAt:        o.CreatedAt.UTC().Format(timeFormat),
			UpdatedAt:        timeOf(o.UpdatedAt),
			Customer:         newCustomerView(o.Customer),
		})
	}
	return view
}
