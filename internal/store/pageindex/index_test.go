package pageindex

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// checkPosition compares what a position reads from a source, as of the same
// version, with the list of the source.
func checkPosition(t *testing.T, s *fakeSource, filter order.Filter, p Position) {
	t.Helper()
	total, want := s.list(filter)
	if p.Version != s.version() || p.Total != total {
		t.Errorf("%+v:\nversion %v, total %d; want %v, %d", filter, p.Version, p.Total, s.version(), total)
	}
	got := s.read(filter, p)
	if filter.After != nil {
		// The caller drops the orders before the first day.
		low, _ := keyRange(filter)
		for len(got) > 0 && got[len(got)-1].Key.Compare(low) < 0 {
			got = got[:len(got)-1]
		}
	} else if int64(len(got)) != p.Limit || p.More != (len(want) > 0 && filter.Page*filter.PageSize < total) {
		t.Errorf("%+v: limit %d, more %v", filter, p.Limit, p.More)
	}
	if !slices.Equal(want, got) {
		t.Errorf("%+v (-want +got):\n%s", filter, cmp.Diff(want, got))
	}
}

// checkIndex compares all counts of an index with the orders of a source.
func checkIndex(t *testing.T, x *Index, s *fakeSource) {
	t.Helper()
	checkBuckets(t, &x.buckets, s.sorted(func(OrderState) bool { return true }))
}

// TestLocateAt locates pages as of events that were applied a while ago: where
// they were then.
func TestLocateAt(t *testing.T) {
	t.Parallel()
	source := newFakeSource()
	x := NewIndex(smallSizes)
	if _, ok := x.LocateAt(order.NewFilter(), order.DataVersion{}); ok {
		t.Error("an index that is not loaded has a position")
	}
	testenv.NoError(t, x.Load(nil, order.DataVersion{}))
	const events = 3 * maxRecent
	for range events {
		switch id := int64(len(source.orders)); {
		case id < 5 || source.random.IntN(2) == 0:
			source.create((today-order.Day(source.random.IntN(6))).Start().Unix()+id, order.Registered)
		case source.random.IntN(2) == 0:
			source.transition(1+source.random.Int64N(id), order.InProcessing)
		default:
			source.upload(id)
		}
		if !x.Apply(source.events[len(source.events)-1]) {
			t.Fatalf("event %v is not applied to %v", source.version(), x.version)
		}
	}
	for event := range int64(events + 2) {
		version := order.DataVersion{Event: event}
		if event > 0 && event <= events {
			version = source.events[event-1].Version
		}
		for _, filter := range testFilters() {
			p, ok := x.LocateAt(filter, version)
			if want := event >= events-maxRecent && event <= events; ok != want {
				t.Fatalf("known as of event %d of %d: %v, want %v", event, events, ok, want)
			}
			if ok {
				checkPosition(t, source.asOf(event), filter, p)
			}
		}
		if event > 0 && event <= events {
			version.Nonce++
			if _, ok := x.LocateAt(order.NewFilter(), version); ok {
				t.Errorf("a version of another history is known: %v", version)
			}
		}
	}
	checkIndex(t, x, source)
}

func TestApplyNextEventOnly(t *testing.T) {
	t.Parallel()
	source := newFakeSource()
	source.fill(10)
	x := NewIndex(smallSizes)
	if x.Apply(source.events[0]) {
		t.Error("an index that is not loaded applies an event")
	}
	days, version, _ := source.asOf(5).DayCounts(t.Context())
	testenv.NoError(t, x.Load(days, version))
	for event, want := range map[int]bool{5: false, 7: false, 8: false} {
		if got := x.Apply(source.events[event-1]); got != want {
			t.Errorf("event %d after 5 is applied: %v", event, got)
		}
	}
	if got := x.version; got != version {
		t.Errorf("version %v, want %v", got, version)
	}
	if !x.Apply(source.events[5]) {
		t.Error("event 6 after 5 is not applied")
	}
	checkIndex(t, x, source.asOf(6))
}

