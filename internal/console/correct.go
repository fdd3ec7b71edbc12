package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// maxCorrection is the largest form of a correction, in bytes: the longest texts fit.
const maxCorrection = 1 << 20

// correctable is a field of the form that corrects an order.
type correctable struct {
	name  string // in the order document
	label string // key of a message
	kind  string // of the input
	value func(order.Order) string
}

// correctables are the fields that may be corrected, as the order document names them.
var correctables = []correctable{
	{"expiresAt", "correct.expires", timeKind, func(o order.Order) string { return formTime(o.ExpiresAt) }},
	{"dispatchUntil", "correct.dispatch", timeKind, func(o order.Order) string { return formTime(o.DispatchUntil) }},
	{"customer.phone", "customer.phone", "text", func(o order.Order) string { return order.TextOf(o.Customer.Phone) }},
	{"shippingAddress.firstName", "correct.firstname", "text", func(o order.Order) string { return o.Shipping.FirstName }},
	{"shippingAddress.lastName", "correct.lastname", "text", func(o order.Order) string { return o.Shipping.LastName }},
	{"shippingAddress.phone", "correct.phone", "text", func(o order.Order) string { return o.Shipping.Phone }},
	{"shippingAddress.street", "correct.street", "text", func(o order.Order) string { return o.Shipping.Street }},
	{"shippingAddress.streetNumber", "correct.streetnumber", "text", func(o order.Order) string { return o.Shipping.StreetNumber }},
	{"shippingAddress.address2", "correct.address2", "text", func(o order.Order) string { return o.Shipping.Address2 }},
	{"shippingAddress.postCode", "correct.postcode", "text", func(o order.Order) string { return o.Shipping.PostCode }},
	{"shippingAddress.city", "correct.city", "text", func(o order.Order) string { return o.Shipping.City }},
	{"shippingAddress.region", "correct.region", "text", func(o order.Order) string { return o.Shipping.Region }},
	{"shippingAddress.regionCode", "correct.regioncode", "text", func(o order.Order) string { return o.Shipping.RegionCode }},
	{"carrier.name", "carrier.name", "text", func(o order.Order) string { return o.Carrier.Name }},
	{"carrier.trackingCodes", "carrier.tracking", "text", func(o order.Order) string { return o.Carrier.TrackingCodes }},
	{"carrier.shipmentIds", "carrier.shipments", numbersKind, func(o order.Order) string { return numbers(o.Carrier.ShipmentIDs) }},
	{"carrier.method", "correct.method", "text", func(o order.Order) string { return o.Carrier.Method }},
	{"carrier.deliveryName", "correct.delivery", "text", func(o order.Order) string { return o.Carrier.DeliveryName }},
	{"carrier.deliveryKey", "correct.key", "text", func(o order.Order) string { return o.Carrier.DeliveryKey }},
	{"carrier.deliveryToCourierEstimationDate", "carrier.pickup", "text", func(o order.Order) string { return order.TextOf(o.Carrier.DeliveryToCourierEstimation) }},
	{"carrier.deliveryToCustomerEstimationDate", "carrier.arrival", "text", func(o order.Order) string { return order.TextOf(o.Carrier.DeliveryToCustomerEstimation) }},
	{"carrier.comments", "carrier.comments", areaKind, func(o order.Order) string { return order.TextOf(o.Carrier.Comments) }},
}

const (
	timeKind    = "datetime-local" // in UTC
	numbersKind = "numbers"        // separated by commas
	areaKind    = "area"           // a text of several lines

	timeForm, secondForm = "2006-01-02T15:04", "2006-01-02T15:04:05"
)

// formTime returns a time as an input of timeKind has it.
func formTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	if t.Second() == 0 {
		return t.UTC().Format(timeForm)
	}
	return t.UTC().Format(secondForm)
}

// numbers joins numbers as an input of numbersKind has them.
func numbers(all []int64) string {
	return strings.Join(web.Collect(all, func(n int64) string { return strconv.FormatInt(n, 10) }), ", ")
}

