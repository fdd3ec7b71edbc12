package v1

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// putOrder serves PUT /orders/{orderId}: it accepts or rejects the order.
func (a API) putOrder(r *web.Request) (web.Response, error) {
	body, err := web.ReadBody(r, web.MaxBody)
	if err != nil {
		return web.Response{}, err
	}
	action, err := parseAction(body)
	if err != nil {
		return web.Response{}, err
	}
	var result order.WriteResult
	if options := web.Options(r, a.respondSuccess); action.accept {
		result, err = a.Orders.Accept(r.Context(), r.Caller, orderID(r), options)
	} else {
		result, err = a.Orders.Reject(r.Context(), r.Caller, orderID(r), action.reason, options)
	}
	return a.respondSuccess(result), err
}

func (a API) respondSuccess(result order.WriteResult) web.Response {
	return a.withSuccessorLink(web.Response{Status: http.StatusOK, Body: web.MessageBody{Message: "success"}, Order: result.LockedOrder})
}

// action is what the body of a PUT requests.
type action struct {
	accept bool         // false: reject
	reason order.Reason // of a rejection, not yet validated
}

// parseAction parses the body of a PUT. It returns strict.ErrInvalidPayload or
// errInvalidAction (decision 5).
func parseAction(body []byte) (action, error) {
	object, err := strict.ParseObject(body, "status", "reason")
	if err != nil {
		return action{}, err
	}
	if !object.Has("status") {
		return action{}, strict.Detail(strict.ErrInvalidPayload, "status is missing at the top of the object: send G, which accepts, or D, which rejects.")
	}
	switch status, _ := object.Text("status"); status {
	case "G":
		return action{accept: true}, nil
	case "D":
		reason, err := orderapi.ParseReason(object)
		return action{reason: reason}, err
	}
	return action{}, strict.Detail(errInvalidAction, "status must be the text G, which accepts, or D, which rejects.")
}

// uploadInvoice serves POST /orders/{orderId}/invoices.
func (a API) uploadInvoice(r *web.Request) (web.Response, error) {
	return a.Upload(r, orderID(r), a.withSuccessorLink)
}

// deleteInvoice serves DELETE /orders/{orderId}/invoices/{invoiceId}. Unlike the
// other routes it distinguishes an invalid order id from an unknown one.
func (a API) deleteInvoice(r *web.Request) (web.Response, error) {
	if _, ok := order.ParseID(r.PathValue("orderId")); !ok {
		return web.Response{}, strict.Detail(invoiceapi.ErrInvalidParams, "The order in the path is identified by order_id, in digits; version 2 takes the reference.")
	}
	return a.Delete(r, orderID(r), a.withSuccessorLink)
}
