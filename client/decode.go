package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// wireTime decodes a time of v2: text in the form of time.DateTime, in UTC, or null
// for none. It also decodes what Order encodes.
type wireTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *wireTime) UnmarshalJSON(data []byte) error {
	var text *string
	err := json.Unmarshal(data, &text)
	if err != nil || text == nil {
		return err
	}
	if t.Time, err = time.Parse(time.DateTime, *text); err != nil {
		t.Time, err = time.Parse(time.RFC3339, *text)
	}
	if err != nil {
		return fmt.Errorf("%.40q is not a time", *text)
	}
	return nil
}

// wireSummary is the JSON form of a Summary. Its own fields hide those of Summary
// with the same name.
type wireSummary struct {
	Summary
	CreatedAt wireTime `json:"createdAt"`
	UpdatedAt wireTime `json:"updatedAt"`
}

// wireUnanswered is the JSON form of an UnansweredOrder.
type wireUnanswered struct {
	wireSummary
	ExpiresAt   wireTime   `json:"expiresAt"`
	SecondsLeft *int64     `json:"secondsLeft"`
	LineItems   []LineItem `json:"lineItems"`
}

// wireOrder is the JSON form of an Order.
type wireOrder struct {
	Order
	CreatedAt     wireTime `json:"createdAt"`
	UpdatedAt     wireTime `json:"updatedAt"`
	ExpiresAt     wireTime `json:"expiresAt"`
	DispatchUntil wireTime `json:"dispatchUntil"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *wireOrder) UnmarshalJSON(data []byte) error {
	type plain wireOrder // without methods
	w.Document = bytes.Clone(data)
	return json.Unmarshal(data, (*plain)(w))
}

// complete reports whether the order has the required fields.
func (w wireOrder) complete() bool {
	return w.Reference != "" && w.State != "" && !w.CreatedAt.IsZero() && w.LineItems != nil && w.Invoices != nil && complete(w.Invoices...)
}

// order returns the order without its tag.
func (w wireOrder) order() Order {
	o := w.Order
	o.CreatedAt, o.UpdatedAt = w.CreatedAt.Time, w.UpdatedAt.Time
	o.ExpiresAt, o.DispatchUntil = w.ExpiresAt.Time, w.DispatchUntil.Time
	return o
}

// wirePage is the response of a list.
type wirePage struct {
	Params struct {
		Page     int64    `json:"page"`
		PageSize int64    `json:"itemsPerPage"`
		Total    int64    `json:"totalItems"`
		State    State    `json:"status"` // null: every state
		From     wireTime `json:"dateFrom"`
		To       wireTime `json:"dateTo"`
	} `json:"params"`
	Orders []wireSummary `json:"orders"`
}

var errIncomplete = errors.New("a required field is missing")

// decode decodes a JSON body. complete reports whether all required fields are
// present.
func decode[T any](r response, complete func(T) bool) (T, error) {
	var value T
	err := json.Unmarshal(r.body, &value)
	if err == nil && !complete(value) {
		err = errIncomplete
	}
	return value, err
}

// decoded is decode without the response.
func decoded[T any](complete func(T) bool) func(response) (T, error) {
	return func(r response) (T, error) { return decode(r, complete) }
}

// decodePage decodes the response of a list.
func decodePage(r response) (Page, error) {
	wire, err := decode(r, func(w wirePage) bool {
		return w.Orders != nil && w.Params.Page > 0 && w.Params.PageSize > 0 && w.Params.Total >= 0 &&
			!slices.ContainsFunc(w.Orders, wireSummary.missing)
	})
	p := wire.Params
	page := Page{
		Number: p.Page, Size: p.PageSize, Total: p.Total, State: p.State, From: p.From.Time, To: p.To.Time,
		Orders: make([]Summary, len(wire.Orders)), Tag: r.header.Get("ETag"),
	}
	for i, w := range wire.Orders {
		page.Orders[i] = w.summary()
	}
	return page, err
}

// summary returns the decoded summary.
func (w wireSummary) summary() Summary {
	s := w.Summary
	s.CreatedAt, s.UpdatedAt = w.CreatedAt.Time, w.UpdatedAt.Time
	return s
}

// missing reports whether a required field is missing.
func (w wireSummary) missing() bool {
	return w.Reference == "" || w.State == "" || w.CreatedAt.IsZero()
}

// cursorPage is a page of a list with a cursor.
type cursorPage[W any] struct {
	Orders []W    `json:"orders"`
	Next   string `json:"next"` // empty: the last page
}

// tokenPage is a page of tokens.
type tokenPage struct {
	Tokens []Token `json:"tokens"`
	Next   int64   `json:"next"` // 0: the last page
}

// newSecret is the response to a request that made a secret.
type newSecret struct {
	Secret  string
	Webhook Webhook
}

// The decoders of responses that need nothing else.
var (
	decodeUnanswered = decoded(func(page cursorPage[wireUnanswered]) bool {
		return page.Orders != nil && !slices.ContainsFunc(page.Orders, func(o wireUnanswered) bool { return o.missing() || o.LineItems == nil })
	})
	decodeSummaries = decoded(func(page cursorPage[wireSummary]) bool {
		return page.Orders != nil && !slices.ContainsFunc(page.Orders, wireSummary.missing)
	})
	decodeTokens = decoded(func(p tokenPage) bool {
		return p.Tokens != nil && !slices.ContainsFunc(p.Tokens, func(t Token) bool { return !t.complete() })
	})
	decodeLink     = decoded(func(l InvoiceLink) bool { return l.URL != "" && !l.ExpiresAt.IsZero() })
	decodeNewToken = decoded(func(n NewToken) bool { return n.Token.complete() })
	decodeToken    = decoded(Token.complete)
	decodeWebhook  = decoded(Webhook.complete)
	decodeSecret   = decoded(func(s newSecret) bool { return s.Webhook.complete() })
)

// decodeOrder decodes the response of a single order.
func decodeOrder(r response) (Order, error) {
	wire, err := decode(r, func(w struct{ Order wireOrder }) bool { return w.Order.complete() })
	o := wire.Order.order()
	o.Tag = tagOf(r.header)
	return o, err
}

// decodeSuccess decodes the response of accept and reject.
func decodeSuccess(r response) (bool, error) {
	wire, err := decode(r, func(w struct{ Success bool }) bool { return w.Success })
	return wire.Success, err
}

// decodeUploaded decodes the response of an upload.
func decodeUploaded(r response) (Invoice, error) {
	wire, err := decode(r, func(w struct{ Invoice Invoice }) bool { return complete(w.Invoice) })
	return wire.Invoice, err
}

// decodeDeleted decodes the response of a delete: the remaining files.
func decodeDeleted(r response) ([]Invoice, error) {
	wire, err := decode(r, func(w struct{ Invoices []Invoice }) bool { return w.Invoices != nil && complete(w.Invoices...) })
	return wire.Invoices, err
}

// decodeRevoked decodes the response with the ids of tokens that were revoked.
func decodeRevoked(r response) ([]int64, error) {
	wire, err := decode(r, func(w struct{ Revoked []int64 }) bool { return w.Revoked != nil })
	return wire.Revoked, err
}

// complete reports whether the token has the required fields.
func (t Token) complete() bool { return t.ID > 0 && t.Scopes != nil && !t.CreatedAt.IsZero() }

// complete reports whether the webhook has the required fields.
func (w Webhook) complete() bool {
	return w.ID > 0 && w.URL != "" && w.State != "" && !w.CreatedAt.IsZero()
}

// complete reports whether all invoices have the required fields.
func complete(invoices ...Invoice) bool {
	return !slices.ContainsFunc(invoices, func(i Invoice) bool { return i.ID < 1 || i.URL == "" || i.CreatedAt.IsZero() })
}

// decodeEvents decodes a page of events after a number. It checks that the numbers
// increase: otherwise the caller might read the same events again and again.
func decodeEvents(r response, after int64) (EventPage, error) {
	page, err := decode(r, func(p EventPage) bool {
		return p.Events != nil && !slices.ContainsFunc(p.Events, func(e Event) bool {
			return e.Type == "" || e.OrderReference == "" && e.ofOrder() || e.At.IsZero()
		})
	})
	if err != nil {
		return EventPage{}, err
	}
	last := after
	for _, event := range page.Events {
		if event.Seq <= last {
			return EventPage{}, fmt.Errorf("event %d follows event %d", event.Seq, last)
		}
		last = event.Seq
	}
	if page.Next < last {
		return EventPage{}, fmt.Errorf("next is %d after event %d", page.Next, last)
	}
	return page, nil
}
