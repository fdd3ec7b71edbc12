package store

import (
	"math/rand/v2"
	"testing"

	"merchantorders/internal/order"
)

// BenchmarkFeed reads events of a merchant with many, and the number that
// those who wait are watched by.
func BenchmarkFeed(b *testing.B) {
	const size = 50_000
	db := benchDatabase(b)
	fill(b, db, 1, size)
	for name, read := range map[string]func() (int, error){
		"100 from anywhere": func() (int, error) {
			feed, err := db.Events(b.Context(), 1, rand.Int64N(size-100), 100)
			return len(feed.Events), err
		},
		"1000 from anywhere": func() (int, error) {
			feed, err := db.Events(b.Context(), 1, rand.Int64N(size-1000), 1000)
			return len(feed.Events), err
		},
		"history of an order": func() (int, error) {
			events, err := db.OrderEvents(b.Context(), 1, order.ByLegacyID(1+rand.Int64N(size)), 0, 100)
			return len(events), err
		},
		"newest": func() (int, error) {
			versions, err := db.DataVersions(b.Context(), []int64{1})
			return int(versions[1].Event), err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := read(); n == 0 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
