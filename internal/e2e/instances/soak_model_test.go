package instances

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
)

// committed is an event as the database has it. It is the truth of the soak: a
// change has happened if and only if its event is in the table.
type committed struct {
	nonce   int64 // differs between histories
	kind    order.EventType
	actor   order.Actor
	at      time.Time
	order   sample
	from    order.State // no state: none
	to      order.State // no state: none
	invoice int64       // 0: none
	request string      // X-Request-Id of the request that made the change; empty: a command did
}

// key identifies the change of an event. A stream makes a change each of many orders.
func (e committed) key() string { return changeKey(e.request, e.order) }

// changeKey is the key of the change that a request makes of an order.
func changeKey(request string, n sample) string {
	if strings.HasPrefix(request, streamPrefix) {
		return request + " " + n.Reference()
	}
	return request
}

// moment is what an order shows from one event to the next event of the order.
type moment struct {
	seq     int64 // of the event that made it so
	state   order.State
	updated time.Time // of the last transition; zero: none
	files   []int64   // ids of the files shown, in order
}

// timeline is all orders of one merchant after each of its events. It is made from
// the events alone.
type timeline struct {
	events    []committed // events[i] has the number i+1
	orders    map[sample][]moment
	sorted    []sample         // every order, as lists show them: newest first
	byRequest map[string]int64 // key of a change -> number of its event
}

func newTimeline() *timeline {
	return &timeline{orders: make(map[sample][]moment), byRequest: make(map[string]int64)}
}

// newest returns the number of the newest event.
func (l *timeline) newest() int64 { return int64(len(l.events)) }

// event returns an event by its number.
func (l *timeline) event(seq int64) committed { return l.events[seq-1] }

// append adds the next event. It returns an error if no such event can follow.
func (l *timeline) append(e committed) error {
	seq := l.newest() + 1
	moments := l.orders[e.order]
	next := moment{seq: seq}
	if last := len(moments) - 1; last >= 0 {
		next.state, next.updated, next.files = moments[last].state, moments[last].updated, moments[last].files
	}
	switch e.kind {
	case order.OrderCreated:
		if len(moments) > 0 {
			return fmt.Errorf("event %d creates %s again", seq, e.order.Reference())
		}
		next.state = e.to
		at, _ := slices.BinarySearchFunc(l.sorted, e.order, newestFirst)
		l.sorted = slices.Insert(l.sorted, at, e.order)
	case order.OrderStateChanged:
		if e.from != next.state || !e.actor.CanTransition(e.from, e.to) {
			return fmt.Errorf("event %d: %s moves %s from %s to %s, and it was %s", seq, e.actor, e.order.Reference(), e.from, e.to, next.state)
		}
		next.state, next.updated = e.to, e.at
	case order.InvoiceUploaded:
		next.files = with(next.files, e.invoice)
		if len(next.files) > order.MaxInvoices {
			return fmt.Errorf("event %d: %s has %d files", seq, e.order.Reference(), len(next.files))
		}
	case order.InvoiceDeleted:
		if !slices.Contains(next.files, e.invoice) {
			return fmt.Errorf("event %d deletes file %d of %s, which has %v", seq, e.invoice, e.order.Reference(), next.files)
		}
		next.files = without(next.files, e.invoice)
	default:
		return fmt.Errorf("event %d is %s", seq, e.kind)
	}
	if e.request != "" {
		if other, twice := l.byRequest[e.key()]; twice {
			return fmt.Errorf("events %d and %d are of the request %s", other, seq, e.request)
		}
		l.byRequest[e.key()] = seq
	}
	l.events = append(l.events, e)
	l.orders[e.order] = append(moments, next)
	return nil
}

// newestFirst compares two orders as lists sort them (decision 3).
func newestFirst(a, b sample) int {
	if c := ingesttest.CreatedAt(int(b)).Compare(ingesttest.CreatedAt(int(a))); c != 0 {
		return c
	}
	return int(b - a)
}

// at returns what an order shows after an event. It returns false if it did not
// exist.
func (l *timeline) at(n sample, seq int64) (moment, bool) {
	moments := l.orders[n]
	after, _ := slices.BinarySearchFunc(moments, seq, func(m moment, seq int64) int {
		if m.seq <= seq {
			return -1
		}
		return 1
	})
	if after == 0 {
		return moment{}, false
	}
	return moments[after-1], true
}

// seenOrder is an order as a response shows it.
type seenOrder struct {
	order sample
	state string // name, or code of version 1
}

// list returns the orders of a page after an event, with the total of all pages.
// filter is a name, or a code of version 1; empty: all orders.
func (l *timeline) list(seq int64, version int, filter string, page, size int) (total int, shown []seenOrder) {
	for _, n := range l.sorted {
		m, ok := l.at(n, seq)
		if !ok {
			continue
		}
		state := stateText(m.state, version)
		if filter != "" && state != filter {
			continue
		}
		if total++; total > (page-1)*size && total <= page*size {
			shown = append(shown, seenOrder{n, state})
		}
	}
	return total, shown
}

// stateText is the state as a version shows it.
func stateText(s order.State, version int) string {
	if version == 1 {
		return s.Code()
	}
	return s.String()
}

// extends reports whether the events of a timeline begin with all those of
// another one.
func (l *timeline) extends(other *timeline) bool {
	return l.newest() >= other.newest() && slices.Equal(l.events[:len(other.events)], other.events)
}
