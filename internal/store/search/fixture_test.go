package search

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/postgres"
	"merchantorders/internal/store/sqldb/sqlite"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) {
	pgtest.Main(m, func(ctx context.Context, url string, cluster bool) error {
		db, err := postgres.Open(ctx, url, nil, migrations.Options{})
		if err != nil {
			return err
		}
		if cluster {
			_, err = citus.Distribute(ctx, db)
		}
		return errors.Join(err, db.Close())
	})
}

func openSQLite(t *testing.T) sqldb.DB {
	t.Helper()
	db := testenv.Of(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "orders.db"), migrations.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func openPostgres(t *testing.T) sqldb.DB {
	t.Helper()
	db := testenv.Of(postgres.Open(t.Context(), pgtest.Database(t), nil, migrations.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var testTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// sampleOrders are n orders of merchant 7 with the legacy ids from 1.
func sampleOrders(n int) []order.Order {
	orders := make([]order.Order, n)
	for i := range orders {
		phone := "2100000000"
		orders[i] = order.Order{
			MerchantID: 7, LegacyID: int64(1 + i), Reference: fmt.Sprintf("R-%d", i), State: order.Registered, CreatedAt: testTime,
			ExpiresAt: testTime.Add(48 * time.Hour),
			Customer:  order.Customer{Email: "buyer@example.com", Phone: &phone, FirstName: "Μαρία", LastName: "Παπαδοπούλου"},
		}
	}
	return orders
}

var insertOrders = sqldb.NewBulkInsert("orders", `merchant_id, legacy_id, reference, state, created_at, expires_at, currency, country_code, total, has_invoice,
	user_id, email, phone, first_name, last_name, company, revision, active_invoices, digest, details`, "")

// write writes orders and their words.
func write(ctx context.Context, db sqldb.DB, orders []order.Order) error {
	return sqldb.RetryTx(ctx, db, func(q sqldb.Querier) error {
		var values []any
		var all []Word
		for i := range orders {
			o := &orders[i]
			values = append(values, o.MerchantID, o.LegacyID, o.Reference, int64(o.State), o.CreatedAt.Unix(), o.ExpiresAt.Unix(), "EUR", "GR", 0, 0,
				0, o.Customer.Email, o.Customer.Phone, o.Customer.FirstName, o.Customer.LastName, o.Customer.Company, 1, 0, []byte{}, []byte{})
			all = append(all, WordsOf(o)...)
		}
		if err := insertOrders.Insert(ctx, q, db.Dialect(), values); err != nil {
			return err
		}
		return Add(ctx, q, db.Dialect(), all)
	})
}

// fill writes orders as an import does, and returns them for searches.
func fill(t *testing.T, db sqldb.DB, orders []order.Order) *stored {
	t.Helper()
	s := &stored{orders: make(map[int64]*order.FoundOrder)}
	for ; len(orders) > 0; orders = orders[min(len(orders), 300):] {
		batch := orders[:min(len(orders), 300)]
		testenv.NoError(t, write(t.Context(), db, batch))
		for i := range batch {
			o := &batch[i]
			s.orders[o.LegacyID] = &order.FoundOrder{MerchantID: o.MerchantID, ExpiresAt: o.ExpiresAt, Summary: order.Summary{
				LegacyID: o.LegacyID, Reference: o.Reference, State: o.State, CreatedAt: o.CreatedAt, Customer: o.Customer,
			}}
		}
	}
	return s
}

// stored are orders that were written. It implements Orders.
type stored struct {
	orders map[int64]*order.FoundOrder
	reads  int // calls of Read
}

func (s *stored) Key(_ context.Context, legacyID int64) (Key, bool, error) {
	o, ok := s.orders[legacyID]
	if !ok {
		return Key{}, false, nil
	}
	return Key{At: o.CreatedAt.Unix(), LegacyID: legacyID, MerchantID: o.MerchantID}, true, nil
}

func (s *stored) Read(_ context.Context, keys []Key) ([]*order.FoundOrder, error) {
	s.reads++
	found := make([]*order.FoundOrder, len(keys))
	for i, key := range keys {
		if o := s.orders[key.LegacyID]; o != nil && o.MerchantID == key.MerchantID {
			found[i] = o
		}
	}
	return found, nil
}
