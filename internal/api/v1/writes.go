package v1

import (
	"context"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// putOrder serves PUT /orders/{orderId}: it accepts or rejects the order.
func (a API) putOrder(r *web.Request) (web.Write, error) {
	body, err := web.ReadBody(r.Request, web.MaxBody)
	if err != nil {
		return web.Write{}, err
	}
	action, err := parseAction(body)
	if err != nil {
		return web.Write{}, err
	}
	return a.withSuccessorLink(web.Write{
		Apply: func(ctx context.Context, options order.WriteOptions) (order.WriteResult, error) {
			if action.accept {
				return a.Orders.Accept(ctx, r.MerchantID, orderID(r), options)
			}
			return a.Orders.Reject(ctx, r.MerchantID, orderID(r), action.reason, options)
		},
		Respond: func(order.WriteResult) web.Response {
			return web.Response{Status: http.StatusOK, Body: web.MessageBody{Message: "success"}}
		},
	}), nil
}

// action is what the body of a PUT requests.
type action struct {
	accept bool         // false: reject
	reason order.Reason // of a rejection, not yet validated
}

// parseAction parses the body of a PUT. It returns web.ErrInvalidPayload or
// errInvalidAction (decision 5).
func parseAction(body []byte) (action, error) {
	object, err := web.ParseObject(body, "status", "reason")
	if err != nil {
		return action{}, err
	}
	if !object.Has("status") {
		return action{}, web.ErrInvalidPayload
	}
	switch status, _ := object.Text("status"); status {
	case "G":
		return action{accept: true}, nil
	case "D":
		reason, err := orderapi.ParseReason(object)
		return action{reason: reason}, err
	}
	return action{}, errInvalidAction
}

// uploadInvoice serves POST /orders/{orderId}/invoices.
func (a API) uploadInvoice(r *web.Request) (web.Write, error) {
	write, err := a.Upload(r, orderID(r))
	return a.withSuccessorLink(write), err
}

// deleteInvoice serves DELETE /orders/{orderId}/invoices/{invoiceId}. Unlike the
// other routes it distinguishes an invalid order id from an unknown one.
func (a API) deleteInvoice(r *web.Request) (web.Write, error) {
	if _, ok := order.ParseID(r.PathValue("orderId")); !ok {
		return web.Write{}, invoiceapi.ErrInvalidParams
	}
	write, err := a.Delete(r, orderID(r))
	return a.withSuccessorLink(write), err
}