func TestLoadUnknownState(t *testing.T) {
	t.Parallel()
	x := NewIndex(smallSizes)
	version := order.DataVersion{Event: 7, Nonce: 1}
	testenv.NoError(t, x.Load([]DayCount{{today, order.Registered, 5}}, version))
	err := x.Load([]DayCount{{today, order.Registered, 6}, {today, 99, 1}}, order.DataVersion{Event: 8})
	if err == nil || !strings.Contains(err.Error(), "state 99") {
		t.Errorf("error %v", err)
	}
	if p := x.Locate(order.NewFilter()); p.Total != 5 || p.Version != version {
		t.Errorf("%+v after a failed load", p)
	}
	x.Reset()
	if x.loaded || x.Buckets() != 0 {
		t.Error("the index is loaded after Reset")
	}
}

// splitAll splits buckets until no page of a filter needs another split.
func splitAll(t *testing.T, x *Index, s *fakeSource, filter order.Filter) {
	t.Helper()
	splits := 0
	for p := x.Locate(filter); p.split != nil; p = x.Locate(filter) {
		if splits++; splits > len(s.orders) {
			t.Fatalf("split again and again: %+v", *p.split)
		}
		keys, err := s.Keys(t.Context(), *p.split)
		testenv.NoError(t, err)
		if split, err := x.Split(*p.split, keys); !split || err != nil {
			t.Fatalf("split %v, error %v", split, err)
		}
	}
}

// FuzzIndex runs operations on an index and on a plain list of orders and
// compares the two. Each byte is one operation.
func FuzzIndex(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		operations := make([]byte, 300)
		for i := range operations {
			operations[i] = byte(random.IntN(256))
		}
		f.Add(operations)
	}
	f.Fuzz(func(t *testing.T, operations []byte) {
		source := newFakeSource()
		x := NewIndex(smallSizes)
		testenv.NoError(t, x.Load(nil, order.DataVersion{}))
		filters := testFilters()
		inside := filters[len(filters)-1] // days that begin and end inside of those in UTC
		inside.AnyState, inside.From, inside.To, inside.Zone = true, today-1, today-1, time.FixedZone("", -300)
		filters = append(filters, inside)
		for i, op := range operations[:min(len(operations), 500)] {
			argument, orders := int64(op/8), int64(len(source.orders))
			before := len(source.events)
			switch filter := filters[argument%int64(len(filters))]; {
			case op%8 < 3 || orders == 0:
				source.create((today-order.Day(argument%3)).Start().Unix()+argument*argument%50, order.Registered)
			case op%8 < 5:
				source.transition(1+(argument*7+int64(i))%orders, order.States()[(argument+int64(i))%11])
			case op%8 == 5:
				source.upload(1 + argument%orders)
			default:
				filter.Page = 1 + argument%7
				splitAll(t, x, source, filter)
				checkPosition(t, source, filter, x.Locate(filter))
				event := max(0, int64(before)-argument%4)
				if event > 0 {
					if p, ok := x.LocateAt(filter, source.events[event-1].Version); ok {
						checkPosition(t, source.asOf(event), filter, p)
					}
				}
			}
			for _, d := range source.events[before:] {
				if !x.Apply(d) {
					t.Fatalf("event %v is not applied to %v", d.Version, x.version)
				}
			}
		}
		checkIndex(t, x, source)
		for i, filter := range filters {
			if t.Failed() {
				t.Fatal(fmt.Sprint("before filter ", i))
			}
			splitAll(t, x, source, filter)
			checkPosition(t, source, filter, x.Locate(filter))
		}
	})
}

// TestLocatePastTheEnd asks for pages whose number times their size does not
// fit 64 bits.
func TestLocatePastTheEnd(t *testing.T) {
	t.Parallel()
	x := NewIndex(smallSizes)
	testenv.NoError(t, x.Load([]DayCount{{today, order.Registered, 5}}, order.DataVersion{Event: 5}))
	filter := order.NewFilter()
	for _, filter.Page = range []int64{2, 1 << 40, 1 << 60, math.MaxInt64} {
		if p := x.Locate(filter); p.Total != 5 || p.Limit != 0 || p.More {
			t.Errorf("page %d: %+v", filter.Page, p)
		}
	}
}
