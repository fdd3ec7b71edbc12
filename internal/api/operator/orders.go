package operator

import (
	"context"
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// maxDocument is the largest order document, in bytes.
const maxDocument = 4 << 20

// importView is the response to an imported order document.
type importView struct {
	Result         string `json:"result"` // created or unchanged
	MerchantID     int64  `json:"merchantId"`
	OrderID        int64  `json:"orderId"`
	OrderReference string `json:"orderReference"`
}

// importOrder serves POST /orders: it imports one order document.
func (a API) importOrder(r *web.Request) (web.Change, error) {
	document, err := web.ReadBody(r.Request, maxDocument)
	if err != nil {
		return web.Change{}, err
	}
	incoming, err := ingest.Parse(document)
	if err != nil {
		return web.Change{}, err
	}
	return web.NewChange(func(ctx context.Context, options order.ImportOptions) (order.ImportResult, error) {
		result, err := a.Orders.ImportOne(ctx, incoming, options)
		if result.Status == order.Created {
			web.LogOrder(r.Request, incoming.Order.Reference, result.LegacyID)
		}
		return result, err
	}, func(result order.ImportResult) web.Response {
		status := http.StatusOK
		if result.Status == order.Created {
			status = http.StatusCreated
		}
		return web.Response{Status: status, Body: importView{
			Result:         result.Status.String(),
			MerchantID:     incoming.Order.MerchantID,
			OrderID:        result.LegacyID,
			OrderReference: incoming.Order.Reference,
		}}
	}), nil
}
