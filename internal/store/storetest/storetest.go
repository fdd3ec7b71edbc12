// Package storetest is the suite that every database of the service must pass.
// It is an ordinary package, so that each database's own test runs it with a
// few lines.
//
// It knows the tables, which are the same in every database, and reads them with
// SQL that every database accepts. It must not know which database it runs on.
package storetest

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// Store is what a database must offer.
type Store interface {
	order.Stores
	token.Store
	token.SessionStore
	webhook.Store
	digest.Store
	// Ping returns an error if the database cannot be read.
	Ping(ctx context.Context) error
	// NewImportCheck returns a function that foresees the results of imports.
	NewImportCheck() func(context.Context, order.Caller, []order.Incoming) ([]order.ImportResult, error)
	// Close closes the handle.
	Close() error
}

// Database is one database that a test has to itself.
type Database interface {
	// Open opens one more handle on the database, as another instance of the
	// service, or a command beside it, would have. It is closed when the test
	// ends.
	Open(t *testing.T) Store
	// SQL opens connections for looking at the tables directly, after Open. They
	// are closed when the test ends.
	SQL(t *testing.T) *sql.DB
}

// subject is one test of the suite.
type subject struct {
	name string
	run  func(*fixture)
}

// Run runs the whole suite. fresh makes a database with an up-to-date schema
// and nothing in it; it may be called by several tests at the same time.
func Run(t *testing.T, fresh func(t *testing.T) Database) {
	for _, subject := range slices.Concat(
		orderSubjects, importSubjects, listSubjects, searchSubjects, transitionSubjects, correctionSubjects, invoiceSubjects,
		cleanupSubjects, eventSubjects, eventListSubjects, tokenSubjects, merchantSubjects, linkSubjects, cancelSubjects, idempotencySubjects, webhookSubjects,
		auditSubjects, sessionSubjects, retentionSubjects, overviewSubjects,
	) {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			subject.run(newFixture(t, fresh))
		})
	}
}

// RunLists runs what concerns lists alone, for a database that counts in another
// way than usual.
func RunLists(t *testing.T, fresh func(t *testing.T) Database) {
	for _, subject := range listSubjects {
		t.Run(subject.name, func(t *testing.T) {
			t.Parallel()
			subject.run(newFixture(t, fresh))
		})
	}
}

// The merchants of a fixture.
const (
	alpha int64 = 355
	beta  int64 = 356
)

// noon is the time at which things happen in these tests.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fixture is what a test works on: a database with two merchants and two handles on it.
// When the test ends CheckTables checks the tables.
type fixture struct {
	*testing.T
	fresh  func(*testing.T) Database
	tables tables
	a, b   Store
}

func newFixture(t *testing.T, fresh func(*testing.T) Database) *fixture {
	database := fresh(t)
	f := &fixture{T: t, fresh: fresh, a: database.Open(t), b: database.Open(t)}
	f.tables = tables{TB: t, sql: database.SQL(t)}
	f.addMerchant(alpha, "Alpha Shop")
	f.addMerchant(beta, "Beta Shop")
	t.Cleanup(func() { CheckTables(t, f.tables.sql) })
	return f
}

func (f *fixture) addMerchant(id int64, name string) {
	f.Helper()
	if err := addMerchant(f.Context(), f.a, order.Merchant{ID: id, Name: name, CreatedAt: noon}); err != nil {
		f.Fatalf("add merchant %d: %v", id, err)
	}
}

// requester is the request that makes the changes of fixture's methods, with the fields
// that events store.
func requester(actor order.Actor) order.Caller {
	return order.Caller{Actor: actor, TokenID: 1<<40 + 7, RequestID: "request-1"}
}

// add imports orders, of which it prepares each second one, and returns the results.
func (f *fixture) add(store Store, batch ...order.Incoming) []order.ImportResult {
	f.Helper()
	for i := 0; i < len(batch); i += 2 {
		if store.Prepare(&batch[i]); batch[i].Prepared == nil {
			f.Errorf("order %s is not prepared", batch[i].Order.Reference)
		}
	}
	results := testenv.Of(store.ImportOrders(f.Context(), batch, order.Cause{By: requester(order.ActorOperator), At: noon})).Must(f)
	if len(results) != len(batch) {
		f.Fatalf("%d results of %d orders", len(results), len(batch))
	}
	return results
}

// create imports one order, which must be new, and returns its legacy id.
func (f *fixture) create(o order.Order) int64 {
	f.Helper()
	result := f.add(f.a, incoming(o))[0]
	if result.Status != order.Created {
		f.Fatalf("order %s is %v: %s", o.Reference, result.Status, result.Reason)
	}
	return result.LegacyID
}

// order reads one order, which must be there.
func (f *fixture) order(store Store, merchantID int64, key order.Identifier) order.Order {
	f.Helper()
	o, err := store.Order(f.Context(), merchantID, key)
	if err != nil {
		f.Fatalf("read order %v of merchant %d: %v", key, merchantID, err)
	}
	o.Revision = count(o.Revision)
	return o
}

// count returns the number that a revision counts, without its random bits.
func count(revision int64) int64 { return revision >> 31 }

// inOrder runs fn in a transaction that has the order locked.
func inOrder(ctx context.Context, store Store, merchantID int64, key order.Identifier, fn func(order.Tx, order.LockedOrder) error) error {
	return store.InTx(ctx, func(tx order.Tx) error {
		locked, err := tx.LockOrder(ctx, merchantID, key)
		if err != nil {
			return err
		}
		return fn(tx, locked)
	})
}
