package store

import (
	"context"
	"fmt"
	"slices"

	"merchantorders/internal/order"
)

const selectSummary = `SELECT ` + summaryColumns + ` FROM orders o WHERE o.merchant_id = $1 AND o.legacy_id = $2`

// readWords returns the words of an order, as it is.
func (t *tx) readWords(ctx context.Context, merchantID, legacyID int64) ([]Word, error) {
	var row summaryRow
	if err := t.QueryRow(ctx, selectSummary, []any{merchantID, legacyID}, row.dest()...); err != nil {
		return nil, fmt.Errorf("read the words of an order: %w", err)
	}
	s := row.summary()
	return WordsOf(&order.Order{MerchantID: merchantID, LegacyID: legacyID, Reference: s.Reference, CreatedAt: s.CreatedAt, Customer: s.Customer}), nil
}

// changeWords runs a change of a locked order's customer, and then rewrites the words.
func (t *tx) changeWords(ctx context.Context, merchantID, legacyID int64, change func() error) error {
	before, err := t.readWords(ctx, merchantID, legacyID)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := t.readWords(ctx, merchantID, legacyID)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	if err := t.db.words.Delete(ctx, t, before); err != nil {
		return fmt.Errorf("delete the words of an order: %w", err)
	}
	return t.db.words.Add(ctx, t, after)
}