// typed returns a text as a browser sends it back if nobody changes it.
func (c correctable) typed(text string) string {
	if c.kind == areaKind {
		return strings.ReplaceAll(text, "\r\n", "\n")
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(text)
}

// correctionValues returns the values of the form for an order.
func correctionValues(o order.Order) url.Values {
	values := make(url.Values)
	for _, field := range correctables {
		values.Set(field.name, field.value(o))
	}
	return values
}

// correctionFields returns the inputs of the form.
func correctionFields(form formView) []fieldView {
	var fields []fieldView
	for _, c := range correctables {
		kind := c.kind
		if kind == numbersKind {
			kind = "text"
		}
		fields = append(fields, newField(form, c.name, c.label, kind))
	}
	return fields
}

// readCorrection reads those fields of a form that differ from those of an order, and
// refuses what is wrong in them. The rules are those of the order document.
func readCorrection(form formView, o order.Order) order.Correction {
	document := make(map[string]any)
	for _, field := range correctables {
		text, given := form.values[field.name]
		if !given || field.typed(text[0]) == field.typed(field.value(o)) {
			continue
		}
		value, problem := field.parse(field.typed(text[0]))
		if problem != "" {
			form.refuse(field.name, problem)
		}
		object, member := document, field.name
		if parent, child, nested := strings.Cut(field.name, "."); nested {
			if document[parent] == nil {
				document[parent] = make(map[string]any)
			}
			object, member = document[parent].(map[string]any), child
		}
		object[member] = value
	}
	text, err := json.Marshal(document)
	if err != nil || !form.valid() {
		return order.Correction{}
	}
	correction, err := ingest.ParseCorrection(text)
	if problem, ok := errors.AsType[*ingest.DocumentError](err); ok {
		form.refuse(problem.Field, "problem.text")
	}
	return correction
}

// parse returns what was typed as the order document has it, or the key of a message.
func (c correctable) parse(text string) (value any, problem string) {
	switch {
	case !utf8.ValidString(text):
		return nil, "problem.text"
	case c.kind == numbersKind:
		ids := []int64{}
		for _, id := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				return nil, "problem.numbers"
			}
			ids = append(ids, n)
		}
		return ids, ""
	case text == "":
		return nil, ""
	case c.kind == timeKind:
		for _, form := range []string{timeForm, secondForm} {
			if at, err := time.Parse(form, text); err == nil && at.Year() > 0 {
				return at.Format(time.RFC3339), ""
			}
		}
		return nil, "problem.time"
	}
	return text, ""
}

// correct serves POST /operator/orders/{merchant}/{reference}/correct.
func (s *site) correct(w http.ResponseWriter, r *web.Request, values url.Values) error {
	id, form := order.ByReference(r.PathValue("reference")), newForm(values)
	o, err := s.Orders.Get(r.Context(), merchantOf(r), id)
	if err != nil {
		return err
	}
	correction := readCorrection(form, o)
	if !form.valid() {
		return s.showOperatorOrder(w, r, http.StatusUnprocessableEntity, operatorOrderView{Correct: form})
	}
	options := web.FormOptions[order.WriteResult](r)
	_, err = s.Orders.ChangeOrder(r.Context(), r.Caller, merchantOf(r), id, order.Update{Correction: correction}, options)
	switch err = replayed(err); {
	case errors.Is(err, order.ErrPreconditionFailed):
		return s.showOperatorConflict(w, r, operatorOrderView{Correct: form})
	case errors.Is(err, order.ErrInvalidTransition), errors.Is(err, order.ErrErased):
		view := operatorOrderView{}
		view.Problem = "correct.nothing" // no field differs
		if errors.Is(err, order.ErrErased) {
			view.Problem = "correct.erased"
		}
		return s.showOperatorOrder(w, r, http.StatusUnprocessableEntity, view)
	case err != nil:
		return err
	}
	return s.redirect(w, r, operatorOrderPath(r.PathValue("merchant"), o.Reference)+"?done=corrected")
}
