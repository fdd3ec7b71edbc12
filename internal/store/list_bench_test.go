package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderpb"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// layout is a number of orders of a merchant and the distribution of their
// creation times.
type layout struct {
	name      string
	orders    int64
	createdAt string // SQL expression of the rank i, which is 0 for the oldest order
}

// day0 is the first second of the day on which the newest orders were created.
var day0 = order.DayOf(testTime).Start().Unix()

var layouts = []layout{
	{"1000 in three years", 1_000, fmt.Sprintf("%d - 94608000 + i * 94608", day0)},
	{"200000 in three years", 200_000, fmt.Sprintf("%d - 94608000 + i * 94608 / 200", day0)},
	{"1000000 in three years", 1_000_000, fmt.Sprintf("%d - 94608000 + i * 94608 / 1000", day0)},
	{"1000000 on one day", 1_000_000, fmt.Sprintf("%d + i * 864 / 10000", day0)},
	{"1000000 in one second", 1_000_000, fmt.Sprintf("%d + i * 0", day0)},
}

// rare is a state that ten orders of a layout are in.
const rare = order.ReturnCanceled

// fillLayout inserts the orders of a layout for merchant 1 by SQL. A million
// takes half a minute.
func fillLayout(b *testing.B, db *DB, l layout) {
	b.Helper()
	testenv.NoError(b, addTestMerchant(b.Context(), db, 1))
	sample := testOrder(1, "R").Order
	details, err := orderpb.EncodeDetails(&sample)
	testenv.NoError(b, err)
	change(b, db, `INSERT INTO orders (merchant_id, legacy_id, reference, state, created_at, updated_at,
			currency, country_code, total, has_invoice, user_id, email, phone, first_name, last_name, company,
			revision, active_invoices, digest, details)
		WITH RECURSIVE ranks(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM ranks WHERE i + 1 < $1)
		SELECT 1, 1 + i, 'R-' || CAST(i AS TEXT), CASE WHEN i % ($1 / 10) = 5 THEN `+literal(rare)+` ELSE 1 + i % 10 END,
			`+l.createdAt+`, NULL, 'EUR', 'GR', 3180, 1, 222039, 'buyer@example.com', '2100000000', 'Maria', 'Papadopoulou', '', 1, 0, $2, $3
		FROM ranks`, l.orders, []byte{0}, details)
	change(b, db, `INSERT INTO order_days (merchant_id, day, state, orders)
		SELECT merchant_id, created_at / 86400, state, COUNT(*) FROM orders WHERE merchant_id = 1 GROUP BY 1, 2, 3`)
	change(b, db, `UPDATE merchants SET last_event = 1 WHERE id = 1`)
	if db.dialect.Clustered {
		if _, err := db.sql.WithoutTimeout().Exec(b.Context(), `VACUUM ANALYZE`); err != nil {
			b.Fatal(err)
		}
	}
}

// filledDB is a database with the orders of a layout, created when a benchmark
// first uses it.
type filledDB struct {
	layout
	parent *testing.B // the database is open until its end
	create func(*testing.B) *DB
	db     *DB // nil: not created yet
}

func (l *filledDB) open(b *testing.B) *DB {
	b.Helper()
	if l.db == nil {
		l.db = l.create(l.parent)
		fillLayout(b, l.db, l.layout)
	}
	return l.db
}

// onLayouts runs a benchmark on both databases with all layouts.
func onLayouts(b *testing.B, run func(*testing.B, []*filledDB)) {
	for _, on := range []struct {
		name string
		open func(*testing.B) *DB
	}{
		{"SQLite", func(b *testing.B) *DB { return openTest(b, filepath.Join(b.TempDir(), "orders.db")) }},
		{"PostgreSQL", func(b *testing.B) *DB { return openPostgresTest(b, pgtest.Database(b)) }},
	} {
		b.Run(on.name, func(b *testing.B) {
			all := make([]*filledDB, len(layouts))
			for i, l := range layouts {
				all[i] = &filledDB{layout: l, parent: b, create: on.open}
			}
			run(b, all)
		})
	}
}

// splitAll splits the days of merchant 1 until every page has a small offset.
func splitAll(b *testing.B, db *DB, l layout) {
	b.Helper()
	filter := order.NewFilter()
	for filter.Page = 1; filter.Page <= l.orders/10; filter.Page++ {
		if _, err := db.indexes.Get(1).Locate(b.Context(), indexSource{db.sql, 1}, filter); err != nil {
			b.Fatal(err)
		}
	}
}

// listCase is a list that a benchmark requests repeatedly.
type listCase struct {
	name   string
	filter func(*order.Filter, layout)
}

func inStates(f *order.Filter, states ...order.State) { f.AnyState, f.States = false, states }

