package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// searchSizes are the numbers of orders of BenchmarkSearch. With
// MERCHANT_ORDERS_SEARCH=1000000 the larger one takes minutes to fill.
func searchSizes() []int {
	largest, err := strconv.Atoi(os.Getenv("MERCHANT_ORDERS_SEARCH"))
	if err != nil {
		return []int{10_000}
	}
	return []int{10_000, largest}
}

// benchDatabases are the kinds of databases.
var benchDatabases = []struct {
	name string
	open func(b *testing.B) *DB
}{
	{"sqlite", func(b *testing.B) *DB { return openTest(b, filepath.Join(b.TempDir(), "orders.db")) }},
	{"postgres", func(b *testing.B) *DB {
		db := testenv.Of(OpenPostgres(b.Context(), pgtest.Database(b), Options{})).Must(b)
		b.Cleanup(func() { _ = db.Close() })
		return db
	}},
}

var syllables = []string{"πα", "πού", "λος", "γε", "ωρ", "γί", "ου", "δη", "μη", "τρί", "νι", "κο", "λα", "ΐδης", "κων", "στα", "ντί", "βα", "σι", "λεί", "μα", "ρί", "αν", "τω"}

// fillSearch imports orders of 100 merchants over three years. First names are of 24,
// a tenth of the last names are one of two, the others of thousands; addresses and
// numbers are unique; each order has one of 10,000 products.
func fillSearch(b *testing.B, db *DB, orders int) {
	b.Helper()
	r := rand.New(rand.NewPCG(14, 2))
	for merchant := range int64(100) {
		testenv.NoError(b, addTestMerchant(b.Context(), db, merchant+1))
	}
	syllable := func() string { return syllables[r.IntN(len(syllables))] }
	step := 3 * 365 * 24 * time.Hour / time.Duration(orders)
	for i := 0; i < orders; i += 1000 {
		batch := testBatch(1, fmt.Sprintf("SF-%07d", i), min(1000, orders-i))
		for j := range batch {
			o := &batch[j].Order
			o.MerchantID, o.CreatedAt = 1+r.Int64N(100), testTime.Add(-time.Duration(orders-i-j)*step)
			o.State = order.Completed
			if r.IntN(50) == 0 {
				o.State = order.Registered
			}
			phone := fmt.Sprintf("69%08d", r.IntN(1e8))
			o.Customer = order.Customer{
				FirstName: syllable() + "νης", LastName: syllable() + syllable() + syllable(),
				Email: fmt.Sprintf("buyer%d.%x@example.com", i+j, r.Uint32()), Phone: &phone,
			}
			ean := fmt.Sprintf("520%010d", r.IntN(10_000))
			o.LineItems[0].SKU, o.LineItems[0].MerchantSKU, o.LineItems[0].EAN = fmt.Sprintf("SKU-%05d", r.IntN(10_000)), "M-"+ean[8:], &ean
			if r.IntN(10) == 0 {
				o.Customer.LastName = []string{"Παπαδόπουλος", "Νικολαΐδης"}[r.IntN(2)]
			}
		}
		testenv.Of(db.ImportOrders(b.Context(), batch, order.Cause{At: testTime})).Must(b)
	}
}

// benchSearches are the searches of BenchmarkSearch.
var benchSearches = []struct {
	name string
	set  func(*order.Search)
}{
	{"newest", func(*order.Search) {}},
	{"state", func(s *order.Search) { s.States = []order.State{order.Registered} }},
	{"merchant", func(s *order.Search) { s.MerchantID = 7 }},
	{"deadlines", func(s *order.Search) { s.Sort = order.SortExpires }},
	{"nobody", func(s *order.Search) { s.Text = "zzzz" }},
	{"email", func(s *order.Search) { s.Email = "buyer5000." }},
	{"phone", func(s *order.Search) { s.Phone = "+30 69123" }},
	{"common last name", func(s *order.Search) { s.Name = "Παπαδόπουλος" }},
	{"anything", func(s *order.Search) { s.Text = "νικολ" }},
	{"name of a merchant", func(s *order.Search) { s.Name, s.MerchantID = "παπαδοπ", 7 }},
	{"three letters", func(s *order.Search) { s.Name = "παπ" }},
	{"two common names", func(s *order.Search) { s.Name = "γινης παπαδοπουλος" }},
	{"three letters a year ago", func(s *order.Search) { s.Name, s.To = "παπ", order.DayOf(testTime.AddDate(-1, 0, 0)) }},
	{"all numbers", func(s *order.Search) { s.Phone = "69" }},
	{"anything, counted", func(s *order.Search) { s.Text, s.Count = "νικολ", true }},
	{"end of a reference", func(s *order.Search) { s.Text = "5000-123" }},
	{"EAN", func(s *order.Search) { s.Text = "5200000001234" }},
	{"EAN, counted", func(s *order.Search) { s.Text, s.Count = "5200000001234", true }},
	{"all EANs", func(s *order.Search) { s.Text = "5200" }},
	{"name and state", func(s *order.Search) { s.Name, s.States = "παπαδοπ", []order.State{order.Registered} }},
}

// BenchmarkSearch searches among few and many orders.
func BenchmarkSearch(b *testing.B) {
	for _, database := range benchDatabases {
		for _, size := range searchSizes() {
			b.Run(fmt.Sprintf("%s/%d", database.name, size), func(b *testing.B) {
				db := database.open(b)
				fillSearch(b, db, size)
				runSearches(b, db)
			})
		}
	}
}

// runSearches reports the median of each search, and the processor time without that of
// a database server.
func runSearches(b *testing.B, db *DB) {
	for _, bench := range benchSearches {
		b.Run(bench.name, func(b *testing.B) {
			search := order.Search{From: order.NoDay, To: order.NoDay, Limit: 20}
			bench.set(&search)
			var took []time.Duration
			before := testenv.ProcessorTime(b)
			for b.Loop() {
				start := time.Now()
				testenv.Of(db.Search(b.Context(), search)).Must(b)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64((testenv.ProcessorTime(b)-before).Microseconds())/float64(len(took)), "cpu-µs")
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}
