package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

const (
	importedOrders = 70 * importedBatch // by a child process
	importedBatch  = 2 * 3 * 64         // orders of one call of ImportOrders, as of the command import
)

// importOrders imports importedOrders orders.
func importOrders(ctx context.Context, db *DB, prefix string) error {
	for i := 0; i < importedOrders; i += importedBatch {
		batch := testBatch(childMerchant, fmt.Sprintf("%s-%d", prefix, i), importedBatch)
		if _, err := db.ImportOrders(ctx, batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkImportBesideAccepts prints the rate of an import in another process alone
// and beside accepts, and how long the accepts take alone and beside the import.
//
//	go test ./internal/store -run '^$' -bench ImportBesideAccepts -benchtime 3x
func BenchmarkImportBesideAccepts(b *testing.B) {
	path := filepath.Join(b.TempDir(), "orders.db")
	db, err := OpenSQLite(b.Context(), path, Options{})
	testenv.NoError(b, err)
	b.Cleanup(func() { _ = db.Close() })
	for _, id := range []int64{1, childMerchant} {
		testenv.NoError(b, addTestMerchant(b.Context(), db, id))
	}
	results, err := db.ImportOrders(b.Context(), testBatch(1, "R", importedBatch), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
	testenv.NoError(b, err)
	accepts := 0
	accept := func(times []time.Duration) []time.Duration {
		time.Sleep(5 * time.Millisecond)
		to := order.States()[accepts%2]
		began := time.Now()
		testenv.NoError(b, transitionTest(b.Context(), db, 1, results[accepts%len(results)].LegacyID, to))
		accepts++
		return append(times, time.Since(began))
	}
	var alone, beside []time.Duration
	var rateAlone, rateBeside float64
	run := 0
	for b.Loop() {
		for range 200 {
			alone = accept(alone)
		}
		rateAlone += importInChild(b, path, fmt.Sprintf("ALONE-%d", run), nil)
		rateBeside += importInChild(b, path, fmt.Sprintf("BESIDE-%d", run), func() { beside = accept(beside) })
		run++
	}
	b.ReportMetric(rateAlone/float64(run), "orders/s-alone")
	b.ReportMetric(rateBeside/float64(run), "orders/s-beside")
	for name, times := range map[string][]time.Duration{"alone": alone, "beside": beside} {
		slices.Sort(times)
		for percent, at := range map[string]int{"p50": len(times) / 2, "p99": len(times) * 99 / 100, "max": len(times) - 1} {
			b.ReportMetric(float64(times[at].Microseconds())/1000, percent+"-ms-"+name)
		}
	}
}

// importInChild runs an import in another process, and meanwhile a function again
// and again. It returns the imported orders a second.
func importInChild(b *testing.B, path, prefix string, meanwhile func()) float64 {
	b.Helper()
	cmd := child(b, "import", path)
	cmd.Env = append(cmd.Env, childPrefix+"="+prefix)
	began := time.Now()
	testenv.NoError(b, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if meanwhile != nil {
			meanwhile()
		}
		select {
		case err := <-ended:
			testenv.NoError(b, err)
			return importedOrders / time.Since(began).Seconds()
		default:
			if meanwhile == nil {
				time.Sleep(time.Millisecond)
			}
		}
	}
}