var listCases = []listCase{
	{"first page", func(*order.Filter, layout) {}},
	{"first page of 100", func(f *order.Filter, _ layout) { f.PageSize = 100 }},
	{"middle page", func(f *order.Filter, l layout) { f.Page = l.orders / 20 }},
	{"last page", func(f *order.Filter, l layout) { f.Page = l.orders / 10 }},
	{"any page", func(f *order.Filter, l layout) { f.Page = 1 + rand.Int64N(l.orders/10) }},
	{"one state", func(f *order.Filter, _ layout) { inStates(f, order.PickedByCourier) }},
	{"one state, middle", func(f *order.Filter, l layout) {
		inStates(f, order.PickedByCourier)
		f.Page = l.orders / 200
	}},
	{"one state, dates", func(f *order.Filter, _ layout) {
		inStates(f, order.PickedByCourier)
		f.From, f.To = order.DayOf(testTime)-300, order.DayOf(testTime)
	}},
	{"rare state", func(f *order.Filter, _ layout) { inStates(f, rare) }},
	{"three states", func(f *order.Filter, _ layout) { inStates(f, order.StatesOfCode('C')...) }},
	{"three states, middle", func(f *order.Filter, l layout) {
		inStates(f, order.StatesOfCode('C')...)
		f.Page = l.orders / 100
	}},
	{"past the end", func(f *order.Filter, _ layout) { f.Page = 1 << 40 }},
}

// BenchmarkList reads pages of a merchant with few and with many orders. The
// times of one case should be about equal.
func BenchmarkList(b *testing.B) {
	onLayouts(b, func(b *testing.B, all []*filledDB) {
		for _, test := range listCases {
			b.Run(test.name, func(b *testing.B) {
				for _, l := range all {
					b.Run(l.name, func(b *testing.B) {
						db := l.open(b)
						splitAll(b, db, l.layout)
						b.ReportAllocs()
						for b.Loop() {
							filter := order.NewFilter()
							test.filter(&filter, l.layout)
							if _, err := db.List(b.Context(), 1, filter); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			})
		}
	})
}

// BenchmarkListGrowth alternates between the layouts while it reads the same
// page, so that other load on the machine affects all of them. It reports the
// median of each layout as a multiple of that of the first.
func BenchmarkListGrowth(b *testing.B) {
	onLayouts(b, func(b *testing.B, all []*filledDB) {
		for _, test := range listCases {
			b.Run(test.name, func(b *testing.B) {
				for _, l := range all {
					splitAll(b, l.open(b), l.layout)
				}
				took := make([][]float64, len(all))
				for b.Loop() {
					for i, l := range all {
						filter := order.NewFilter()
						test.filter(&filter, l.layout)
						start := time.Now()
						if _, err := l.open(b).List(b.Context(), 1, filter); err != nil {
							b.Fatal(err)
						}
						took[i] = append(took[i], float64(time.Since(start).Nanoseconds())/1000)
					}
				}
				first := 0.0
				for i, l := range all {
					slices.Sort(took[i])
					median := took[i][len(took[i])/2]
					if i == 0 {
						first = median
						b.ReportMetric(median, "µs:"+strings.ReplaceAll(l.name, " ", "-"))
						continue
					}
					b.ReportMetric(median/first, "x:"+strings.ReplaceAll(l.name, " ", "-"))
				}
			})
		}
	})
}

// BenchmarkListNotSplit reads pages with an empty index, which it has to load
// and to split.
func BenchmarkListNotSplit(b *testing.B) {
	onLayouts(b, func(b *testing.B, all []*filledDB) {
		for _, test := range []listCase{
			{"first page", func(*order.Filter, layout) {}},
			{"page 100", func(f *order.Filter, _ layout) { f.Page = 100 }},
			{"middle page", func(f *order.Filter, l layout) { f.Page = l.orders / 20 }},
			{"last page", func(f *order.Filter, l layout) { f.Page = l.orders / 10 }},
		} {
			for _, l := range all {
				b.Run(test.name+"/"+l.name, func(b *testing.B) {
					db := l.open(b)
					filter := order.NewFilter()
					test.filter(&filter, l.layout)
					for b.Loop() {
						db.indexes = pageindex.NewCache(pageindex.DefaultSizes, pageindex.DefaultMaxWeight)
						if _, err := db.List(b.Context(), 1, filter); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	})
}

// BenchmarkListBesideTransitions reads the first page after each transition,
// with a refresh of the index.
func BenchmarkListBesideTransitions(b *testing.B) {
	db := benchDatabase(b)
	numbers := fill(b, db, 1, 20_000)
	states := order.States()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		b.StopTimer()
		testenv.NoError(b, transitionTest(b.Context(), db, 1, numbers[i*7919%len(numbers)], states[i%len(states)]))
		i++
		b.StartTimer()
		if _, err := db.List(b.Context(), 1, order.NewFilter()); err != nil {
			b.Fatal(err)
		}
	}
}
