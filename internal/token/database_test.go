package token_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// errBroken is an error of the database.
var errBroken = errors.New("it is broken")

// database is an SQLite database with the merchants 355 and 356 that can be made to fail.
type database struct {
	*store.DB

	mu      sync.Mutex
	lookups int
	touches []map[int64]token.Use // as they were written
	fail    error                 // of every method
	hang    atomic.Bool           // RecordTokenUse waits for its context's end
}

// newRegistry returns a registry on a database of the test's own.
func newRegistry(t *testing.T) (*token.Registry, *database, *clock) {
	t.Helper()
	db, clock := new(database), &clock{now: noon}
	var err error
	db.DB, err = store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), store.Options{})
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	merchants := order.NewMerchants(db.DB, clock.read, func(int64) {})
	for _, id := range []int64{355, 356} {
		testenv.NoError(t, merchants.Add(t.Context(), order.Command(), id, "Shop", order.Options[order.Merchant]{}))
	}
	return token.NewRegistry(db, clock.read), db, clock
}

func (db *database) Grant(ctx context.Context, hash token.Hash) (token.Grant, error) {
	db.mu.Lock()
	db.lookups++
	db.mu.Unlock()
	if db.fail != nil {
		return token.Grant{}, db.fail
	}
	return db.DB.Grant(ctx, hash)
}

func (db *database) ChangeTokens(ctx context.Context, fn func(token.Tx) error) error {
	if db.fail != nil {
		return db.fail
	}
	return db.DB.ChangeTokens(ctx, fn)
}

func (db *database) RecordTokenUse(ctx context.Context, used map[int64]token.Use) error {
	if db.hang.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.touches = append(db.touches, maps.Clone(used))
	return db.DB.RecordTokenUse(ctx, used)
}

// written returns the calls of RecordTokenUse.
func (db *database) written() []map[int64]token.Use {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.Clone(db.touches)
}

// tokens returns the stored tokens by their ids.
func (db *database) tokens(t *testing.T) map[int64]token.Token {
	t.Helper()
	all := testenv.Of(db.DB.Tokens(t.Context(), token.Filter{}, noon)).Must(t)
	byID := make(map[int64]token.Token)
	for _, one := range all {
		byID[one.ID] = one
	}
	return byID
}

// clock is a clock that a test controls.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// noon is the start of the test clocks: half a second past 12, not in UTC.
var noon = time.Date(2026, 11, 20, 14, 0, 0, 5e8, time.FixedZone("EET", 2*60*60))
