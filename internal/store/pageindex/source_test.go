package pageindex

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// today is the newest day on which orders of these tests were created.
const today order.Day = 20777

// fakeSource is a Source in memory with its whole history.
type fakeSource struct {
	mu     sync.Mutex
	random *rand.Rand
	orders map[int64]OrderState // by legacy id
	events []Delta              // event n at n-1, with keys
	reads  map[string]int       // calls by method
	// before is called at the beginning of each method, without mu; nil: nothing.
	before  func(method string)
	missing int64 // an event that Deltas leaves out; 0: none
	// fail makes a method return an error; nil: none.
	fail func(method string) error
}

func newFakeSource() *fakeSource {
	return &fakeSource{
		random: rand.New(rand.NewPCG(1, 1)), orders: make(map[int64]OrderState), reads: make(map[string]int),
	}
}

// begin notes a call and locks the source.
func (s *fakeSource) begin(method string) error {
	if s.before != nil {
		s.before(method)
	}
	s.mu.Lock()
	s.reads[method]++
	if s.fail != nil {
		return s.fail(method)
	}
	return nil
}

// create adds an order with the next legacy id.
func (s *fakeSource) create(createdAt int64, state order.State) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := int64(len(s.orders) + 1)
	s.orders[id] = OrderState{Key{createdAt, id}, state}
	s.event(Delta{Key: s.orders[id].Key, To: state})
	return id
}

// transition moves an order to another state.
func (s *fakeSource) transition(id int64, to order.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orders[id]
	s.event(Delta{Key: o.Key, From: o.State, To: to})
	s.orders[id] = OrderState{o.Key, to}
}

// upload adds an event that changes no state.
func (s *fakeSource) upload(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(Delta{Key: s.orders[id].Key})
}

func (s *fakeSource) event(d Delta) {
	d.Version = order.DataVersion{Event: int64(len(s.events)) + 1, Nonce: s.random.Int64()}
	s.events = append(s.events, d)
}

func (s *fakeSource) version() order.DataVersion {
	if len(s.events) == 0 {
		return order.DataVersion{}
	}
	return s.events[len(s.events)-1].Version
}

// asOf returns a source that has only the first n events.
func (s *fakeSource) asOf(n int64) *fakeSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := newFakeSource()
	old.events = slices.Clone(s.events[:n])
	for _, d := range old.events {
		if d.To != 0 {
			old.orders[d.Key.LegacyID] = OrderState{d.Key, d.To}
		}
	}
	return old
}

func (s *fakeSource) Version(context.Context) (order.DataVersion, error) {
	err := s.begin("Version")
	defer s.mu.Unlock()
	return s.version(), err
}

func (s *fakeSource) DayCounts(context.Context) ([]DayCount, order.DataVersion, error) {
	err := s.begin("DayCounts")
	defer s.mu.Unlock()
	if err != nil {
		return nil, order.DataVersion{}, err
	}
	type dayState struct {
		day   order.Day
		state order.State
	}
	counts := make(map[dayState]int32)
	for _, o := range s.orders {
		counts[dayState{o.Key.day(), o.State}]++
	}
	var days []DayCount
	for k, n := range counts {
		days = append(days, DayCount{k.day, k.state, n})
	}
	slices.SortFunc(days, func(a, b DayCount) int { return int(a.Day - b.Day) })
	return days, s.version(), nil
}

func (s *fakeSource) Deltas(_ context.Context, from int64, keys bool) ([]Delta, error) {
	err := s.begin("Deltas")
	defer s.mu.Unlock()
	if err != nil || from > int64(len(s.events)) {
		return nil, err
	}
	deltas := slices.Clone(s.events[from-1:])
	deltas = slices.DeleteFunc(deltas, func(d Delta) bool { return d.Version.Event == s.missing })
	for i := range deltas {
		if !keys {
			deltas[i].Key = StartOfDay(deltas[i].Key.day())
		}
	}
	return deltas, nil
}

func (s *fakeSource) Keys(_ context.Context, r SplitRange) (Keys, error) {
	err := s.begin("Keys")
	defer s.mu.Unlock()
	if err != nil {
		return Keys{}, err
	}
	orders := s.sorted(func(o OrderState) bool { return o.Key.Compare(r.Low) >= 0 && o.Key.Compare(r.High) < 0 })
	if r.Ascending {
		slices.Reverse(orders)
	}
	return Keys{orders[:min(int64(len(orders)), r.Limit)], s.version()}, nil
}

// sorted returns the orders that pass a test, the highest key first.
func (s *fakeSource) sorted(pass func(OrderState) bool) []OrderState {
	var found []OrderState
	for _, o := range s.orders {
		if pass(o) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b OrderState) int { return b.Key.Compare(a.Key) })
	return found
}

func matches(filter order.Filter, state order.State) bool {
	return filter.AnyState || slices.Contains(filter.States, state)
}

// list returns the total of a filter and its page, found without an index.
func (s *fakeSource) list(filter order.Filter) (int64, []OrderState) {
	low, high := keyRange(filter)
	found := s.sorted(func(o OrderState) bool {
		return matches(filter, o.State) && o.Key.Compare(low) >= 0 && o.Key.Compare(high) < 0
	})
	total := int64(len(found))
	if filter.After != nil {
		after := Key{filter.After.CreatedAt.Unix(), filter.After.LegacyID}
		found = slices.DeleteFunc(found, func(o OrderState) bool { return o.Key.Compare(after) >= 0 })
		return total, found[:min(int64(len(found)), filter.PageSize+1)]
	}
	first := min((filter.Page-1)*filter.PageSize, total)
	return total, found[first:min(first+filter.PageSize, total)]
}

// read returns the orders that a position points to, as the statement of a list
// reads them.
func (s *fakeSource) read(filter order.Filter, p Position) []OrderState {
	found := s.sorted(func(o OrderState) bool { return matches(filter, o.State) && o.Key.Compare(p.UpperBound) < 0 })
	found = found[min(p.Offset, int64(len(found))):]
	return found[:min(p.Limit, int64(len(found)))]
}

// fill creates orders in several states on three days: on the newest one at
// different times, on the others in one second each.
func (s *fakeSource) fill(orders int) {
	for i := range orders {
		day := today - order.Day(i%3)
		at := day.Start().Unix() + 43200
		if i%3 == 0 {
			at += int64(i * 7919 % 3600)
		}
		s.create(at, order.States()[i%4])
	}
}

// smallSizes make everything happen with few orders: splits from both ends of a
// day, buckets that are split again, larger buckets, and indexes so far
// behind that they are loaded again.
var smallSizes = Sizes{BucketOrders: 3, MaxBuckets: 60, MinKeys: 8, MaxKeys: 40, MaxDeltas: 5}

// testFilters are lists of all kinds.
func testFilters() []order.Filter {
	any := order.NewFilter()
	third, cursor, days, one, two := any, any, any, any, any
	third.Page, third.PageSize = 3, 7
	cursor.After = &order.Cursor{CreatedAt: (today - 1).Start().Add(12 * time.Hour), LegacyID: 10}
	days.From, days.To = today-2, today-1
	one.AnyState, one.States = false, []order.State{order.Registered}
	two.AnyState, two.States, two.Page, two.PageSize = false, []order.State{order.Registered, order.InProcessing}, 2, 5
	two.From, two.To = today-4, today-1
	cursorDays := cursor
	cursorDays.From, cursorDays.To = today-3, today-2
	last, past, none := any, any, any
	last.Page = 9
	past.Page = 1 << 40
	none.AnyState = false
	return []order.Filter{any, third, cursor, cursorDays, days, one, two, last, past, none}
}
