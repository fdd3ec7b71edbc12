package order_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// noon is the clock of these tests: half a second past 12 in another zone.
var noon = time.Date(2026, 11, 20, 14, 0, 0, 5e8, time.FixedZone("EET", 2*60*60))

// noonUTC is the same time as the service returns it.
var noonUTC = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const (
	merchant = 355
	stranger = 356
)

// errBroken is an error of a database or a disk.
var errBroken = errors.New("it is broken")

// failing returns a fail function with which some operations fail.
func failing(operations ...string) func(string) error {
	return func(asked string) error {
		for _, operation := range operations {
			if asked == operation {
				return errors.Join(errBroken, order.ErrUnavailable)
			}
		}
		return nil
	}
}

// sample is the order of these tests in a state.
func sample(state order.State) order.Order { return numbered(1, state) }

// numbered is an order with a legacy id.
func numbered(legacyID int64, state order.State) order.Order {
	return order.Order{
		MerchantID: merchant, LegacyID: legacyID, Reference: fmt.Sprint("SF-", legacyID), State: state, Currency: "EUR", CreatedAt: noonUTC,
	}
}

// database is an SQLite database of a test's own whose operations can be made to fail.
type database struct {
	*store.DB

	path string
	mu   sync.Mutex
	// fail is called with the name of a method: before one of the database that writes,
	// after one that reads, after one of a transaction; and with "commit" before a
	// commit. afterCommit returns an error after a successful commit.
	fail        func(operation string) error
	afterCommit func() error
	rerun       bool // run every transaction twice, as a retry does
	calls       int  // operations of the store
	records     int  // idempotency records that each merchant has besides its own
}

// newDatabase returns a database with two merchants and orders of the first.
func newDatabase(t testing.TB, orders ...order.Order) *database {
	t.Helper()
	db := &database{path: filepath.Join(t.TempDir(), "orders.db")}
	var err error
	db.DB, err = store.OpenSQLite(t.Context(), db.path, store.Options{Observe: func(ctx context.Context, _ string) (context.Context, func(error)) {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.calls++
		return ctx, func(error) {}
	}})
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, id := range []int64{merchant, stranger} {
		testenv.NoError(t, newServices(db, nil).Merchants.Add(t.Context(), order.Command(), id, "Shop", order.Options[order.Merchant]{}))
	}
	incoming := make([]order.Incoming, len(orders))
	for i, o := range orders {
		incoming[i] = order.Incoming{Order: o, Digest: sha256.Sum256([]byte(o.Reference))}
	}
	results, err := newService(db, nil).Import(t.Context(), order.Command(), incoming)
	for _, result := range results {
		if result.Status != order.Created {
			t.Fatalf("import: %+v", result)
		}
	}
	testenv.NoError(t, err)
	db.calls = 0
	return db
}

// another opens the database as another process does.
func (db *database) another(t testing.TB) *store.DB {
	t.Helper()
	opened := testenv.Of(store.OpenSQLite(t.Context(), db.path, store.Options{})).Must(t)
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// newServices returns services at noon. They store no files if files is nil.
func newServices(db order.Stores, files *folder) order.Services {
	return order.NewServices(db, files, func() time.Time { return noon }, slog.New(slog.DiscardHandler))
}

// newService returns the service of orders of newServices.
func newService(db order.Stores, files *folder) *order.Service { return newServices(db, files).Orders }

func (db *database) ask(operation string) error {
	db.mu.Lock()
	fail := db.fail
	db.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(operation)
}

// breaking sets fail, which a service may use at the same time.
func (db *database) breaking(fail func(operation string) error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.fail = fail
}

// order returns an order of the merchant.
func (db *database) order(t testing.TB, legacyID int64) order.Order {
	t.Helper()
	o := testenv.Of(db.Order(t.Context(), merchant, order.ByLegacyID(legacyID))).Must(t)
	return o
}

// events returns the events of an order after its creation.
func (db *database) events(t testing.TB, legacyID int64) []order.Event {
	t.Helper()
	records, err := db.OrderEvents(t.Context(), merchant, order.ByLegacyID(legacyID), 0, 100)
	if err != nil || len(records) == 0 || records[0].Type != order.OrderCreated {
		t.Fatalf("events %+v, error %v", records, err)
	}
	var events []order.Event
	for _, record := range records[1:] {
		events = append(events, record.Event)
	}
	return events
}

// slots returns how many files of an order are active or reserved.
func (db *database) slots(t testing.TB, legacyID int64) int {
	t.Helper()
	var locked order.LockedOrder
	testenv.NoError(t, db.DB.InTx(t.Context(), func(tx order.Tx) (err error) {
		locked, err = tx.LockOrder(t.Context(), merchant, order.ByLegacyID(legacyID))
		return err
	}))
	return locked.ActiveInvoices
}

// addToken adds a token of the merchant and returns its id.
func (db *database) addToken(t testing.TB) (id int64) {
	t.Helper()
	err := db.ChangeTokens(t.Context(), func(tx token.Tx) (err error) {
		id, err = tx.AddToken(t.Context(), token.Hash{}, token.Token{MerchantID: merchant, CreatedAt: noonUTC}, order.AuditEntry{MerchantID: merchant, At: noonUTC})
		return err
	})
	testenv.NoError(t, err)
	return id
}

func (db *database) revokeToken(t testing.TB, id int64) {
	t.Helper()
	testenv.NoError(t, db.ChangeTokens(t.Context(), func(tx token.Tx) error {
		return tx.RevokeToken(t.Context(), id, noonUTC, order.AuditEntry{MerchantID: merchant, At: noonUTC})
	}))
}

// changes is how many changes a revision counts after the creation of the order, 0 for
// the zero revision.
func changes(revision int64) int64 { return max(0, revision>>31-1) }

// errAgain rolls the first run of a transaction back.
var errAgain = errors.New("again")

func (db *database) InTx(ctx context.Context, fn func(order.Tx) error) error {
	if err := db.ask("InTx"); err != nil {
		return err
	}
	run := func(then error) error {
		return db.DB.InTx(ctx, func(tx order.Tx) error {
			if err := fn(failingTx{tx, db}); err != nil {
				return err
			}
			return errors.Join(then, db.ask("commit"))
		})
	}
	if db.rerun {
		if err := run(errAgain); !errors.Is(err, errAgain) {
			return err
		}
	}
	err := run(nil)
	if err == nil && db.afterCommit != nil {
		err = db.afterCommit()
	}
	return err
}

func (db *database) Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	feed, err := db.DB.Events(ctx, merchantID, after, limit)
	if err := db.ask("Events"); err != nil {
		return order.Feed{}, err
	}
	return feed, err
}

