package instances

import (
	"slices"
	"sync"
	"testing"

	"merchantorders/internal/order"
)

// memory is a target that keeps orders in memory, right or with a fault.
type memory struct {
	mu    sync.Mutex
	state orderState
	next  int64
	fault fault
	// gap, where it is not nil, is called by a faulty target between its look at
	// an order and the change.
	gap func()
}

// fault is a mistake that an implementation could make.
type fault string

const (
	none        fault = "none"
	checkAct    fault = "looks at the state, lets go of the lock, then changes it"
	countAct    fault = "counts the files, lets go of the lock, then stores one"
	drops       fault = "acknowledges an upload and forgets it"
	duplicates  fault = "stores an acknowledged upload twice"
	revives     fault = "shows a deleted file again"
	stale       fault = "reads what another instance had a while ago"
	lateRelease fault = "acknowledges a delete and does not free the reservation"
	tooMany     fault = "refuses the third file"
)

// do implements target.
func (m *memory) do(r request) (outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r.verb {
	case accept, reject:
		return m.decide(r.verb), nil
	case upload:
		return m.store(), nil
	case remove:
		there := slices.Contains(m.state.active, r.file)
		if m.fault != revives {
			m.state.active = without(m.state.active, r.file)
		}
		if there && m.fault == lateRelease {
			m.state.reserved = with(m.state.reserved, r.file)
		}
		return outcome{done: there}, nil
	}
	shown := m.state
	if m.fault == stale && r.instance == 1 {
		shown = orderState{state: order.Registered.String()}
	}
	return outcome{state: shown.state, files: shown.active}, nil
}

// decide accepts or rejects.
func (m *memory) decide(v verb) outcome {
	if m.state.state != order.Registered.String() {
		return outcome{}
	}
	m.open(checkAct)
	m.state.state = order.InProcessing.String()
	if v == reject {
		m.state.state = order.RejectedByMerchant.String()
	}
	return outcome{done: true}
}

// store takes in a file.
func (m *memory) store() outcome {
	most := order.MaxInvoices
	if m.fault == tooMany {
		most--
	}
	if len(m.state.active)+len(m.state.reserved) >= most {
		return outcome{}
	}
	m.open(countAct)
	m.next++
	id := m.next
	if m.fault != drops {
		m.state.active = with(m.state.active, id)
	}
	if m.fault == duplicates {
		m.next++
		m.state.active = with(m.state.active, m.next)
	}
	return outcome{done: true, id: id}
}

// open is the gap of a target with this fault: others get in meanwhile.
func (m *memory) open(f fault) {
	if m.fault != f || m.gap == nil {
		return
	}
	gap := m.gap
	m.gap = nil // once
	m.mu.Unlock()
	gap()
	m.mu.Lock()
}

// TestCheckerSeesFaults has clients work on targets with a fault each. The
// checker must call every one of these histories illegal, and the same history
// of a target without a fault legal: one that finds nothing would prove nothing.
func TestCheckerSeesFaults(t *testing.T) {
	t.Parallel()
	one := func(v verb) request { return request{verb: v, order: 1, version: 1} }
	file := func(id int64) request { return request{verb: remove, order: 1, version: 1, file: id} }
	other := request{verb: read, order: 1, instance: 1, version: 2}
	cases := []struct {
		fault fault
		// first is asked for by one client, and meanwhile, while its gap is open, by
		// another; then come the rest, one after the other.
		before    []request
		first     request
		meanwhile request
		rest      []request
	}{
		{checkAct, nil, one(accept), one(reject), []request{one(read)}},
		{checkAct, nil, one(reject), one(accept), nil},
		{countAct, []request{one(upload), one(upload)}, one(upload), one(upload), nil},
		{drops, nil, one(upload), one(read), []request{one(read)}},
		{duplicates, nil, one(upload), one(read), []request{one(read)}},
		{revives, []request{one(upload)}, file(1), one(read), []request{one(read)}},
		{stale, []request{one(accept)}, one(read), other, nil},
		{lateRelease, []request{one(upload), one(upload), one(upload)}, file(1), one(read), []request{one(upload)}},
		{tooMany, []request{one(upload), one(upload)}, one(upload), one(read), nil},
	}
	for _, tc := range cases {
		t.Run(string(tc.fault), func(t *testing.T) {
			t.Parallel()
			for f, want := range map[fault]bool{tc.fault: false, none: true} {
				m := &memory{fault: f, state: orderState{state: order.Registered.String()}}
				h := newHistory()
				add := func(who int, requests ...request) {
					for _, r := range requests {
						if err := h.add(who, m, r); err != nil {
							t.Error(err)
						}
					}
				}
				add(0, tc.before...)
				met := false
				m.gap = func() { met = true; add(1, tc.meanwhile) }
				add(0, tc.first)
				if !met {
					add(1, tc.meanwhile)
				}
				add(0, tc.rest...)
				if got := h.legal(t); got != want {
					t.Errorf("a target that has the fault %q: legal is %v, want %v: %+v", f, got, want, h.operations)
				}
			}
		})
	}
}
