package orderapi

import (
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// ParseReason returns the "reason" of a request to reject an order, empty if there
// is none or it is null. It returns web.ErrInvalidPayload if the reason is not a
// string.
func ParseReason(body web.Object) (order.Reason, error) {
	if !body.Has("reason") || body.Null("reason") {
		return "", nil
	}
	text, ok := body.Text("reason")
	if !ok {
		return "", web.ErrInvalidPayload
	}
	return order.Reason(text), nil
}
