package pageindex

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// generated is a Source of many orders. A higher legacy id has a higher key, and
// successive orders have successive states.
type generated struct {
	name      string
	orders    int64
	createdAt func(rank int64) int64 // the rank of the oldest is 0
}

const threeYears = 3 * 365 * 86400

var layouts = []*generated{
	{"1000 in three years", 1_000, spread(1_000, threeYears)},
	{"200000 in three years", 200_000, spread(200_000, threeYears)},
	{"1000000 in three years", 1_000_000, spread(1_000_000, threeYears)},
	{"1000000 on one day", 1_000_000, spread(1_000_000, 86400)},
	{"1000000 in one second", 1_000_000, spread(1_000_000, 1)},
}

func spread(orders, seconds int64) func(int64) int64 {
	return func(rank int64) int64 { return StartOfDay(today).CreatedAt + rank*seconds/orders }
}

func (g *generated) order(rank int64) OrderState {
	return OrderState{Key{g.createdAt(rank), rank + 1}, order.States()[rank%10]}
}

func (g *generated) Version(context.Context) (order.DataVersion, error) {
	return order.DataVersion{Event: g.orders}, nil
}

func (g *generated) DayCounts(ctx context.Context) ([]DayCount, order.DataVersion, error) {
	var days []DayCount
	var counts stateCounts
	for rank := range g.orders {
		o := g.order(rank)
		counts[o.State]++
		if rank+1 < g.orders && g.order(rank+1).Key.day() == o.Key.day() {
			continue
		}
		for _, state := range order.States() {
			if counts[state] > 0 {
				days = append(days, DayCount{o.Key.day(), state, counts[state]})
			}
		}
		counts = stateCounts{}
	}
	version, err := g.Version(ctx)
	return days, version, err
}

func (g *generated) Deltas(context.Context, int64, bool) ([]Delta, error) { return nil, nil }

// rank returns the rank of the first order with a key or a higher one.
func (g *generated) rank(k Key) int64 {
	return int64(sort.Search(int(g.orders), func(i int) bool { return g.order(int64(i)).Key.Compare(k) >= 0 }))
}

func (g *generated) Keys(ctx context.Context, r SplitRange) (Keys, error) {
	first, end := g.rank(r.Low), g.rank(r.High)
	orders := make([]OrderState, 0, r.Limit)
	for i := range min(r.Limit, end-first) {
		rank := end - 1 - i
		if r.Ascending {
			rank = first + i
		}
		orders = append(orders, g.order(rank))
	}
	version, err := g.Version(ctx)
	return Keys{orders, version}, err
}

// indexed returns an index of all orders whose buckets are all split.
func (g *generated) indexed(b *testing.B) *Shared {
	b.Helper()
	shared := NewShared(DefaultSizes)
	filter := order.NewFilter()
	for filter.Page = 1; filter.Page <= g.orders/10; filter.Page++ {
		if _, err := shared.Locate(b.Context(), g, filter); err != nil {
			b.Fatal(err)
		}
	}
	return shared
}

func onLayouts(b *testing.B, run func(*testing.B, *generated, *Shared)) {
	for _, g := range layouts {
		b.Run(g.name, func(b *testing.B) {
			shared := g.indexed(b)
			b.ReportAllocs()
			run(b, g, shared)
			b.ReportMetric(float64(shared.index.Buckets()), "buckets")
		})
	}
}

// BenchmarkLocate locates pages in memory, with all buckets split.
func BenchmarkLocate(b *testing.B) {
	one, three := []order.State{order.PickedByCourier}, order.StatesOfCode('C')
	for _, test := range []struct {
		name   string
		states []order.State
	}{{"any state", nil}, {"one state", one}, {"three states", three}} {
		b.Run(test.name, func(b *testing.B) {
			onLayouts(b, func(b *testing.B, g *generated, shared *Shared) {
				filter := order.NewFilter()
				filter.AnyState, filter.States = test.states == nil, test.states
				pages := max(1, g.orders*int64(max(1, len(test.states)))/100)
				if filter.AnyState {
					pages = g.orders / 10
				}
				for b.Loop() {
					filter.Page = 1 + rand.Int64N(pages)
					shared.locate(filter)
				}
			})
		})
	}
}

// BenchmarkLocateDays locates pages of the orders of 300 days.
func BenchmarkLocateDays(b *testing.B) {
	onLayouts(b, func(b *testing.B, _ *generated, shared *Shared) {
		filter := order.NewFilter()
		filter.AnyState, filter.States = false, []order.State{order.PickedByCourier}
		filter.From, filter.To = today+100, today+400
		for b.Loop() {
			shared.locate(filter)
		}
	})
}

// BenchmarkApply applies transitions of any order.
func BenchmarkApply(b *testing.B) {
	onLayouts(b, func(b *testing.B, g *generated, shared *Shared) {
		for b.Loop() {
			o := g.order(rand.Int64N(g.orders))
			d := Delta{order.DataVersion{Event: shared.index.version.Event + 1}, o.Key, o.State, order.Completed}
			if !shared.index.Apply(d) {
				b.Fatal("an event is not applied")
			}
		}
	})
}

// BenchmarkLocateAt locates the first page as of some events ago.
func BenchmarkLocateAt(b *testing.B) {
	g := layouts[1]
	for _, events := range []int64{0, 1, 10} {
		b.Run(fmt.Sprint(events, " events ago"), func(b *testing.B) {
			shared := g.indexed(b)
			for event := range int64(maxRecent) {
				o := g.order(rand.Int64N(g.orders))
				shared.index.Apply(Delta{order.DataVersion{Event: g.orders + event + 1}, o.Key, o.State, order.Completed})
			}
			version := shared.index.version
			version.Event -= events
			for b.Loop() {
				if _, ok := shared.LocateAt(order.NewFilter(), version); !ok {
					b.Fatal("the version is not known")
				}
			}
		})
	}
}

// BenchmarkSplit splits a bucket of 50,000 orders by keys that have been read.
func BenchmarkSplit(b *testing.B) {
	g := layouts[3]
	days, version, _ := g.DayCounts(b.Context())
	r := SplitRange{Low: StartOfDay(today), High: StartOfDay(today + 1), Limit: DefaultSizes.MaxKeys, bucketOrders: 32}
	keys, _ := g.Keys(b.Context(), r)
	for b.Loop() {
		x := NewIndex(DefaultSizes)
		testenv.NoError(b, x.Load(days, version))
		if split, err := x.Split(r, keys); !split || err != nil {
			b.Fatal(split, err)
		}
	}
}
