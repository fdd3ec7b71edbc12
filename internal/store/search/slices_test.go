package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// burst returns orders of two merchants, most of which were created within hours of one
// period, and some in two others, one of which is the first since 1970. The last orders
// are newer or older than the rest. Names are of few, e-mail addresses unique.
func burst(r *rand.Rand, n int) []order.Order {
	orders := sampleOrders(n)
	for i := range orders {
		o := &orders[i]
		at := testTime.Unix() - []int64{5, 5, 5, 40 * 86400, testTime.Unix() - 9*86400}[r.IntN(5)] - r.Int64N(3*3600)
		if i >= n-30 {
			at -= []int64{-3600, 3 * 3600}[i%2]
		}
		o.MerchantID, o.State, o.CreatedAt = 7+r.Int64N(2), order.States()[r.IntN(2)], time.Unix(at, 0).UTC()
		o.Customer.FirstName = []string{"Άννα", "Maria", "Μάριος"}[r.IntN(3)]
		o.Customer.LastName = fmt.Sprint("Παπα", r.IntN(8), " Νίκος", r.IntN(40))
		o.Customer.Email = fmt.Sprintf("m%d@example.com", i)
	}
	return orders
}

// TestLimits compares searches with their results if the pages may read few words only,
// so that periods are read in slices, and slices are divided.
func TestLimits(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	r := rand.New(rand.NewPCG(22, 11))
	orders := burst(r, 1200)
	all := fill(t, db, orders)
	slices.SortFunc(orders, func(a, b order.Order) int {
		return new(reader).compare(Key{At: a.CreatedAt.Unix(), LegacyID: a.LegacyID}, Key{At: b.CreatedAt.Unix(), LegacyID: b.LegacyID})
	})
	limits := []wordLimits{
		{words: 4000, termWords: 200, rangeWords: 40, texts: 60},
		{words: 4000, termWords: 60, rangeWords: 20, texts: 10},
		{words: 300, termWords: 60, rangeWords: 3, texts: 128},
		{words: 100, termWords: 60, rangeWords: 200, texts: 2},
	}
	for _, name := range []string{"παπα", "μαρι", "παπα3", "Νίκος", "νικοσ1", "Άννα παπα", "maria παπα1", "νικος17", "nobody"} {
		for range 4 {
			request := order.Search{Name: name, From: order.NoDay, To: order.NoDay, Limit: []int{7, 20, 100}[r.IntN(3)]}
			if r.IntN(3) == 0 {
				request.MerchantID = 8
			}
			if r.IntN(3) == 0 {
				request.States = order.States()[:1]
			}
			if r.IntN(4) == 0 {
				request.To = order.DayOf(testTime.AddDate(0, 0, -r.IntN(60)))
			}
			if r.IntN(4) == 0 {
				request.Name, request.Text = "", name
			}
			comparePages(t, db, all, request, limits[r.IntN(len(limits))], orders)
		}
	}
}

// comparePages compares all pages of a search with the orders that it finds.
func comparePages(t *testing.T, db sqldb.DB, all *stored, request order.Search, limits wordLimits, orders []order.Order) {
	t.Helper()
	var want, got []string
	r := newReader(db, db.Dialect(), all, request)
	for i := range orders {
		if r.matches(all.orders[orders[i].LegacyID]) {
			want = append(want, orders[i].Reference)
		}
	}
	pages := 0
	for begin := true; begin || request.After != nil; begin = false {
		r := newReader(db, db.Dialect(), all, request)
		r.limits = limits
		page := testenv.Of(r.run(t.Context())).Must(t)
		for _, o := range page.Orders {
			got = append(got, o.Reference)
		}
		request.After = page.Next
		if pages++; pages > 3000 {
			t.Fatalf("%+v with %+v does not end", request, limits)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v with %+v found %d orders on %d pages, want %d", request, limits, len(got), pages, len(want))
	}
}
