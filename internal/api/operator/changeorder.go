package operator

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// maxChange is the largest change of an order, in bytes: every text that may be
// corrected fits.
const maxChange = 1 << 20

// corrected are the keys of a change that correct the order.
var corrected = []string{"expiresAt", "dispatchUntil", "customer", "carrier"}

// changeKeys are the keys of a change of an order.
var changeKeys = append([]string{"state", "reason"}, corrected...)

// parseChange parses a change of an order. Keys that it does not know are the
// caller's.
func parseChange(body strict.Object) (order.Update, error) {
	var change order.Update
	if body.Has("state") {
		name, ok := body.Text("state")
		if !ok {
			return change, strict.ErrInvalidPayload
		}
		if change.To, ok = order.ParseState(name); !ok {
			return change, &strict.ParamError{Name: "state", Problem: "must be one of " + order.StateNames()}
		}
	}
	if body.Has("reason") && !body.Null("reason") {
		text, ok := body.Text("reason")
		if !ok {
			return change, strict.ErrInvalidPayload
		}
		change.Reason = order.Reason(text)
	}
	if change.Reason != "" && change.To == 0 {
		return change, &strict.ParamError{Name: "reason", Problem: "must be given together with state"}
	}
	fields := make(strict.Object)
	for _, key := range corrected {
		if body.Has(key) {
			fields[key] = body[key]
		}
	}
	text, err := json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return change, err
	}
	change.Correction, err = ingest.ParseCorrection(text)
	return change, err
}

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
	body := web.ReadLargeObject(r, maxChange, changeKeys...)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	change, err := parseChange(body.Object)
	switch {
	case err != nil:
		return web.Response{}, err
	case needsState && change.To == 0, change.To == 0 && change.Correction.Empty():
		return web.Response{}, strict.ErrInvalidPayload
	}
	reference := order.ByReference(r.PathValue("orderReference"))
	result, err := a.Orders.ChangeOrder(r.Context(), r.Caller, merchantID(r), reference, change, web.Options(r, respondChanged))
	return respondChanged(result), err
}
