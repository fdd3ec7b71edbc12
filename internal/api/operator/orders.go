package operator

import (
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// maxDocument is the largest order document, in bytes.
const maxDocument = 4 << 20

// addedView answers an order document that was taken.
type createdOrderView struct {
	Result         string `json:"result"` // created or unchanged
	MerchantID     int64  `json:"merchantId"`
	OrderID        int64  `json:"orderId"`
	OrderReference string `json:"orderReference"`
}

// addOrder answers POST /orders: it takes in one order document.
func (a *api) addOrder(w http.ResponseWriter, r *http.Request) error {
	document, err := web.ReadBody(r, maxDocument)
	if err != nil {
		return err
	}
	incoming, err := ingest.Parse(document)
	if err != nil {
		return err
	}
	outcomes, err := a.orders.Import(r.Context(), []order.Incoming{incoming})
	if err != nil {
		return err
	}
	outcome, status := outcomes[0], http.StatusOK
	switch outcome.Status {
	case order.Created:
		status = http.StatusCreated
	case order.Unchanged:
	default:
		return &outcomeError{verdict: outcome.Status, reason: outcome.Reason}
	}
	return web.WriteJSON(w, status, createdOrderView{
		Result:         outcome.Status.String(),
		MerchantID:     incoming.Order.MerchantID,
		OrderID:        outcome.LegacyID,
		OrderReference: incoming.Order.Reference,
	})
}

// movedView answers a move.
type transitionView struct {
	Success bool   `json:"success"`
	State   string `json:"state"`
}

// moveOrder answers POST /merchants/{merchantId}/orders/{orderReference}/state.
func (a *api) transitionOrder(w http.ResponseWriter, r *http.Request) error {
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
		return &web.ParamError{Name: "state", Problem: "must be the name of a state"}
	}
	// An id that cannot be one is no merchant's.
	merchantID, _ := order.ParseID(r.PathValue("merchantId"))
	key := order.ByReference(r.PathValue("orderReference"))
	head, err := a.orders.Transition(r.Context(), merchantID, key, to)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, transitionView{Success: true, State: head.State.String()})
}
