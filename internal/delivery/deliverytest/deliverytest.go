// Package deliverytest has what the tests of the senders share: a database with merchants,
// whose events workers deliver.
package deliverytest

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
)

// Noon is when the orders were created.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// World is a database with merchants.
type World struct {
	*testing.T
	DB *store.DB
	order.Services
	// Senders are those of the workers.
	Senders map[delivery.Kind]delivery.Sender
}

// Open opens a new SQLite file, or a database of either kind, until the test ends.
func Open(t *testing.T, database string) *World {
	t.Helper()
	if database == "" {
		database = filepath.Join(t.TempDir(), "orders.db")
	}
	db := testenv.Of(OpenStore(t.Context(), database)).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return &World{T: t, DB: db, Services: order.NewServices(db, nil, time.Now, slog.New(slog.DiscardHandler)), Senders: make(map[delivery.Kind]delivery.Sender)}
}

// OpenStore opens a database by its path or URL, and watches its commits.
func OpenStore(ctx context.Context, database string) (db *store.DB, err error) {
	if strings.HasPrefix(database, "postgres") {
		db, err = store.OpenPostgres(ctx, database, store.Options{})
	} else {
		db, err = store.OpenSQLite(ctx, database, store.Options{})
	}
	if err == nil {
		err = db.WatchCommits(ctx)
	}
	return db, err
}

// AddMerchants adds the merchants 1, 2, ...
func (w *World) AddMerchants(n int) {
	w.Helper()
	for m := range int64(n) {
		testenv.NoError(w, w.Merchants.Add(w.Context(), order.Command(), 1+m, "Shop", order.Options[order.Merchant]{}))
	}
}

// AddEvents imports orders of a merchant, which makes as many events.
func (w *World) AddEvents(merchantID int64, prefix string, n int) {
	w.Helper()
	batch := make([]order.Incoming, n)
	for i := range batch {
		batch[i] = order.Incoming{Order: order.Order{
			MerchantID: merchantID, Reference: fmt.Sprintf("%s-%d-%d", prefix, merchantID, i), State: order.Registered, Currency: "EUR", CreatedAt: Noon,
		}}
	}
	if _, err := w.Orders.Import(w.Context(), order.Command(), batch); err != nil && w.Context().Err() == nil {
		w.Error(err)
	}
}

// Run starts a worker until the returned function is called, or the test ends.
func (w *World) Run(change func(*delivery.Options)) (stop func()) {
	w.Helper()
	options := delivery.Options{
		Store: w.DB, Senders: w.Senders, Now: time.Now, Random: rand.Float64, Log: slog.New(slog.DiscardHandler),
		Poll: 20 * time.Millisecond, Wait: func(int) time.Duration { return time.Millisecond },
	}
	if change != nil {
		change(&options)
	}
	worker := delivery.NewWorker(options)
	w.Orders.OnChange(worker.Changed)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { worker.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	w.Cleanup(stop)
	return stop
}
