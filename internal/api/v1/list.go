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
	list, err := listParams.Parse(r)
	if err != nil {
		return web.Representation{}, err
	}
	now := a.Orders.Now()
	rep := orderapi.Represent(r, a.Orders, list, now, a.BaseURL+"/api/orders", func(page order.Page) any {
		return newListView(list, page, r.Caller.MerchantID, now)
	})
	rep.Links = append(rep.Links, a.successorLink(""))
	return rep, nil
}

var listParams = orderapi.ListParams{
	PageSize:    "items_per_page|itemsPerPage",
	State:       "status|state",
	From:        "date_from|dateFrom",
	To:          "date_to|dateTo",
	ParseStates: parseStatus,
}

// parseStatus parses the status filter. A letter of no state matches no order, and
// is not an error: legacy clients send such letters and fail on a 400.
func parseStatus(status string) (states []order.State, problem string) {
	if len(status) != 1 || status[0] < 'A' || status[0] > 'Z' {
		return nil, "must be one capital letter: O, G, H, J, S, L, D, I or C"
	}
	return order.StatesOfCode(status[0]), ""
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

func newListView(list orderapi.List, page order.Page, merchantID int64, now time.Time) listView {
	from, to := list.EffectiveRange(now)
	companyID := strconv.FormatInt(merchantID, 10)
	return listView{
		Params: paramsView{
			Page:         list.Page,
			ItemsPerPage: list.PageSize,
			TotalItems:   page.Total,
			Status:       list.State,
			DateFrom:     from.Format(timeFormat),
			DateTo:       to.Format(timeFormat),
		},
		Orders: web.Collect(page.Orders, func(o order.Summary) summaryView {
			return summaryView{
				OrderID:        o.LegacyID,
				OrderReference: o.Reference,
				Timestamp:      o.CreatedAt.Unix(),
				FirstName:      o.Customer.FirstName,
				LastName:       o.Customer.LastName,
				CompanyID:      companyID,
				Company:        o.Customer.Company,
				Email:          o.Customer.Email,
				Phone:          order.TextOf(o.Customer.Phone),
				Status:         o.State.Code(),
				Total:          order.Decimal(o.Total, o.Currency),
			}
		}),
	}
}
