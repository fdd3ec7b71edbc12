package search

import (
	"context"
	"testing"

	"merchantorders/internal/testenv"
)

// TestBlocks reads the blocks of orders and of words, and of a store that fails.
func TestBlocks(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	testenv.Of(Blocks(t.Context(), db)).Want(t, "of an empty store", []int64(nil))
	fillPeriods(t, db)
	if blocks := testenv.Of(Blocks(t.Context(), db)).Must(t); len(blocks) < 40 || blocks[len(blocks)-1] >= 0 {
		t.Errorf("blocks %v, want one for each period of orders", blocks)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	testenv.Of(Blocks(ctx, db)).WantError(t, "of a store that fails", context.Canceled)
}
