package operator

import (
	"net/http"
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// marketView is a page of the events of all merchants.
type marketView struct {
	Events  any    `json:"events"`
	Next    string `json:"next"` // cursor of the next page
	More    bool   `json:"more"` // the next page need not wait for events
	History string `json:"history"`
}

// listEvents serves GET /events.
func (a API) listEvents(w http.ResponseWriter, r *web.Request) error {
	query, err := parseMarketQuery(r)
	if err != nil {
		return err
	}
	query.TokenID, query.OnWait = r.Caller.TokenID, r.Leave
	feed, err := a.Orders.MarketEvents(r.Context(), query)
	if err == nil && feed.Waited {
		err = r.Reauthenticate(w.Header())
	}
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, marketView{
		Events: a.MarketEventViews(feed.Events, query.Orders), More: feed.More, History: feed.History,
		Next: orderapi.MarketCursor(feed.Cursor),
	})
}

// parseMarketQuery parses the query of GET /events. Every error is a *strict.ParamError.
func parseMarketQuery(r *web.Request) (order.MarketQuery, error) {
	query := web.ParseQuery(r)
	var market order.MarketQuery
	cursor := query.Text(web.CursorName)
	if market.Latest = cursor == "latest"; !market.Latest {
		var ok bool
		if market.Cursor, ok = orderapi.ParseMarketCursor(cursor); !ok {
			query.RefuseCursor()
		}
	}
	market.Limit = query.Limit(order.DefaultFeedLimit, order.MaxFeedLimit)
	market.Wait = time.Duration(query.Int("wait", 0, 0, int64(order.MaxFeedWait/time.Second))) * time.Second
	market.Orders = query.OneOf("include", "order") != ""
	market.Wants = webhookapi.ParseWanted(query)
	return market, query.Err()
}
