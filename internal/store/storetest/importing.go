package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var importSubjects = []subject{
	{"intake/verdicts", testVerdicts},
	{"intake/check", testImportCheck},
	{"intake/next free number", testNextFreeNumber},
	{"intake/highest number", testHighestNumber},
	{"intake/numbers within a batch", testNumbersWithinBatch},
	{"intake/numbers from two handles", testNumbersAtOnce},
	{"intake/a refused order leaves nothing", testRefusedLeavesNothing},
	{"intake/nothing to take in", testEmptyBatch},
	{"intake/the same batch from two handles", testSameBatchTwice},
}

// step is one order of a sequence and what must become of it.
type step struct {
	name   string
	order  order.Order
	want   order.LineStatus
	number int64  // of an order created or unchanged
	reason string // how the reason begins
}

// changed is an order with one thing changed.
func changed(o order.Order, change func(*order.Order)) order.Order {
	change(&o)
	return o
}

func withNumber(o order.Order, number int64) order.Order {
	return changed(o, func(o *order.Order) { o.LegacyID = number })
}

// verdictSteps are imported one after the other.
func verdictSteps() []step {
	one := withNumber(minimal(alpha, "ONE"), 7)
	return []step{
		{"new", one, order.Created, 7, ""},
		{"again", one, order.Unchanged, 7, ""},
		{"again, the number left out", withNumber(one, 0), order.Unchanged, 7, ""},
		{"again, another number", withNumber(one, 8), order.Conflict, 0, "orderId: "},
		{"other content", changed(one, func(o *order.Order) { o.Total++ }), order.Conflict, 0, "reference: "},
		{"other content and number", changed(one, func(o *order.Order) { o.Total++; o.LegacyID = 8 }), order.Conflict, 0, "reference: "},
		{"reference of another merchant", minimal(beta, "ONE"), order.Conflict, 0, "reference: "},
		{"the other merchant's whole order", changed(one, func(o *order.Order) { o.MerchantID = beta }), order.Conflict, 0, "reference: "},
		{"number taken", withNumber(minimal(alpha, "TWO"), 7), order.Conflict, 0, "orderId: "},
		{"number of another merchant", withNumber(minimal(beta, "TWO"), 7), order.Conflict, 0, "orderId: "},
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

func (s step) check(t *testing.T, got order.ImportResult) {
	t.Helper()
	if got.Status != s.want || got.LegacyID != s.number || !strings.HasPrefix(got.Reason, s.reason) || (s.reason == "") != (got.Reason == "") {
		t.Errorf("%s: %+v, want %v, number %d, a reason like %q", s.name, got, s.want, s.number, s.reason)
	}
}

// testImportCheck checks that a check foresees the results of an import, in batches
// of any size, and changes nothing.
func testImportCheck(f *fixture) {
	var all []order.Incoming
	for _, step := range verdictSteps() {
		all = append(all, incoming(step.order))
	}
	f.create(minimal(beta, "OLD"))
	all = append(all, incoming(minimal(beta, "OLD")), incoming(minimal(alpha, "OLD")), incoming(withNumber(minimal(beta, "NEW"), 1)),
		incoming(withNumber(minimal(beta, "LARGE"), 1<<60)))
	check := func(size int) []order.ImportResult {
		results, foresee := []order.ImportResult(nil), f.b.NewImportCheck()
		for batch := range slices.Chunk(all, size) {
			part := testenv.Of(foresee(f.Context(), order.Command(), batch)).Must(f)
			results = append(results, part...)
		}
		return results
	}
	before := f.tables.rows()
	first := check(1)
	for _, size := range []int{4, len(all)} {
		testenv.Equal(f, fmt.Sprintf("batches of %d", size), first, check(size))
	}
	testenv.Equal(f, "tables after the check", before, f.tables.rows())
	var imported []order.ImportResult
	for _, one := range all {
		imported = append(imported, f.add(f.a, one)...)
	}
	testenv.Equal(f, "an empty database", imported, first)
	testenv.Equal(f, "a full database", f.add(f.a, all...), check(3))
}

func testNextFreeNumber(f *fixture) {
	for i, step := range []step{
		{"first", minimal(alpha, "a"), order.Created, 1, ""},
		{"asks for a later one", withNumber(minimal(alpha, "b"), 915664), order.Created, 915664, ""},
		{"the counter continues after it", minimal(beta, "c"), order.Created, 915665, ""},
		{"asks for an earlier one", withNumber(minimal(beta, "d"), 3), order.Created, 3, ""},
		{"the counter continues", minimal(alpha, "e"), order.Created, 915666, ""},
		{"asks for the next one", withNumber(minimal(alpha, "f"), 915667), order.Created, 915667, ""},
		{"the counter continues after that", minimal(alpha, "g"), order.Created, 915668, ""},
	} {
		step.check(f.T, f.add([]Store{f.a, f.b}[i%2], incoming(step.order))[0])
	}
}

func testHighestNumber(f *fixture) {
	const half = order.MaxID / 2
	for _, step := range []step{
		{"a number to begin with", minimal(alpha, "a"), order.Created, 1, ""},
		{"the highest there is", withNumber(minimal(alpha, "b"), math.MaxInt64), order.Created, math.MaxInt64, ""},
		{"the next free one", minimal(alpha, "c"), order.Created, 2, ""},
		{"the highest again", withNumber(minimal(alpha, "d"), math.MaxInt64), order.Conflict, 0, "orderId: "},
		{"the one below", withNumber(minimal(alpha, "d"), math.MaxInt64-1), order.Created, math.MaxInt64 - 1, ""},
		{"the next free one again", minimal(alpha, "e"), order.Created, 3, ""},
		{"the highest that the counter continues from", withNumber(minimal(alpha, "f"), half), order.Created, half, ""},
		{"the next one", minimal(alpha, "g"), order.Created, half + 1, ""},
		{"and one more", minimal(alpha, "h"), order.Created, half + 2, ""},
		{"past a requested one", withNumber(minimal(alpha, "i"), half+3), order.Created, half + 3, ""},
		{"the one after it", minimal(alpha, "j"), order.Created, half + 4, ""},
	} {
		step.check(f.T, f.add(f.a, incoming(step.order))[0])
	}
	f.order(f.b, alpha, order.ByLegacyID(math.MaxInt64))
	// Beside one that asks for what is next, without being counted.
	got := f.add(f.a, incoming(withNumber(minimal(alpha, "k"), half+5)), incoming(minimal(alpha, "l")))
	step{"asks for the next one", order.Order{}, order.Created, half + 5, ""}.check(f.T, got[0])
	step{"gets the one after it", order.Order{}, order.Created, half + 6, ""}.check(f.T, got[1])
}

// testNumbersWithinBatch imports at once what other tests import one by one:
// orders with and without a requested legacy id, more than fit into one
// statement, and references that come again.
func testNumbersWithinBatch(f *fixture) {
	f.create(withNumber(minimal(beta, "before"), 90))
	steps := []step{
		{"next free", minimal(alpha, "a"), order.Created, 91, ""},
		{"the number given just now", withNumber(minimal(beta, "b"), 91), order.Conflict, 0, "orderId: "},
		{"the reference of the refused one", minimal(alpha, "b"), order.Created, 92, ""},
		{"a later one", withNumber(minimal(beta, "c"), 500), order.Created, 500, ""},
		{"the same one", withNumber(minimal(alpha, "d"), 500), order.Conflict, 0, "orderId: "},
		{"one taken before, not counted again", withNumber(minimal(alpha, "e"), 90), order.Conflict, 0, "orderId: "},
		{"the first one again", minimal(alpha, "a"), order.Unchanged, 91, ""},
		{"and again, with other content", changed(minimal(alpha, "a"), func(o *order.Order) { o.Total++ }), order.Conflict, 0, "reference: "},
	}
	for i := range int64(150) {
		steps = append(steps, step{"after the later one", minimal([]int64{alpha, beta}[i%2], fmt.Sprint("many-", i)), order.Created, 501 + i, ""})
	}
	var batch []order.Incoming
	for _, step := range steps {
		batch = append(batch, incoming(step.order))
	}
	for i, got := range f.add(f.a, batch...) {
		steps[i].check(f.T, got)
	}
}

// testNumbersAtOnce has batches that leave their numbers open meet: each number
// is given once.
func testNumbersAtOnce(f *fixture) {
	const batches, size = 4, 100
	results := make([][]order.ImportResult, batches)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			var err error
			results[i], err = []Store{f.a, f.b}[i%2].ImportOrders(f.Context(), numbered(alpha, fmt.Sprint("N", i), size), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon})
			if err != nil {
				f.Errorf("add orders: %v", err)
			}
		})
	}
	group.Wait()
	given := make(map[int64]bool)
	for _, result := range slices.Concat(results...) {
		if result.Status != order.Created || result.LegacyID < 1 || result.LegacyID > batches*size || given[result.LegacyID] {
			f.Errorf("%+v, want an order created with a number of its own up to %d", result, batches*size)
		}
		given[result.LegacyID] = true
	}
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
	testenv.Equal(f, "tables after refused and unchanged orders", before, f.tables.rows())
}

func testEmptyBatch(f *fixture) {
	before := f.tables.rows()
	f.add(f.a)
	testenv.Equal(f, "tables after no orders", before, f.tables.rows())
}

func testSameBatchTwice(f *fixture) {
	const size = 40
	batch := append(numbered(alpha, "A", size), numbered(beta, "B", size)...)
	results := make([][]order.ImportResult, 4)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() {
			mine := make([]order.Incoming, len(batch))
			for j, incoming := range batch {
				// Each takes the orders in another sequence.
				mine[j*[]int{1, 3, 7, 9}[i]%len(mine)] = incoming
			}
			got, err := []Store{f.a, f.b}[i%2].ImportOrders(f.Context(), mine, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon})
			if err != nil {
				f.Errorf("add orders: %v", err)
			}
			results[i] = got
		})
	}
	group.Wait()
	count := make(map[order.LineStatus]int)
	for _, each := range results {
		for _, result := range each {
			count[result.Status]++
		}
	}
	testenv.Equal(f, "verdicts", map[order.LineStatus]int{order.Created: len(batch), order.Unchanged: 3 * len(batch)}, count)
}
