package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// benchDatabase is a database with a merchant 1.
func benchDatabase(b *testing.B) *DB {
	b.Helper()
	db := openTest(b, filepath.Join(b.TempDir(), "orders.db"))
	testenv.NoError(b, addTestMerchant(b.Context(), db, 1))
	return db
}

// benchDatabases are the kinds of databases, each with a merchant 1.
var benchDatabases = []struct {
	name string
	open func(b *testing.B) *DB
}{
	{"sqlite", benchDatabase},
	{"postgres", func(b *testing.B) *DB {
		db, err := OpenPostgres(b.Context(), pgtest.Database(b), Options{})
		testenv.NoError(b, err)
		b.Cleanup(func() { _ = db.Close() })
		testenv.NoError(b, addTestMerchant(b.Context(), db, 1))
		return db
	}},
}

// fill gives a merchant n orders, spread evenly over three years and all
// states, and returns their numbers.
func fill(b *testing.B, db *DB, merchantID int64, n int) []int64 {
	b.Helper()
	const batchSize, days = 1000, 3 * 365
	states := order.States()
	var numbers []int64
	for begin := 0; begin < n; begin += batchSize {
		batch := testBatch(merchantID, fmt.Sprintf("M%d-%d", merchantID, begin), min(batchSize, n-begin))
		for i := range batch {
			o := &batch[i].Order
			// Multiplied by a prime so that neighbours are far apart in time.
			o.CreatedAt = testTime.AddDate(0, 0, -(begin+i)*7919%days)
			o.State = states[(begin+i)%len(states)]
		}
		results, err := db.ImportOrders(b.Context(), batch, order.Cause{Actor: order.ActorOperator, At: testTime})
		testenv.NoError(b, err)
		for _, result := range results {
			numbers = append(numbers, result.LegacyID)
		}
	}
	return numbers
}

// BenchmarkOrder reads one whole order, any of 20,000.
func BenchmarkOrder(b *testing.B) {
	db := benchDatabase(b)
	numbers := fill(b, db, 1, 20_000)
	withFiles := numbers[:100]
	for _, number := range withFiles {
		for _, name := range []string{"a.pdf", "b.pdf", "c.pdf"} {
			testenv.NoError(b, uploadTest(b, db, number, name))
		}
	}
	read := func(key func() order.Identifier) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := db.Order(b.Context(), 1, key()); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("by number", read(func() order.Identifier { return order.ByLegacyID(numbers[100+rand.IntN(len(numbers)-100)]) }))
	b.Run("by reference", read(func() order.Identifier {
		return order.ByReference(fmt.Sprintf("M1-%d-%d", 1000*(1+rand.IntN(19)), rand.IntN(1000)))
	}))
	b.Run("with 3 files", read(func() order.Identifier { return order.ByLegacyID(withFiles[rand.IntN(len(withFiles))]) }))
}

func uploadTest(b *testing.B, db *DB, number int64, name string) error {
	return db.InTx(b.Context(), func(tx order.Tx) error {
		locked, err := tx.LockOrder(b.Context(), 1, order.ByLegacyID(number))
		if err != nil {
			return err
		}
		id, err := tx.ReserveInvoice(b.Context(), locked, order.Invoice{Name: name, CreatedAt: testTime})
		if err != nil {
			return err
		}
		return tx.ActivateInvoice(b.Context(), locked, id, order.Cause{Actor: order.ActorMerchant, At: testTime})
	})
}

// BenchmarkTransition moves orders, each move durable before the next begins.
func BenchmarkTransition(b *testing.B) {
	for _, database := range benchDatabases {
		b.Run(database.name, func(b *testing.B) {
			db := database.open(b)
			numbers := fill(b, db, 1, 5_000)
			states := order.States()
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				testenv.NoError(b, transitionTest(b.Context(), db, 1, numbers[i*7919%len(numbers)], states[i%len(states)]))
				i++
			}
		})
	}
}

// BenchmarkImportOrders imports orders. The results are for one order.
func BenchmarkImportOrders(b *testing.B) {
	for _, database := range benchDatabases {
		for _, size := range []int{1, 100, 500} {
			b.Run(fmt.Sprintf("%s/batches of %d", database.name, size), func(b *testing.B) {
				db := database.open(b)
				b.ResetTimer()
				b.ReportAllocs()
				for begin := 0; begin < b.N; begin += size {
					b.StopTimer()
					batch := testBatch(1, fmt.Sprintf("R-%d", begin), min(size, b.N-begin))
					b.StartTimer()
					if _, err := db.ImportOrders(b.Context(), batch, order.Cause{Actor: order.ActorOperator, At: testTime}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
