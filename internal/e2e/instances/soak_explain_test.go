package instances

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
)

// The functions in this file return whether a response is that of the moment after
// an event, for observed.explains.

// shows is for a response with a single order.
func shows(n sample, version int, state string, files []int64) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		m, ok := l.at(n, seq)
		return ok && stateText(m.state, version) == state && slices.Equal(m.files, files)
	}
}

// missing is for a response that says that there is no such order.
func missing(n sample) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		_, ok := l.at(n, seq)
		return !ok
	}
}

// allExist is for an import of orders that succeeded.
func allExist(orders []sample) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		return !slices.ContainsFunc(orders, func(n sample) bool { return missing(n)(l, seq) })
	}
}

// where is for a response that says something about an order that exists.
func where(n sample, holds func(moment) bool) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		m, ok := l.at(n, seq)
		return ok && holds(m)
	}
}

// lists is for a page of a list.
func lists(version int, filter string, page, size, total int, shown []seenOrder) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		wantTotal, want := l.list(seq, version, filter, page, size)
		return total == wantTotal && slices.Equal(shown, want)
	}
}

// soakEvent is an event as the feed shows it.
type soakEvent struct {
	ID             string // empty in the feed of a merchant
	Seq            int64
	Type           string
	OrderReference string
	OrderID        int64
	At             time.Time
	Actor          string
	RequestID      string
	Data           struct {
		State, From, To string
		InvoiceID       int64
	}
}

// soakPage is a response of the feed.
type soakPage struct {
	Events       []soakEvent
	Next, Newest int64
	History      string
}

// feedOf is for a page of the feed after an event, of at most limit events.
func feedOf(p soakPage, after, limit int64) func(*timeline, int64) bool {
	return func(l *timeline, seq int64) bool {
		if p.Newest != seq || int64(len(p.Events)) != max(0, min(seq-after, limit)) || p.Next != after+int64(len(p.Events)) {
			return false
		}
		for i, e := range p.Events {
			if number := after + 1 + int64(i); e.Seq != number || !e.tells(l.event(number)) {
				return false
			}
		}
		return true
	}
}

// feedEnd is for the end of the feed, after=latest.
func feedEnd(p soakPage) func(*timeline, int64) bool {
	return func(_ *timeline, seq int64) bool { return p.Newest == seq && p.Next == seq && len(p.Events) == 0 }
}

// tells reports whether an event of the feed is an event of the table.
func (e soakEvent) tells(c committed) bool {
	if e.Type != c.kind.String() || e.OrderReference != c.order.Reference() || e.RequestID != c.request || e.Data.InvoiceID != c.invoice {
		return false
	}
	if e.OrderID != 0 && (e.OrderID != c.order.Number() || e.Actor != c.actor.String() || !e.At.Equal(c.at)) {
		return false
	}
	switch c.kind {
	case order.OrderCreated:
		return e.Data.State == c.to.String()
	case order.OrderStateChanged:
		return e.Data.From == c.from.String() && e.Data.To == c.to.String()
	}
	return true
}

// readList decodes a list. It returns how it is explained, or an error if it is not
// one.
func readList(body string, version int, filter string, page, size int) (func(*timeline, int64) bool, error) {
	var form struct {
		Params struct {
			V1 *int `json:"total_items"`
			V2 *int `json:"totalItems"`
		}
		Orders []struct {
			V1     string `json:"order_reference"`
			Status string `json:"status"`
			V2     string `json:"id"`
			State  string `json:"state"`
		}
	}
	if err := json.Unmarshal([]byte(body), &form); err != nil {
		return nil, err
	}
	total := form.Params.V1
	if version == 2 {
		total = form.Params.V2
	}
	if total == nil {
		return nil, fmt.Errorf("no total")
	}
	var shown []seenOrder
	for _, o := range form.Orders {
		reference, state := o.V1, o.Status
		if version == 2 {
			reference, state = o.V2, o.State
		}
		n, err := sampleOf(reference)
		if err != nil {
			return nil, err
		}
		shown = append(shown, seenOrder{n, state})
	}
	return lists(version, filter, page, size, *total, shown), nil
}

// singleForm is a single order in either version.
type singleForm struct {
	Reference string `json:"order_reference"`
	Status    string
	Invoices  []entry
	Order     struct {
		ID, State string
		UpdatedAt *string
		Invoices  []entry
	}
}

// readSingle decodes a single order. It returns how it is explained and the state and
// the files that it shows, or an error if it is not that order.
func readSingle(body string, n sample, version int) (explains func(*timeline, int64) bool, state string, files []entry, err error) {
	var form singleForm
	if err := json.Unmarshal([]byte(body), &form); err != nil {
		return nil, "", nil, err
	}
	reference := form.Reference
	state, files = form.Status, form.Invoices
	if version == 2 {
		reference, state, files = form.Order.ID, form.Order.State, form.Order.Invoices
	}
	if reference != n.Reference() {
		return nil, "", nil, fmt.Errorf("it is order %q", reference)
	}
	var ids []int64
	for _, e := range files {
		ids = append(ids, e.ID)
	}
	same := shows(n, version, state, ids)
	if version == 1 {
		return same, state, files, nil
	}
	return func(l *timeline, seq int64) bool {
		if !same(l, seq) {
			return false
		}
		m, _ := l.at(n, seq)
		if form.Order.UpdatedAt == nil || m.updated.IsZero() {
			return form.Order.UpdatedAt == nil && m.updated.IsZero()
		}
		return *form.Order.UpdatedAt == m.updated.UTC().Format(time.DateTime)
	}, state, files, nil
}

// sampleOf returns the sample with a reference.
func sampleOf(reference string) (sample, error) {
	if len(reference) < 8 {
		return 0, fmt.Errorf("%q is not the reference of a sample", reference)
	}
	n, err := strconv.Atoi(reference[len(reference)-7:])
	if err != nil || ingesttest.Reference(n) != reference {
		return 0, fmt.Errorf("%q is not the reference of a sample", reference)
	}
	return sample(n), nil
}
