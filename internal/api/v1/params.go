package v1

import (
	"net/http"
	"time"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// orderKey returns the order that {orderId} names. An identifier that cannot
// be one names no order.
func orderIdentifier(r *http.Request) order.Identifier {
	number, _ := order.ParseID(r.PathValue("orderId"))
	return order.ByLegacyID(number)
}

// listParams is what a list is asked for.
type listParams struct {
	filter order.Filter
	status *string // as asked; nil: every status
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
	// Clients send both names of the page size; the published one wins.
	for _, name := range []string{"itemsPerPage", "items_per_page"} {
		if filter.PageSize, err = query.Int(name, filter.PageSize, 1, web.MaxInt); err != nil {
			return listParams{}, err
		}
	}
	if err := params.parseStatus(query); err != nil {
		return listParams{}, err
	}
	if filter.From, err = parseDay(query, "date_from"); err != nil {
		return listParams{}, err
	}
	if filter.To, err = parseDay(query, "date_to"); err != nil {
		return listParams{}, err
	}
	if filter.Normalize() != nil {
		return listParams{}, &web.ParamError{Name: "date_from", Problem: "is after date_to"}
	}
	if err := orderapi.ReadCursor(query, web.MerchantID(r), filter); err != nil {
		return listParams{}, err
	}
	return params, nil
}

// parseStatus reads the status filter. A letter that stands for no state lets
// no order through: legacy clients ask for such and give up on an error.
func (p *listParams) parseStatus(query web.Query) error {
	status, err := query.Text("status")
	if err != nil || status == "" {
		return err
	}
	if len(status) != 1 || status[0] < 'A' || status[0] > 'Z' {
		return &web.ParamError{Name: "status", Problem: "must be one capital letter"}
	}
	p.status = &status
	p.filter.AnyState, p.filter.States = false, order.StatesOfCode(status[0])
	return nil
}

// timeForms are what legacy clients send for a day, beside the plain date.
var timeForms = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// parseDay reads a date; of one with a time its day.
func parseDay(query web.Query, name string) (order.Day, error) {
	text, err := query.Text(name)
	if err != nil {
		return order.NoDay, err
	}
	for _, form := range timeForms {
		// The length keeps out the fractions that time.Parse lets pass.
		if t, err := time.Parse(form, text); err == nil && len(text) == len(form) {
			return order.DayOf(t), nil
		}
	}
	return query.Day(name)
}

// action is what the body of a PUT asks for.
type action struct {
	accept bool         // false: reject
	reason order.Reason // of a reject; not yet found allowed
}

// parseAction reads the body of a PUT, or returns web.ErrPayload or errAction
// (decision 5).
func parseAction(body []byte) (action, error) {
	object, err := web.ParseObject(body)
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
		reason, err := parseReason(object)
		return action{reason: reason}, err
	}
	return action{}, errAction
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
