package v1

import (
	"strconv"
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
	rep := orderapi.List(r, a.Orders, params.filter, now, a.BaseURL+"/api/orders", func(page order.Page) any {
		return newListView(params, page, r.MerchantID, now)
	})
	rep.Links = append(rep.Links, a.successorLink(""))
	return rep, nil
}

// listParams are the parameters of a list.
type listParams struct {
	filter order.Filter
	status *string // as requested; nil: every status
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
	// Clients send the page size under either name; the published one wins.
	for _, name := range []string{"itemsPerPage", "items_per_page"} {
		if filter.PageSize, err = query.Int(name, filter.PageSize, 1, web.MaxInt); err != nil {
			return listParams{}, err
		}
	}
	if err := params.parseStatus(query); err != nil {
		return listParams{}, err
	}
	if filter.From, err = parseDay(query, "date_from"); err != nil {
		return listParams{}, err
	}
	if filter.To, err = parseDay(query, "date_to"); err != nil {
		return listParams{}, err
	}
	if filter.Normalize() != nil {
		return listParams{}, &web.ParamError{Name: "date_from", Problem: "is after date_to"}
	}
	if err := orderapi.ReadCursor(query, r.MerchantID, filter); err != nil {
		return listParams{}, err
	}
	return params, nil
}

// parseStatus parses the status filter. A letter of no state matches no order, and
// is not an error: legacy clients send such letters and fail on a 400.
func (p *listParams) parseStatus(query web.Query) error {
	status, err := query.Text("status")
	if err != nil || status == "" {
		return err
	}
	if len(status) != 1 || status[0] < 'A' || status[0] > 'Z' {
		return &web.ParamError{Name: "status", Problem: "must be one capital letter"}
	}
	p.status = &status
	p.filter.AnyState, p.filter.States = false, order.StatesOfCode(status[0])
	return nil
}

// dayTimeFormats are the formats in which legacy clients send a day, beside the
// plain date.
var dayTimeFormats = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// parseDay parses a day, with or without a time of day, which it ignores.
func parseDay(query web.Query, name string) (order.Day, error) {
	text, err := query.Text(name)
	if err != nil {
		return order.NoDay, err
	}
	for _, format := range dayTimeFormats {
		// time.Parse accepts fractions of a second; the length rules them out.
		if t, err := time.Parse(format, text); err == nil && len(text) == len(format) {
			return order.DayOf(t), nil
		}
	}
	return query.Day(name)
}

// listView is a list (spec 2.2).
type listView struct {
	Params paramsView    `json:"params"`
	Orders []summaryView `json:"orders"`
}

type paramsView struct {
	Page         int64   `json:"page"`
	ItemsPerPage int64   `json:"items_per_page"`
	TotalItems   int64   `json:"total_items"`
	Status       *string `json:"status"`
	DateFrom     string  `json:"date_from"`
	DateTo       string  `json:"date_to"`
}

type summaryView struct {
	OrderID        int64  `json:"order_id"`
	OrderReference string `json:"order_reference"`
	Timestamp      int64  `json:"timestamp"`
	FirstName      string `json:"firstname"`
	LastName       string `json:"lastname"`
	CompanyID      string `json:"company_id"`
	Company        string `json:"company"`
	Email          string `json:"email"`
	Phone          string `json:"phone"`
	Status         string `json:"status"`
	Total          string `json:"total"`
}

func newListView(params listParams, page order.Page, merchantID int64, now time.Time) listView {
	from, to := params.filter.EffectiveRange(now)
	view := listView{
		Params: paramsView{
			Page:         params.filter.Page,
			ItemsPerPage: params.filter.PageSize,
			TotalItems:   page.Total,
			Status:       params.status,
			DateFrom:     from.Format(timeFormat),
			DateTo:       to.Format(timeFormat),
		},
		Orders: make([]summaryView, 0, len(page.Orders)),
	}
	companyID := strconv.FormatInt(merchantID, 10)
	for _, o := range page.Orders {
		view.Orders = append(view.Orders, summaryView{
			OrderID:        o.LegacyID,
			OrderReference: o.Reference,
			Timestamp:      o.CreatedAt.Unix(),
			FirstName:      o.Customer.FirstName,
			LastName:       o.Customer.LastName,
			CompanyID:      companyID,
			Company:        o.Customer.Company,
			Email:          o.Customer.Email,
			Phone:          textOf(o.Customer.Phone),
			Status:         o.State.Code(),
			Total:          order.Decimal(o.Total, o.Currency),
		})
	}
	return view
}