func (db *database) DataVersions(ctx context.Context, merchantIDs []int64) (map[int64]order.DataVersion, error) {
	versions, err := db.DB.DataVersions(ctx, merchantIDs)
	return versions, errors.Join(err, db.ask("DataVersions"))
}

func (db *database) RevokedTokens(ctx context.Context, tokenIDs []int64) ([]int64, error) {
	revoked, err := db.DB.RevokedTokens(ctx, tokenIDs)
	return revoked, errors.Join(err, db.ask("RevokedTokens"))
}

func (db *database) LinkKey(ctx context.Context) (order.LinkKey, bool, error) {
	key, ok, err := db.DB.LinkKey(ctx)
	return key, ok, errors.Join(err, db.ask("LinkKey"))
}

func (db *database) DueOrders(ctx context.Context, now time.Time, after order.Due, limit int) ([]order.Due, error) {
	// A second ahead, so that the service has to look at the deadlines again.
	due, err := db.DB.DueOrders(ctx, now.Add(time.Second), after, limit)
	return due, errors.Join(err, db.ask("DueOrders"))
}

func (db *database) ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	found, err := db.DB.ExpiredReservations(ctx, before, limit)
	return found, errors.Join(err, db.ask("ExpiredReservations"))
}

func (db *database) ExpireReservation(ctx context.Context, invoice order.StoredInvoice, at time.Time) (bool, error) {
	if err := db.ask("ExpireReservation"); err != nil {
		return false, err
	}
	return db.DB.ExpireReservation(ctx, invoice, at)
}

func (db *database) MarkPurged(ctx context.Context, invoice order.StoredInvoice, at time.Time) error {
	if err := db.ask("MarkPurged"); err != nil {
		return err
	}
	return db.DB.MarkPurged(ctx, invoice, at)
}

// failingTx is a transaction whose operations can be made to fail after they had their
// effect.
type failingTx struct {
	order.Tx
	db *database
}

func (t failingTx) LockOrder(ctx context.Context, merchantID int64, id order.Identifier) (order.LockedOrder, error) {
	locked, err := t.Tx.LockOrder(ctx, merchantID, id)
	return locked, errors.Join(err, t.db.ask("LockOrder"))
}

func (t failingTx) Transition(ctx context.Context, locked order.LockedOrder, to order.State, cause order.Cause) error {
	return errors.Join(t.Tx.Transition(ctx, locked, to, cause), t.db.ask("Transition"))
}

func (t failingTx) InvoiceNameUsed(ctx context.Context, locked order.LockedOrder, name string) (bool, error) {
	used, err := t.Tx.InvoiceNameUsed(ctx, locked, name)
	return used, errors.Join(err, t.db.ask("InvoiceNameUsed"))
}

func (t failingTx) ReserveInvoice(ctx context.Context, locked order.LockedOrder, invoice order.Invoice) (int64, error) {
	id, err := t.Tx.ReserveInvoice(ctx, locked, invoice)
	return id, errors.Join(err, t.db.ask("ReserveInvoice"))
}

func (t failingTx) ActivateInvoice(ctx context.Context, locked order.LockedOrder, invoice order.Invoice, cause order.Cause) error {
	return errors.Join(t.Tx.ActivateInvoice(ctx, locked, invoice, cause), t.db.ask("ActivateInvoice"))
}

func (t failingTx) ReleaseInvoice(ctx context.Context, locked order.LockedOrder, id int64) error {
	return errors.Join(t.Tx.ReleaseInvoice(ctx, locked, id), t.db.ask("ReleaseInvoice"))
}

func (t failingTx) ReserveIdempotencyKey(ctx context.Context, merchantID int64, key order.Key, at time.Time) error {
	return errors.Join(t.Tx.ReserveIdempotencyKey(ctx, merchantID, key, at), t.db.ask("ReserveIdempotencyKey"))
}

func (t failingTx) HoldIdempotencyKey(ctx context.Context, locked order.LockedOrder, key order.Key, invoiceID int64) error {
	return errors.Join(t.Tx.HoldIdempotencyKey(ctx, locked, key, invoiceID), t.db.ask("HoldIdempotencyKey"))
}

func (t failingTx) SaveResponse(ctx context.Context, merchantID int64, key order.Key, response []byte) error {
	return errors.Join(t.Tx.SaveResponse(ctx, merchantID, key, response), t.db.ask("SaveResponse"))
}

func (db *database) CountIdempotencyRecords(ctx context.Context, merchantID int64, lines bool, limit int) (int, error) {
	n, err := db.DB.CountIdempotencyRecords(ctx, merchantID, lines, limit)
	return min(n+db.records, limit), err
}
