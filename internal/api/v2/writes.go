package v2

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// acceptOrder serves PATCH /orders/{orderReference}/accept. It ignores the body.
func (a API) acceptOrder(r *web.Request) (web.Response, error) {
	result, err := a.Orders.Accept(r.Context(), r.Caller, orderID(r), web.Options(r, respondSuccess))
	return respondSuccess(result), err
}

// rejectOrder serves PATCH /orders/{orderReference}/reject.
func (a API) rejectOrder(r *web.Request) (web.Response, error) {
	body, err := web.ReadBody(r, web.MaxBody)
	if err != nil {
		return web.Response{}, err
	}
	reason, err := parseRejection(body)
	if err != nil {
		return web.Response{}, err
	}
	result, err := a.Orders.Reject(r.Context(), r.Caller, orderID(r), reason, web.Options(r, respondSuccess))
	return respondSuccess(result), err
}

// updateOrder serves PATCH /orders/{orderReference}: it changes the merchant's own data.
func (a API) updateOrder(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "merchantReference", "merchantNote")
	if len(body.Object) == 0 {
		body.Refuse("merchantReference", "is required, or merchantNote")
	}
	update := order.MerchantDataUpdate{
		Reference: merchantText(body, "merchantReference", order.MerchantReferenceProblem),
		Note:      merchantText(body, "merchantNote", order.MerchantNoteProblem),
	}
	if err := body.Err(); err != nil {
		if body.Has("status") || body.Has("state") {
			err = strict.Detail(err, "PATCH .../accept or .../reject answers an order; this request takes merchantReference and merchantNote, and no state.")
		}
		return web.Response{}, err
	}
	result, err := a.Orders.UpdateMerchantData(r.Context(), r.Caller, orderID(r), update, web.Options(r, respondSuccess))
	return respondSuccess(result), err
}

// merchantText returns a text of the merchant; null removes it.
func merchantText(body *strict.Body, name string, problemOf func(string) string) (field order.Field[*string]) {
	if field.Set = body.Has(name); field.Set && !body.Null(name) {
		field.Value = new(body.Text(name, problemOf))
	}
	return field
}

// successView is the response to a change of an order.
type successView struct {
	Success bool `json:"success"`
}

func respondSuccess(result order.WriteResult) web.Response {
	return web.Response{Status: http.StatusOK, Body: successView{Success: true}, Order: result.LockedOrder}
}

// parseRejection parses the body of a rejection. An empty body is a rejection
// without a reason (decision 5). It returns strict.ErrInvalidPayload or
// errInvalidAction.
func parseRejection(body []byte) (order.Reason, error) {
	if len(body) == 0 {
		return "", nil
	}
	object, err := strict.ParseObject(body, "status", "reason")
	if err != nil {
		return "", err
	}
	if status, _ := object.Text("status"); object.Has("status") && status != "D" {
		return "", strict.Detail(errInvalidAction, "status must be the text D, or left out: this request rejects. PATCH .../accept accepts.")
	}
	return orderapi.ParseReason(object)
}

// uploadInvoice serves POST /orders/{orderReference}/invoices.
func (a API) uploadInvoice(r *web.Request) (web.Response, error) {
	return a.Upload(r, orderID(r), nil)
}

// deleteInvoice serves DELETE /orders/{orderReference}/invoices/{invoiceId}.
func (a API) deleteInvoice(r *web.Request) (web.Response, error) {
	return a.Delete(r, orderID(r), nil)
}

// linkView is a link to an invoice file.
type linkView struct {
	URL       string `json:"url"`
	ExpiresAt string `json:"expiresAt"`
}

// linkInvoice serves POST /orders/{orderReference}/invoices/{invoiceId}/link. It
// ignores the body. The idempotency record has the link: whoever reads the database finds
// the key there that signs links.
func (a API) linkInvoice(r *web.Request) (web.Response, error) {
	id, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return web.Response{}, invoiceapi.ErrInvoiceID
	}
	respond := func(result order.WriteResult) web.Response {
		view := linkView{URL: a.BaseURL + "/files/" + result.Link.Text, ExpiresAt: web.TimeText(result.Link.ExpiresAt)}
		return web.Response{Status: http.StatusOK, Body: view, Order: result.LockedOrder}
	}
	result, err := a.Links.Add(r.Context(), r.Caller, orderID(r), id, web.Options(r, respond))
	return respond(result), err
}

// rehearse serves POST /sandbox/orders/{orderReference}/state.
func (a API) rehearse(r *web.Request) (web.Response, error) {
	if !a.Sandbox {
		return web.Response{}, strict.Detail(web.ErrRouteNotFound, "The service is no sandbox: rehearse with one.")
	}
	body := web.ReadObject(r, "state")
	var to order.State
	body.Valid("state", func(name string) (ok bool) {
		to, ok = order.ParseState(name)
		return ok
	}, "must be one of "+order.StateNames())
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	result, err := a.Orders.Rehearse(r.Context(), r.Caller, orderID(r), to, web.Options(r, respondSuccess))
	return respondSuccess(result), err
}
