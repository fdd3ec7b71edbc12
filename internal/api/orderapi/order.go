package orderapi

import (
	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// RepresentOrder returns the representation of an order whose body view makes.
func RepresentOrder(r *web.Request, orders *order.Service, id order.Identifier, view func(rep *web.Representation, o order.Order) any) web.Representation {
	return web.Representation{Day: order.NoDay, Body: func(rep *web.Representation) (any, error) {
		found, err := orders.Get(r.Context(), r.Caller.MerchantID, id)
		if err != nil {
			return nil, err
		}
		rep.Tag = etag.OfOrder(found.LegacyID, found.Revision)
		return view(rep, found), nil
	}}
}

// ParseReason returns the "reason" of a request to reject an order, empty if there
// is none or it is null. It returns strict.ErrInvalidPayload if the reason is not a
// string.
func ParseReason(body strict.Object) (order.Reason, error) {
	if !body.Has("reason") || body.Null("reason") {
		return "", nil
	}
	text, ok := body.Text("reason")
	if !ok {
		return "", strict.Detail(strict.ErrInvalidPayload, "reason must be a text: %s, or left out.", order.ReasonNames())
	}
	return order.Reason(text), nil
}
