package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// burst returns orders of two merchants, most of which were created within hours of one
// period, and some in two others, one of which is the first since 1970. The last orders
// are newer or older than the rest. Names are of few, e-mail addresses unique.
func burst(r *rand.Rand, orders int) []order.Incoming {
	batch := testBatch(7, "R", orders)
	for i := range batch {
		o := &batch[i].Order
		at := testTime.Unix() - []int64{5, 5, 5, 40 * 86400, testTime.Unix() - 9*86400}[r.IntN(5)] - r.Int64N(3*3600)
		if i >= orders-30 {
			at -= []int64{-3600, 3 * 3600}[i%2]
		}
		o.MerchantID, o.State, o.CreatedAt = 7+r.Int64N(2), order.States()[r.IntN(2)], time.Unix(at, 0).UTC()
		o.Customer.FirstName = []string{"Άννα", "Maria", "Μάριος"}[r.IntN(3)]
		o.Customer.LastName = fmt.Sprint("Παπα", r.IntN(8), " Νίκος", r.IntN(40))
		o.Customer.Email = fmt.Sprintf("m%d@example.com", i)
	}
	return batch
}

// TestSearchLimits compares searches with their results if the pages may read few words
// only, so that periods are read in slices, and slices are divided.
func TestSearchLimits(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	for _, merchant := range []int64{7, 8} {
		testenv.NoError(t, addTestMerchant(t.Context(), db, merchant))
	}
	r := rand.New(rand.NewPCG(22, 11))
	batch := burst(r, 1200)
	db.dialect.WordsPerBlock = 0
	for i, part := range [][]order.Incoming{batch[:1170], batch[1170:]} {
		db.dialect.WordsPerBlock = i * 1000 // the newer part is staged
		results, err := db.ImportOrders(t.Context(), part, order.Cause{At: testTime})
		testenv.NoError(t, err)
		for j := range part {
			part[j].Order.LegacyID = results[j].LegacyID
		}
	}
	slices.SortFunc(batch, func(a, b order.Incoming) int {
		return searchSort{}.compare(searchKey{at: a.Order.CreatedAt.Unix(), legacyID: a.Order.LegacyID}, searchKey{at: b.Order.CreatedAt.Unix(), legacyID: b.Order.LegacyID})
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
			compareSearch(t, db, request, limits[r.IntN(len(limits))], batch)
		}
	}
}

// compareSearch compares all pages of a search with the orders that it finds.
func compareSearch(t *testing.T, db *DB, request order.Search, limits wordLimits, orders []order.Incoming) {
	t.Helper()
	var want, got []string
	s := newSearch(db, request)
	for i := range orders {
		o := &orders[i].Order
		found := order.FoundOrder{MerchantID: o.MerchantID, Summary: order.Summary{
			LegacyID: o.LegacyID, Reference: o.Reference, State: o.State, CreatedAt: o.CreatedAt, Customer: o.Customer,
		}}
		if s.matches(&found) {
			want = append(want, o.Reference)
		}
	}
	pages := 0
	for begin := true; begin || request.After != nil; begin = false {
		s := newSearch(db, request)
		s.limits = limits
		page, err := s.run(t.Context())
		testenv.NoError(t, err)
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
