package operator

import (
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// changedView is the response to a change of an order.
type changedView struct {
	Success bool   `json:"success"`
	State   string `json:"state"`
	// Corrected are the fields whose value changed.
	Corrected []string `json:"corrected,omitempty"`
}

func respondChanged(result order.WriteResult) web.Response {
	return web.Response{Status: http.StatusOK, Order: result.LockedOrder, Body: changedView{
		Success: true, State: result.State.String(), Corrected: result.Corrected,
	}}
}

// transitionOrder serves POST
// /merchants/{merchantId}/orders/{orderReference}/state: a change with a state.
func (a API) transitionOrder(r *web.Request) (web.Response, error) { return a.changeOrder(r, true) }

// correctOrder serves PATCH /merchants/{merchantId}/orders/{orderReference}: any
// change.
func (a API) correctOrder(r *web.Request) (web.Response, error) { return a.changeOrder(r, false) }

func (a API) changeOrder(r *web.Request, needsState bool) (web.Response, error) {
	body := web.ReadLargeObject(r, ingest.MaxUpdate, ingest.UpdateKeys...)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	change, err := ingest.ParseUpdate(body.Object)
	switch {
	case err != nil:
		return web.Response{}, err
	case needsState && change.To == 0:
		return web.Response{}, &strict.ParamError{Name: "state", Problem: "is required"}
	case change.To == 0 && change.Correction.Empty():
		return web.Response{}, &strict.ParamError{Name: "state", Problem: "is required, or a field to correct"}
	}
	reference := order.ByReference(r.PathValue("orderReference"))
	result, err := a.Orders.ChangeOrder(r.Context(), r.Caller, merchantID(r), reference, change, web.Options(r, respondChanged))
	return respondChanged(result), err
}
