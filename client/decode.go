package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// timeForm is the format of times in v2, in UTC.
const timeForm = "2006-01-02 15:04:05"

// wireTime decodes a time: text in timeForm, or null for none.
type wireTime struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (t *wireTime) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text == nil {
		t.Time = time.Time{}
		return nil
	}
	at, err := time.Parse(timeForm, *text)
	if err != nil {
		return fmt.Errorf("%.40q is not a time", *text)
	}
	t.Time = at
	return nil
}

// wireSummary is the JSON form of a Summary. Its own fields hide those of Summary
// with the same name.
type wireSummary struct {
	Summary
	CreatedAt wireTime `json:"createdAt"`
	UpdatedAt wireTime `json:"updatedAt"`
}

// wireOrder is the JSON form of an Order.
type wireOrder struct {
	Order
	CreatedAt     wireTime `json:"createdAt"`
	UpdatedAt     wireTime `json:"updatedAt"`
	ExpiresAt     wireTime `json:"expiresAt"`
	DispatchUntil wireTime `json:"dispatchUntil"`
}

// wirePage is the response of a list.
type wirePage struct {
	Params struct {
		Page     int64    `json:"page"`
		PageSize int64    `json:"itemsPerPage"`
		Total    int64    `json:"totalItems"`
		State    *State   `json:"status"`
		From     wireTime `json:"dateFrom"`
		To       wireTime `json:"dateTo"`
	} `json:"params"`
	Orders []wireSummary `json:"orders"`
}

var errIncomplete = errors.New("a required field is missing")

// decodePage decodes the response of a list.
func decodePage(body []byte) (Page, error) {
	var wire wirePage
	if err := json.Unmarshal(body, &wire); err != nil {
		return Page{}, err
	}
	p := wire.Params
	if wire.Orders == nil || p.Page < 1 || p.PageSize < 1 || p.Total < 0 {
		return Page{}, errIncomplete
	}
	page := Page{
		Number: p.Page, Size: p.PageSize, Total: p.Total, From: p.From.Time, To: p.To.Time,
		Orders: make([]Summary, 0, len(wire.Orders)),
	}
	if p.State != nil {
		page.State = *p.State
	}
	for _, w := range wire.Orders {
		w.Summary.CreatedAt, w.Summary.UpdatedAt = w.CreatedAt.Time, w.UpdatedAt.Time
		if w.Reference == "" || w.State == "" || w.Summary.CreatedAt.IsZero() {
			return Page{}, errIncomplete
		}
		page.Orders = append(page.Orders, w.Summary)
	}
	return page, nil
}

// decodeOrder decodes the response of a single order.
func decodeOrder(body []byte) (Order, error) {
	var wire struct {
		Order wireOrder `json:"order"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Order{}, err
	}
	w, o := wire.Order, wire.Order.Order
	o.CreatedAt, o.UpdatedAt = w.CreatedAt.Time, w.UpdatedAt.Time
	o.ExpiresAt, o.DispatchUntil = w.ExpiresAt.Time, w.DispatchUntil.Time
	o.Tag = ""
	if o.Reference == "" || o.State == "" || o.CreatedAt.IsZero() || o.Invoices == nil || o.LineItems == nil || !complete(o.Invoices) {
		return Order{}, errIncomplete
	}
	return o, nil
}

// decodeSuccess decodes the response of accept and reject.
func decodeSuccess(body []byte) error {
	var wire struct {
		Success bool `json:"success"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return err
	}
	if !wire.Success {
		return errIncomplete
	}
	return nil
}

// decodeUploaded decodes the response of an upload.
func decodeUploaded(body []byte) (Invoice, error) {
	var wire struct {
		Invoice Invoice `json:"invoice"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Invoice{}, err
	}
	if !complete([]Invoice{wire.Invoice}) {
		return Invoice{}, errIncomplete
	}
	return wire.Invoice, nil
}

// decodeDeleted decodes the response of a delete: the remaining files.
func decodeDeleted(body []byte) ([]Invoice, error) {
	var wire struct {
		Invoices []Invoice `json:"invoices"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return nil, err
	}
	if wire.Invoices == nil || !complete(wire.Invoices) {
		return nil, errIncomplete
	}
	return wire.Invoices, nil
}

// complete reports whether all invoices have the required fields.
func complete(invoices []Invoice) bool {
	for _, invoice := range invoices {
		if invoice.ID < 1 || invoice.URL == "" || invoice.CreatedAt.IsZero() {
			return false
		}
	}
	return true
}

// decodeEvents decodes a page of events after a number. It checks that the numbers
// increase: otherwise the caller might read the same events again and again.
func decodeEvents(body []byte, after int64) (EventPage, error) {
	var page EventPage
	if err := json.Unmarshal(body, &page); err != nil {
		return EventPage{}, err
	}
	if page.Events == nil {
		return EventPage{}, errIncomplete
	}
	last := after
	for _, event := range page.Events {
		if event.Type == "" || event.OrderReference == "" || event.At.IsZero() {
			return EventPage{}, errIncomplete
		}
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
