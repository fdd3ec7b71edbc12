package v2

import (
	"net/http"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// orderKey returns the order that {orderReference} names.
func orderIdentifier(r *http.Request) order.Identifier {
	return order.ByReference(r.PathValue("orderReference"))
}

// listParams is what a list is asked for.
type listParams struct {
	filter order.Filter
	state  *string // as asked; nil: every state
}

// parseListParams reads the query of a list (decision 3). Errors are
// *web.ParamError.
func parseListParams(r *http.Request) (listParams, error) {
	query, err := web.ParseQuery(r)
	if err != nil {
		return listParams{}, err
	}
	params := listParams{filter: order.NewFilter()}
	filter := &params.filter
	if filter.Page, err = query.Int("page", filter.Page, 1, web.MaxInt); err != nil {
		return listParams{}, err
	}
	if filter.PageSize, err = query.Int("itemsPerPage", filter.PageSize, 1, web.MaxInt); err != nil {
		return listParams{}, err
	}
	if err := params.parseState(query); err != nil {
		return listParams{}, err
	}
	if filter.From, err = query.Day("dateFrom"); err != nil {
		return listParams{}, err
	}
	if filter.To, err = query.Day("dateTo"); err != nil {
		return listParams{}, err
	}
	if filter.Normalize() != nil {
		return listParams{}, &web.ParamError{Name: "dateFrom", Problem: "is after dateTo"}
	}
	if err := orderapi.ReadCursor(query, web.MerchantID(r), filter); err != nil {
		return listParams{}, err
	}
	return params, nil
}

// parseState reads the state filter.
func (p *listParams) parseState(query web.Query) error {
	name, err := query.Text("state")
	if err != nil || name == "" {
		return err
	}
	state, ok := order.ParseState(name)
	if !ok {
		return &web.ParamError{Name: "state", Problem: "must be the name of a state"}
	}
	p.state = &name
	p.filter.AnyState, p.filter.States = false, []order.State{state}
	return nil
}

// parseRejection reads the body of a reject, or returns web.ErrPayload or
// errAction. No body at all is a reject without a reason (decision 5).
func parseRejection(body []byte) (order.Reason, error) {
	if len(body) == 0 {
		return "", nil
	}
	object, err := web.ParseObject(body)
	if err != nil {
		return "", err
	}
	if status, _ := object.Text("status"); object.Has("status") && status != "D" {
		return "", errAction
	}
	return parseReason(object)
}

// parseReason reads the reason of a reject, empty when none is given.
func parseReason(object web.Object) (order.Reason, error) {
	if !object.Has("reason") || object.Null("reason") {
		return "", nil
	}
	text, ok := object.Text("reason")
	if !ok {
		return "", web.ErrInvalidPayload
	}
	return order.Reason(text), nil
}
