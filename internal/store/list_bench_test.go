package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"merchantorders/internal/order"
)

// BenchmarkList reads pages of a merchant with few and of one with many orders:
// the figures of both should be alike.
func BenchmarkList(b *testing.B) {
	db := benchDatabase(b)
	if err := addTestMerchant(b.Context(), db, 2); err != nil {
		b.Fatal(err)
	}
	sizes := map[int64]int{1: 1_000, 2: 200_000}
	for id, size := range sizes {
		fill(b, db, id, size)
	}
	for id := int64(1); id <= 2; id++ {
		size := sizes[id]
		for _, test := range []struct {
			name   string
			filter func(*order.Filter)
		}{
			{"first page of 10", func(*order.Filter) {}},
			{"first page of 100", func(f *order.Filter) { f.Size = 100 }},
			{"any page of 10", func(f *order.Filter) { f.Page = 1 + rand.Int64N(int64(size)/10) }},
			{"last page of 10", func(f *order.Filter) { f.Page = int64(size) / 10 }},
			{"one state", func(f *order.Filter) { f.AnyState, f.States = false, []order.State{order.PickedByCourier} }},
			{"three states", func(f *order.Filter) { f.AnyState, f.States = false, order.StatesOfCode('C') }},
			{"a month", func(f *order.Filter) {
				f.To = order.DayOf(testTime) - order.Day(rand.IntN(1000))
				f.From = f.To - 30
			}},
			{"a month, one state", func(f *order.Filter) {
				f.To = order.DayOf(testTime) - order.Day(rand.IntN(1000))
				f.From, f.AnyState, f.States = f.To-30, false, []order.State{order.Completed}
			}},
			{"past the end", func(f *order.Filter) { f.Page = 1 << 40 }},
		} {
			b.Run(fmt.Sprintf("%s/of %d", test.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					filter := order.NewFilter()
					test.filter(&filter)
					if _, err := db.List(b.Context(), id, filter); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkListBesideMoves reads the first page after each move: what it costs
// to bring the counts up to date.
func BenchmarkListBesideMoves(b *testing.B) {
	db := benchDatabase(b)
	numbers := fill(b, db, 1, 20_000)
	states := order.States()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		b.StopTimer()
		if err := moveTest(b.Context(), db, 1, numbers[i*7919%len(numbers)], states[i%len(states)]); err != nil {
			b.Fatal(err)
		}
		i++
		b.StartTimer()
		if _, err := db.List(b.Context(), 1, order.NewFilter()); err != nil {
			b.Fatal(err)
		}
	}
}
