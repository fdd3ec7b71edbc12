package operator

import (
	"net/http"

	"merchantorders/internal/api/bulkapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// maxDocument is the largest order document, in bytes.
const maxDocument = 4 << 20

// importView is the response to an imported order document.
type importView struct {
	Result         order.LineStatus `json:"result"` // created, unchanged or deleted
	MerchantID     int64            `json:"merchantId"`
	OrderID        int64            `json:"orderId"`
	OrderReference string           `json:"orderReference"`
}

// importOrder serves POST /orders: it imports one order document.
func (a API) importOrder(r *web.Request) (web.Response, error) {
	document, err := web.ReadBody(r, maxDocument)
	if err != nil {
		return web.Response{}, err
	}
	incoming, err := ingest.Parse(document)
	if err != nil {
		return web.Response{}, err
	}
	respond := func(result order.ImportResult) web.Response {
		view := importView{
			Result:         result.Status,
			MerchantID:     incoming.Order.MerchantID,
			OrderID:        result.LegacyID,
			OrderReference: incoming.Order.Reference,
		}
		if result.Status != order.Created {
			return web.Response{Status: http.StatusOK, Body: view}
		}
		created := order.LockedOrder{Reference: incoming.Order.Reference, LegacyID: result.LegacyID}
		return web.Response{Status: http.StatusCreated, Body: view, Order: created}
	}
	result, err := a.Orders.ImportOne(r.Context(), r.Caller, incoming, web.Options(r, respond))
	return respond(result), err
}

// importOrders serves POST /orders/import: order documents, one a line.
func (a API) importOrders(s *web.Stream) error {
	return bulkapi.Serve(s, ingest.Documents(a.Orders.Prepare, a.Orders.Import, s.Caller), "")
}

// changeOrders serves POST /orders/transitions: changes of orders, one a line.
func (a API) changeOrders(s *web.Stream) error {
	key, err := bulkapi.Key(s)
	if err != nil {
		return err
	}
	return bulkapi.Serve(s, ingest.Changes(a.Orders, s.Caller, key), key)
}
