package v2

import (
	"context"
	"net/http"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// acceptOrder serves PATCH /orders/{orderReference}/accept. It ignores the body.
func (a API) acceptOrder(r *web.Request) (web.Write, error) {
	return web.Write{
		Apply: func(ctx context.Context, options order.WriteOptions) (order.WriteResult, error) {
			return a.Orders.Accept(ctx, r.MerchantID, orderID(r), options)
		},
		Respond: respondSuccess,
	}, nil
}

// rejectOrder serves PATCH /orders/{orderReference}/reject.
func (a API) rejectOrder(r *web.Request) (web.Write, error) {
	body, err := web.ReadBody(r.Request, web.MaxBody)
	if err != nil {
		return web.Write{}, err
	}
	reason, err := parseRejection(body)
	if err != nil {
		return web.Write{}, err
	}
	return web.Write{
		Apply: func(ctx context.Context, options order.WriteOptions) (order.WriteResult, error) {
			return a.Orders.Reject(ctx, r.MerchantID, orderID(r), reason, options)
		},
		Respond: respondSuccess,
	}, nil
}

// successView is the response to a transition.
type successView struct {
	Success bool `json:"success"`
}

func respondSuccess(order.WriteResult) web.Response {
	return web.Response{Status: http.StatusOK, Body: successView{Success: true}}
}

// parseRejection parses the body of a rejection. An empty body is a rejection
// without a reason (decision 5). It returns web.ErrInvalidPayload or
// errInvalidAction.
func parseRejection(body []byte) (order.Reason, error) {
	if len(body) == 0 {
		return "", nil
	}
	object, err := web.ParseObject(body, "status", "reason")
	if err != nil {
		return "", err
	}
	if status, _ := object.Text("status"); object.Has("status") && status != "D" {
		return "", errInvalidAction
	}
	return orderapi.ParseReason(object)
}

// uploadInvoice serves POST /orders/{orderReference}/invoices.
func (a API) uploadInvoice(r *web.Request) (web.Write, error) {
	return a.Upload(r, orderID(r))
}

// deleteInvoice serves DELETE /orders/{orderReference}/invoices/{invoiceId}.
func (a API) deleteInvoice(r *web.Request) (web.Write, error) {
	return a.Delete(r, orderID(r))
}
