package storetest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

var intakeSubjects = []subject{
	{"intake/verdicts", testVerdicts},
	{"intake/next free number", testNextFreeNumber},
	{"intake/highest number", testHighestNumber},
	{"intake/a refused order leaves nothing", testRefusedLeavesNothing},
	{"intake/nothing to take in", testEmptyBatch},
	{"intake/the same batch from two handles", testSameBatchTwice},
}

// step is one order of a sequence and what must become of it.
type step struct {
	name   string
	order  order.Order
	want   order.Verdict
	number int64  // of an order created or unchanged
	reason string // how the reason begins
}

// changed is an order with one thing changed.
func changed(o order.Order, change func(*order.Order)) order.Order {
	change(&o)
	return o
}

func withNumber(o order.Order, number int64) order.Order {
	return changed(o, func(o *order.Order) { o.Number = number })
}

// verdictSteps are taken in one after the other.
func verdictSteps() []step {
	one := withNumber(minimal(alpha, "ONE"), 7)
	return []step{
		{"new", one, order.Created, 7, ""},
		{"again", one, order.Unchanged, 7, ""},
		{"again, the number left out", withNumber(one, 0), order.Unchanged, 7, ""},
		{"again, another number", withNumber(one, 8), order.Conflicting, 0, "orderId: "},
		{"other content", changed(one, func(o *order.Order) { o.Total++ }), order.Conflicting, 0, "reference: "},
		{"other content and number", changed(one, func(o *order.Order) { o.Total++; o.Number = 8 }), order.Conflicting, 0, "reference: "},
		{"reference of another merchant", minimal(beta, "ONE"), order.Conflicting, 0, "reference: "},
		{"the other merchant's whole order", changed(one, func(o *order.Order) { o.MerchantID = beta }), order.Conflicting, 0, "reference: "},
		{"number taken", withNumber(minimal(alpha, "TWO"), 7), order.Conflicting, 0, "orderId: "},
		{"number of another merchant", withNumber(minimal(beta, "TWO"), 7), order.Conflicting, 0, "orderId: "},
		{"its reference is still free", minimal(beta, "TWO"), order.Created, 8, ""},
		{"other letter case", minimal(alpha, "two"), order.Created, 9, ""},
		{"no such merchant", minimal(404, "THREE"), order.Invalid, 0, "merchantId: "},
		{"no such merchant, reference taken", minimal(404, "ONE"), order.Invalid, 0, "merchantId: "},
		{"a reference that looks like a number", minimal(alpha, "10"), order.Created, 10, ""},
	}
}

func testVerdicts(f *fixture) {
	// What became of orders must not depend on how they are spread over batches.
	steps := verdictSteps()
	for size := 1; size <= len(steps); size += len(steps) - 1 {
		f.Run(fmt.Sprintf("%d to a batch", size), func(t *testing.T) {
			g := newFixture(t, f.fresh)
			for begin := 0; begin < len(steps); begin += size {
				part := steps[begin:min(begin+size, len(steps))]
				batch := make([]order.Incoming, len(part))
				for i, step := range part {
					batch[i] = incoming(step.order)
				}
				for i, got := range g.add(g.a, batch...) {
					part[i].check(t, got)
				}
			}
		})
	}
}

func (s step) check(t *testing.T, got order.Outcome) {
	t.Helper()
	if got.Verdict != s.want || got.Number != s.number || !strings.HasPrefix(got.Reason, s.reason) || (s.reason == "") != (got.Reason == "") {
		t.Errorf("%s: %+v, want %v, number %d, a reason like %q", s.name, got, s.want, s.number, s.reason)
	}
}

func testNextFreeNumber(f *fixture) {
	for i, step := range []step{
		{"first", minimal(alpha, "a"), order.Created, 1, ""},
		{"asks for a later one", withNumber(minimal(alpha, "b"), 915664), order.Created, 915664, ""},
		{"goes on after it", minimal(beta, "c"), order.Created, 915665, ""},
		{"asks for an earlier one", withNumber(minimal(beta, "d"), 3), order.Created, 3, ""},
		{"goes on still", minimal(alpha, "e"), order.Created, 915666, ""},
		{"asks for the next one", withNumber(minimal(alpha, "f"), 915667), order.Created, 915667, ""},
		{"goes on after that", minimal(alpha, "g"), order.Created, 915668, ""},
	} {
		step.check(f.T, f.add([]Store{f.a, f.b}[i%2], incoming(step.order))[0])
	}
}

func testHighestNumber(f *fixture) {
	for _, step := range []step{
		{"a number to begin with", minimal(alpha, "a"), order.Created, 1, ""},
		{"the highest there is", withNumber(minimal(alpha, "b"), math.MaxInt64), order.Created, math.MaxInt64, ""},
		{"the next free one", minimal(alpha, "c"), order.Created, 2, ""},
		{"the highest again", withNumber(minimal(alpha, "d"), math.MaxInt64), order.Conflicting, 0, "orderId: "},
		{"the one below", withNumber(minimal(alpha, "d"), math.MaxInt64-1), order.Created, math.MaxInt64 - 1, ""},
		{"the next free one again", minimal(alpha, "e"), order.Created, 3, ""},
	} {
		step.check(f.T, f.add(f.a, incoming(step.order))[0])
	}
	f.order(f.b, alpha, order.NumberKey(math.MaxInt64))
}

func testRefusedLeavesNothing(f *fixture) {
	f.create(withNumber(minimal(alpha, "ONE"), 1))
	before := f.tables.rows()
	f.add(f.a,
		incoming(withNumber(minimal(alpha, "TWO"), 1)),
		incoming(minimal(404, "THREE")),
		incoming(minimal(beta, "ONE")),
		incoming(withNumber(minimal(alpha, "ONE"), 0)),
	)
	if diff := cmp.Diff(before, f.tables.rows()); diff != "" {
		f.Errorf("refused and unchanged orders changed the tables (-before +after):\n%s", diff)
	}
}

func testEmptyBatch(f *fixture) {
	before := f.tables.rows()
	f.add(f.a)
	if diff := cmp.Diff(before, f.tables.rows()); diff != "" {
		f.Errorf("no orders changed the tables (-before +after):\n%s", diff)
	}
}

func testSameBatchTwice(f *fixture) {
	const size = 40
	batch := append(numbered(alpha, "A", size), numbered(beta, "B", size)...)
	outcomes := make([][]order.Outcome, 4)
	var group sync.WaitGroup
	for i := range outcomes {
		group.Go(func() {
			mine := make([]order.Incoming, len(batch))
			for j, incoming := range batch {
				// Each takes the orders in another sequence.
				mine[j*[]int{1, 3, 7, 9}[i]%len(mine)] = incoming
			}
			got, err := []Store{f.a, f.b}[i%2].AddOrders(f.Context(), mine, noon)
			if err != nil {
				f.Errorf("add orders: %v", err)
			}
			outcomes[i] = got
		})
	}
	group.Wait()
	count := make(map[order.Verdict]int)
	for _, each := range outcomes {
		for _, outcome := range each {
			count[outcome.Verdict]++
		}
	}
	want := map[order.Verdict]int{order.Created: len(batch), order.Unchanged: 3 * len(batch)}
	if diff := cmp.Diff(want, count); diff != "" {
		f.Errorf("verdicts (-want +got):\n%s", diff)
	}
}
