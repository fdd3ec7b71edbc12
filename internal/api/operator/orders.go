package operator

import (
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
func (a API) importOrder(w http.ResponseWriter, r *http.Request) error {
	document, err := web.ReadBody(r, maxDocument)
	if err != nil {
		return err
	}
	incoming, err := ingest.Parse(document)
	if err != nil {
		return err
	}
	results, err := a.Orders.Import(r.Context(), []order.Incoming{incoming}, web.Source(r))
	if err != nil {
		return err
	}
	result, status := results[0], http.StatusOK
	switch result.Status {
	case order.Created:
		web.LogOrder(r, incoming.Order.Reference, result.LegacyID)
		status = http.StatusCreated
	case order.Unchanged:
	default:
		return &importError{status: result.Status, reason: result.Reason}
	}
	return web.WriteJSON(w, status, importView{
		Result:         result.Status.String(),
		MerchantID:     incoming.Order.MerchantID,
		OrderID:        result.LegacyID,
		OrderReference: incoming.Order.Reference,
	})
}

// transitionView is the response to a transition.
type transitionView struct {
	Success bool   `json:"success"`
	State   string `json:"state"`
}

// transitionOrder serves POST
// /merchants/{merchantId}/orders/{orderReference}/state.
func (a API) transitionOrder(w http.ResponseWriter, r *http.Request) error {
	body, err := readObject(r, "state")
	if err != nil {
		return err
	}
	name, ok := body.Text("state")
	if !ok {
		return web.ErrInvalidPayload
	}
	to, ok := order.ParseState(name)
	if !ok {
		return &web.ParamError{Name: "state", Problem: "must be one of " + order.StateNames()}
	}
	// An invalid id becomes 0, which no merchant has.
	merchantID, _ := order.ParseID(r.PathValue("merchantId"))
	moved, err := a.Orders.Transition(r.Context(), merchantID, order.ByReference(r.PathValue("orderReference")), to, web.Source(r))
	if err != nil {
		return err
	}
	web.LogOrder(r, moved.Reference, moved.LegacyID)
	return web.WriteJSON(w, http.StatusOK, transitionView{Success: true, State: moved.State.String()})
}
