package storetest

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var listSubjects = []subject{
	{"lists/like the model, beside changes", testListModel},
	{"lists/one day", testListOneDay},
	{"lists/one second", testListOneSecond},
	{"lists/every page of full days, beside changes", testListEveryPage},
	{"lists/two years", testListYears},
	{"lists/edges", testListEdges},
	{"lists/nothing there", testListNothing},
	{"lists/page after page", func(f *fixture) { testListWalk(f, newBook(f, 9, manyDays)) }},
	{"lists/page after page, in one second", func(f *fixture) { testListWalk(f, newSecond(f, 10)) }},
	{"lists/page and total agree", func(f *fixture) { testListConsistent(f, newBook(f, 6, manyDays)) }},
	{"lists/page and total agree, on one day", func(f *fixture) { testListConsistent(f, newBook(f, 7, manyDays[8:9])) }},
	{"lists/page and total agree, in one second", func(f *fixture) { testListConsistent(f, newSecond(f, 8)) }},
}

// book is a merchant's orders in the database and in the model.
type book struct {
	*fixture
	dice
	model
	days   []order.Day
	second bool // every order is created at noon
	made   int
}

func newBook(f *fixture, seed uint64, days []order.Day) *book {
	return &book{fixture: f, dice: newDice(seed), days: days}
}

// newSecond is a book whose orders are all created in one second.
func newSecond(f *fixture, seed uint64) *book {
	b := newBook(f, seed, []order.Day{order.DayOf(noon)})
	b.second = true
	return b
}

// grow imports n more orders.
func (b *book) grow(store Store, n int) {
	b.Helper()
	batch := make([]order.Incoming, n)
	for i := range batch {
		b.made++
		o := dated(alpha, fmt.Sprintf("R-%d", b.made), b.moment(b.days), b.state())
		if b.second {
			o.CreatedAt = noon
		}
		if b.IntN(3) == 0 {
			o.InvoiceDetails, o.Customer.Phone = &order.InvoiceDetails{VATNumber: "1"}, given("2100000000")
			o.UpdatedAt = noon.Add(time.Hour)
		}
		batch[i] = incoming(o)
	}
	for i, result := range b.add(store, batch...) {
		if result.Status != order.Created {
			b.Fatalf("order is %v: %s", result.Status, result.Reason)
		}
		b.put(batch[i].Order, result.LegacyID)
	}
	b.sort()
}

// move moves one order, in the database and in the model.
func (b *book) move(store Store) {
	b.Helper()
	o, to, at := &b.model.orders[b.IntN(len(b.model.orders))], b.state(), noon.Add(time.Duration(b.IntN(1000))*time.Second)
	if err := transitionTo(b.Context(), store, alpha, o.LegacyID, to, at); err != nil {
		b.Fatalf("move order %d: %v", o.LegacyID, err)
	}
	o.State, o.UpdatedAt = to, at
}

// compareSome compares a number of lists through both handles.
func (b *book) compareSome(n int) {
	b.Helper()
	for range n {
		filter := b.filter(b.days)
		b.compare(b.fixture, b.a, alpha, filter)
		b.compare(b.fixture, b.b, alpha, filter)
		b.compareSums(b.fixture, b.a, alpha, b.filter(b.days))
		b.compareDays(b.fixture, b.a, alpha, filter)
	}
}

func testListModel(f *fixture) {
	b := newBook(f, 1, manyDays)
	for range 4 {
		b.grow(f.a, 250)
		b.compareSome(15)
	}
	for range 35 {
		store := []Store{f.a, f.b}[b.IntN(2)]
		switch b.IntN(4) {
		case 0:
			b.grow(store, 1+b.IntN(20))
		case 1:
			// Changes of another merchant must not matter.
			f.add(store, incoming(minimal(beta, fmt.Sprintf("OTHER-%d", b.made))))
			b.made++
		default:
			for range 1 + b.IntN(5) {
				b.move(store)
			}
		}
		b.compareSome(4)
	}
}

func testListOneDay(f *fixture) {
	b := newBook(f, 2, []order.Day{order.DayOf(noon)})
	b.grow(f.a, 300)
	b.compareSome(40)
	for _, size := range []int64{1, 99, 100} {
		filter := order.NewFilter()
		filter.PageSize = size
		for filter.Page = 1; (filter.Page-1)*size <= 310; filter.Page += 1 + 30/size {
			b.compare(f, f.b, alpha, filter)
		}
	}
}

func testListOneSecond(f *fixture) {
	b := newSecond(f, 9)
	b.grow(f.a, 200)
	for range 10 {
		b.compareSome(10)
		b.grow([]Store{f.a, f.b}[b.IntN(2)], 1+b.IntN(20))
		for range 5 {
			b.move([]Store{f.a, f.b}[b.IntN(2)])
		}
	}
}

// testListEveryPage reads every page of some lists of a few days with many
// orders each, while orders change and are added between two pages.
func testListEveryPage(f *fixture) {
	b := newBook(f, 10, manyDays[8:11])
	b.grow(f.a, 600)
	for list := range 12 {
		filter := b.filter(b.days)
		if list < 2 {
			filter = order.NewFilter()
		}
		filter.PageSize = []int64{5, 17, 50}[b.IntN(3)]
		// Beginning at either end.
		backwards := b.IntN(2) == 0
		last := 2 + b.page(filter).Total/filter.PageSize
		for page := range last {
			filter.Page = 1 + page
			if backwards {
				filter.Page = last - page
			}
			store := []Store{f.a, f.b}[b.IntN(2)]
			b.compare(f, store, alpha, filter)
			switch b.IntN(12) {
			case 0:
				b.grow(store, 1+b.IntN(5))
			case 1:
				b.move(store)
			}
		}
	}
}

