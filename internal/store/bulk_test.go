package store

import (
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// bulkTest is a PostgreSQL database with orders of some merchants.
type bulkTest struct {
	*order.Service
	lines    []order.BatchChange // one for each order, merchant after merchant
	retries  atomic.Int32        // of transactions
	incoming []order.Incoming
}

// newBulkTest opens a database whose network takes a time to it and back.
func newBulkTest(t *testing.T, delay time.Duration, merchants, orders int) *bulkTest {
	t.Helper()
	database := pgtest.Database(t)
	near := openPostgresTest(t, database)
	b := &bulkTest{}
	for m := range int64(merchants) {
		testenv.NoError(t, addTestMerchant(t.Context(), near, 1+m))
		for n := range orders {
			one := testOrder(1+m, fmt.Sprintf("R-%d-%03d", m, n))
			b.incoming = append(b.incoming, one)
			b.lines = append(b.lines, order.BatchChange{MerchantID: 1 + m, Reference: one.Order.Reference})
		}
	}
	proxy := testenv.Of(pgtest.StartProxy(database, delay)).Must(t)
	t.Cleanup(proxy.Close)
	far := testenv.Of(OpenPostgres(t.Context(), proxy.URL, Options{Wrap: func(db sqldb.DB) sqldb.DB { return retryCounter{db, &b.retries} }})).Must(t)
	t.Cleanup(func() { _ = far.Close() })
	b.Service = order.NewService(far, nil, func() time.Time { return testTime }, slog.New(slog.DiscardHandler))
	return b
}

// importAll imports the orders.
func (b *bulkTest) importAll(t *testing.T) {
	t.Helper()
	results := testenv.Of(b.Import(t.Context(), order.Command(), b.incoming)).Must(t)
	for _, result := range results {
		if result.Status != order.Created {
			t.Fatalf("%+v", result)
		}
	}
}

// change makes a change of each order of a batch, and checks the results.
func (b *bulkTest) change(t *testing.T, lines []order.BatchChange, update order.Update) {
	batch := slices.Clone(lines)
	for i := range batch {
		batch[i].Update = update
	}
	results, err := b.ChangeOrders(t.Context(), order.Command(), batch, nil)
	if err != nil {
		t.Error(err)
		return
	}
	for i, result := range results {
		if result.Err != nil || !result.Changed || result.Reference != batch[i].Reference {
			t.Errorf("line %d, order %s: %+v", i+1, batch[i].Reference, result)
		}
	}
}

// retryCounter counts the transactions that the database wants to run again.
type retryCounter struct {
	sqldb.DB
	retries *atomic.Int32
}

// Retryable implements sqldb.DB.
func (c retryCounter) Retryable(err error) bool {
	again := c.DB.Retryable(err)
	if again {
		c.retries.Add(1)
	}
	return again
}

// TestPostgresFarAway imports and changes many orders, and answers one, while the
// database is some milliseconds away.
func TestPostgresFarAway(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		delay  time.Duration
		orders int
	}{{time.Millisecond, 384}, {5 * time.Millisecond, 384}, {20 * time.Millisecond, 100}} {
		t.Run(test.delay.String(), func(t *testing.T) {
			t.Parallel()
			b := newBulkTest(t, test.delay, 2, test.orders/2)
			b.importAll(t)
			b.change(t, b.lines, order.Update{To: order.Canceled})
			b.incoming[0].Order.Reference = "answered"
			testenv.Of(b.Import(t.Context(), order.Command(), b.incoming[:1])).Must(t)
			testenv.Of(b.Accept(t.Context(), order.CommandFor(1), order.ByReference("answered"), order.Options[order.WriteResult]{})).Must(t)
		})
	}
}

// TestPostgresNoDeadlocks changes the same orders of several merchants by two batches in
// opposite order, beside imports for these merchants and accepts of the orders.
func TestPostgresNoDeadlocks(t *testing.T) {
	t.Parallel()
	b := newBulkTest(t, 0, 4, 30)
	b.importAll(t)
	backward := slices.Clone(b.lines)
	slices.Reverse(backward)
	var group sync.WaitGroup
	for n, lines := range [][]order.BatchChange{b.lines, backward} {
		group.Go(func() {
			for round := range 3 {
				b.change(t, lines, order.Update{Correction: order.Correction{Carrier: order.CarrierCorrection{
					TrackingCodes: order.To(fmt.Sprint(n, round)),
				}}})
			}
		})
	}
	group.Go(func() {
		for n, line := range slices.Backward(b.lines) {
			more := testOrder(line.MerchantID, fmt.Sprint("more", n))
			if _, err := b.Import(t.Context(), order.Command(), []order.Incoming{more, testOrder(1+line.MerchantID%4, fmt.Sprint("other", n))}); err != nil {
				t.Error(err)
			}
		}
	})
	for worker := range 4 {
		group.Go(func() {
			for n := worker; n < len(b.lines); n += 4 {
				_, err := b.Accept(t.Context(), order.CommandFor(b.lines[n].MerchantID), order.ByReference(b.lines[n].Reference), order.Options[order.WriteResult]{})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	testenv.Equal(t, "failed transactions", 0, b.retries.Load())
}
