package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// model is the plainest list there could be: every order of a merchant, gone
// through from the first to the last.
type model struct {
	orders []order.Summary // newest first
}

func (m *model) put(o order.Order, number int64) {
	m.orders = append(m.orders, order.Summary{
		LegacyID: number, Reference: o.Reference, State: o.State, Currency: o.Currency, CountryCode: o.CountryCode,
		CreatedAt: o.CreatedAt, UpdatedAt: o.UpdatedAt, Total: o.Total, HasInvoice: o.InvoiceDetails != nil, Customer: o.Customer,
	})
}

func (m *model) sort() {
	slices.SortFunc(m.orders, func(x, y order.Summary) int {
		if c := y.CreatedAt.Compare(x.CreatedAt); c != 0 {
			return c
		}
		return int(y.LegacyID - x.LegacyID)
	})
}

// matching returns the orders of a filter.
func (m *model) matching(filter order.Filter) (all []order.Summary) {
	for _, o := range m.orders {
		day := order.DayIn(o.CreatedAt, filter.Zone)
		if (filter.AnyState || slices.Contains(filter.States, o.State)) &&
			(filter.From == order.NoDay || day >= filter.From) && (filter.To == order.NoDay || day <= filter.To) {
			all = append(all, o)
		}
	}
	return all
}

// page is what a list must show.
func (m *model) page(filter order.Filter) order.Page {
	all := m.matching(filter)
	page := order.Page{Total: int64(len(all))}
	if filter.Page-1 <= page.Total/filter.PageSize {
		begin := min((filter.Page-1)*filter.PageSize, page.Total)
		end := min(begin+filter.PageSize, page.Total)
		page.Orders = all[begin:end]
		if begin < end && end < page.Total {
			page.Next = &order.Cursor{CreatedAt: all[end-1].CreatedAt, LegacyID: all[end-1].LegacyID}
		}
	}
	return page
}

// compare lists by a filter and compares with the model.
func (m *model) compare(f *fixture, store Store, merchantID int64, filter order.Filter) {
	f.Helper()
	got, err := store.List(f.Context(), merchantID, filter)
	if err != nil {
		f.Fatalf("list %+v: %v", filter, err)
	}
	versions := testenv.Of(store.DataVersions(f.Context(), []int64{merchantID})).Must(f)
	want := m.page(filter)
	want.Version = versions[merchantID]
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.Fatalf("list of merchant %d by %s (-want +got):\n%s", merchantID, describe(filter), diff)
	}
}

// compareSums adds up the totals of a filter's orders and compares with the model.
func (m *model) compareSums(f *fixture, store Store, merchantID int64, filter order.Filter) {
	f.Helper()
	all, sums := m.matching(filter), make(map[string]int64)
	for _, o := range all {
		sums[o.Currency] += o.Total
	}
	var want []order.Amount
	for _, currency := range slices.Sorted(maps.Keys(sums)) {
		want = append(want, order.Amount{Amount: sums[currency], Currency: currency})
	}
	for most, want := range map[int][]order.Amount{len(all): want, len(all) - 1: nil} {
		got, err := store.Sums(f.Context(), merchantID, filter, most)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" && len(all) > 0 {
			f.Fatalf("sums of merchant %d by %s of at most %d orders: error %v (-want +got):\n%s", merchantID, describe(filter), most, err, diff)
		}
	}
}

// compareDays counts the orders of some days of a filter, in its time zone, and compares
// with the model.
func (m *model) compareDays(f *fixture, store Store, merchantID int64, filter order.Filter) {
	f.Helper()
	if filter.From == order.NoDay {
		return
	}
	days := order.Filter{From: filter.From, To: filter.From + 2, Zone: filter.Zone}
	var want []order.DayCount
	for day := days.From; day <= days.To; day++ {
		for _, state := range order.States() {
			one := order.NewFilter()
			one.AnyState, one.States, one.From, one.To, one.Zone = false, []order.State{state}, day, day, days.Zone
			if n := m.page(one).Total; n > 0 {
				want = append(want, order.DayCount{Day: day, State: state, Orders: n})
			}
		}
	}
	testenv.Of(store.DayCounts(f.Context(), merchantID, days)).Want(f, fmt.Sprintf("counts of %v to %v in %v", days.From, days.To, days.Zone), want)
}

func describe(filter order.Filter) string {
	return fmt.Sprintf("any state %v, states %v, days %v to %v in %v, page %d of %d",
		filter.AnyState, filter.States, filter.From, filter.To, filter.Zone, filter.Page, filter.PageSize)
}

// dice makes orders and filters at random, the same in each run.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 0))} }

// manyDays are days on which orders are created: few, so that several fall on one,
// some long ago and some far ahead.
var manyDays = func() []order.Day {
	days := []order.Day{order.DayOf(time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)), -20000, -2, -1, 0, 1, 400000,
		order.DayOf(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC))}
	for day := range order.Day(20) {
		days = append(days, order.DayOf(noon)-day)
	}
	return days
}()

// moment is a second of one of the days, often one of a few.
func (d dice) moment(days []order.Day) time.Time {
	seconds := []int{0, 1, 43200, 86399, d.IntN(86400)}
	return days[d.IntN(len(days))].Start().Add(time.Duration(seconds[d.IntN(len(seconds))]) * time.Second)
}

func (d dice) state() order.State {
	all := order.States()
	return all[d.IntN(len(all))]
}

// zone is UTC, or a time zone ahead of it or behind it.
func (d dice) zone() *time.Location {
	zone, err := order.LoadTimeZone([]string{"Europe/Athens", "America/St_Johns", "UTC", "UTC"}[d.IntN(4)])
	if err != nil {
		panic(err)
	}
	return zone
}

// filter returns a random filter.
func (d dice) filter(days []order.Day) order.Filter {
	filter := order.NewFilter()
	filter.PageSize = []int64{1, 2, 7, 10, 50, order.MaxPageSize}[d.IntN(6)]
	filter.Page = 1 + int64(d.IntN(12))
	if d.IntN(4) == 0 {
		filter.Page = 1
	}
	switch d.IntN(6) {
	case 0, 1: // any
	case 2, 3:
		filter.AnyState, filter.States = false, []order.State{d.state()}
	case 4:
		code := "OGHJSLDIC"[d.IntN(9)]
		filter.AnyState, filter.States = false, order.StatesOfCode(code)
	case 5:
		states := order.States()
		d.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
		filter.AnyState, filter.States = false, states[:d.IntN(len(states))]
	}
	filter.Zone = d.zone()
	if d.IntN(2) == 0 {
		filter.From = days[d.IntN(len(days))] + order.Day(d.IntN(3)-1)
	}
	if d.IntN(2) == 0 {
		filter.To = days[d.IntN(len(days))] + order.Day(d.IntN(3)-1)
	}
	return filter
}