// testListYears reads pages of more days than are counted at once.
func testListYears(f *fixture) {
	var days []order.Day
	for day := range order.Day(730) {
		days = append(days, order.DayOf(noon)-day)
	}
	b := newBook(f, 13, days)
	b.grow(f.a, 1000)
	filter := order.NewFilter()
	for filter.Page = 1; filter.Page < 102; filter.Page += 4 {
		b.compare(f, f.a, alpha, filter)
	}
	filter.AnyState, filter.States, filter.From = false, order.States()[:5], days[720]
	for filter.Page = 1; filter.Page < 50; filter.Page += 4 {
		b.compare(f, f.a, alpha, filter)
	}
}

func testListEdges(f *fixture) {
	b := newBook(f, 4, manyDays)
	b.grow(f.a, 250)
	first, last := manyDays[0], manyDays[7]
	for _, change := range []func(*order.Filter){
		func(q *order.Filter) { q.Page = 25 },
		func(q *order.Filter) { q.Page = 26 },
		func(q *order.Filter) { q.Page, q.PageSize = 3, 100 },
		func(q *order.Filter) { q.Page, q.PageSize = 4, 100 },
		func(q *order.Filter) { q.Page = 1 << 59 },
		func(q *order.Filter) { q.Page = math.MaxInt64 },
		func(q *order.Filter) { q.Page, q.PageSize = math.MaxInt64, 100 },
		func(q *order.Filter) { q.Page, q.PageSize = math.MaxInt64/100+2, 100 },
		func(q *order.Filter) { q.Page, q.PageSize = 1<<62+1, 4 }, // begins at 0 in 64 bits
		func(q *order.Filter) { q.Page, q.PageSize = 1<<61+2, 8 }, // and at 8
		func(q *order.Filter) { q.AnyState, q.States = false, nil },
		func(q *order.Filter) { q.AnyState, q.States = false, order.States() },
		func(q *order.Filter) { q.From, q.To = first, first },
		func(q *order.Filter) { q.From, q.To = last, last },
		func(q *order.Filter) { q.To = first - 1 },
		func(q *order.Filter) { q.From = last + 1 },
		func(q *order.Filter) { q.From, q.To = 0, -1 },
		func(q *order.Filter) { q.To = math.MaxInt32 },
		func(q *order.Filter) { q.From = math.MaxInt32 },
		func(q *order.Filter) { q.From, q.To = math.MinInt32+1, math.MaxInt32 },
	} {
		filter := order.NewFilter()
		change(&filter)
		b.compare(f, f.a, alpha, filter)
	}
}

func testListNothing(f *fixture) {
	b := newBook(f, 5, manyDays)
	for range 20 {
		filter := b.filter(manyDays)
		if b.IntN(4) == 0 {
			filter.Page = 1 << 59
		}
		b.compare(f, f.a, alpha, filter) // a merchant without orders
		b.compare(f, f.a, 404, filter)   // no merchant
	}
	b.grow(f.b, 1)
	b.compareSome(20)
}

// testListConsistent reads pages while orders change and are added. A page and its
// total must be consistent, whatever happens meanwhile.
func testListConsistent(f *fixture, b *book) {
	b.grow(f.a, 150)
	var done atomic.Bool
	var readers sync.WaitGroup
	for i, store := range []Store{f.a, f.a, f.b} {
		readers.Go(func() {
			f.readPages(store, newDice(uint64(10+i)), b.days, &done)
		})
	}
	for i := range 150 {
		switch i % 10 {
		case 0:
			b.grow([]Store{f.a, f.b}[i/10%2], 1)
		default:
			b.move([]Store{f.a, f.b}[i%2])
		}
	}
	done.Store(true)
	readers.Wait()
	b.compareSome(10)
}

// readPages reads pages until it is stopped, and checks each page.
func (f *fixture) readPages(store Store, dice dice, days []order.Day, done *atomic.Bool) {
	before := int64(0)
	for read := 0; read < 20 || !done.Load(); read++ {
		filter := dice.filter(days)
		if read%2 == 0 {
			filter.AnyState, filter.States, filter.From, filter.To = true, nil, order.NoDay, order.NoDay
		}
		page, err := store.List(f.Context(), alpha, filter)
		if err != nil {
			f.Errorf("list %s: %v", describe(filter), err)
			return
		}
		rows := min(filter.PageSize, max(0, page.Total-(filter.Page-1)*filter.PageSize))
		testenv.Equal(f, fmt.Sprintf("list %s: orders on the page, of %d", describe(filter), page.Total), rows, int64(len(page.Orders)))
		if read%2 == 0 {
			// Orders are added and never removed.
			if page.Total < before {
				f.Errorf("list %s: %d orders in all, there were %d", describe(filter), page.Total, before)
			}
			before = page.Total
		}
		f.checkPage(filter, page)
	}
}

// checkPage checks that what a page shows passes its filter, in the right
// order.
func (f *fixture) checkPage(filter order.Filter, page order.Page) {
	single := model{orders: page.Orders}
	all := filter
	all.Page, all.PageSize = 1, order.MaxPageSize
	testenv.Equal(f, fmt.Sprintf("list %s: %d orders that pass the filter", describe(filter), len(page.Orders)), int64(len(page.Orders)), single.page(all).Total)
	sorted := model{orders: slices.Clone(page.Orders)}
	sorted.sort()
	for i, o := range sorted.orders {
		if o.LegacyID != page.Orders[i].LegacyID || i > 0 && o.LegacyID == sorted.orders[i-1].LegacyID {
			f.Errorf("list %s: order %d comes out of turn or twice", describe(filter), o.LegacyID)
		}
	}
}
