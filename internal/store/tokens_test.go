package store

import (
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestGrantWithoutCommitVersion reads grants from a database that does not tell
// of commits: each read sees the newest state.
func TestGrantWithoutCommitVersion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := testenv.Of(OpenSQLite(t.Context(), path, Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	testenv.NoError(t, addTestMerchant(t.Context(), db, 7))
	registry := token.NewRegistry(db, func() time.Time { return testTime })
	text, added, err := registry.Create(t.Context(), 7, order.ScopeOrdersRead, 0)
	testenv.NoError(t, err)
	hash := testenv.Of(token.HashText(text)).Must(t)
	for range 2 {
		g, err := db.Grant(t.Context(), hash)
		if err != nil || g.MerchantID != 7 || !g.RevokedAt.IsZero() {
			t.Errorf("grant %+v, error %v", g, err)
		}
	}
	testenv.Of(db.ImportOrders(t.Context(), testBatch(7, "R", 1), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	if g, err := db.Grant(t.Context(), hash); err != nil || g.DataVersion == (order.DataVersion{}) {
		t.Errorf("grant %+v after an import, error %v", g, err)
	}
	testenv.Of(registry.RevokeID(t.Context(), order.Command(), added.ID, order.Options[int64]{})).Must(t)
	if g, err := db.Grant(t.Context(), hash); err != nil || g.RevokedAt.IsZero() {
		t.Errorf("grant %+v after the revocation, error %v", g, err)
	}
	testenv.Of(db.Grant(t.Context(), token.Hash{2})).WantError(t, "of an unknown token", token.ErrUnknown)
}
