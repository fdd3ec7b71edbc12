package store

import (
	"bytes"
	"context"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
)

// Correct implements order.Tx.
func (t *tx) Correct(ctx context.Context, locked order.LockedOrder, correction order.Correction, cause order.Cause) ([]string, error) {
	o := order.Order{MerchantID: locked.MerchantID, LegacyID: locked.LegacyID, Reference: locked.Reference}
	var digest, details []byte
	err := t.QueryRow(ctx, `SELECT phone, digest, details FROM orders WHERE merchant_id = $1 AND legacy_id = $2`,
		[]any{o.MerchantID, o.LegacyID}, &o.Customer.Phone, &digest, &details)
	if err == nil && bytes.Equal(digest, erasedDigest) && correction.Personal() {
		err = order.ErrErased
	}
	if err != nil {
		return nil, err
	}
	if err := orderpb.DecodeDetails(details, &o); err != nil {
		return nil, err
	}
	fields := correction.Apply(&o)
	if len(fields) == 0 {
		return nil, nil
	}
	if details, err = orderpb.CorrectDetails(details, &o); err != nil {
		return nil, err
	}
	o.Revision, o.UpdatedAt = locked.NextRevision, cause.At
	if err := t.rewrite(ctx, &o, details); err != nil {
		return nil, err
	}
	t.addEvent(locked, order.Event{Type: order.OrderUpdated, By: cause.By, At: cause.At, Fields: fields})
	return fields, nil
}

// rewrite writes the columns of an order that follow from the fields that a correction
// may change. The digest stays that of the imported document: importing that again
// changes nothing. For another deadline the merchant is warned again.
func (t *tx) rewrite(ctx context.Context, o *order.Order, details []byte) error {
	return t.changeWords(ctx, o.MerchantID, o.LegacyID, func() error {
		return t.Later(ctx, errNoRow, `UPDATE orders SET phone = $1, expires_at = $2, details = $3, updated_at = $4, revision = $5,
				deadline_warned = CASE WHEN expires_at = $2 THEN deadline_warned ELSE 0 END
			WHERE merchant_id = $6 AND legacy_id = $7`,
			o.Customer.Phone, seconds(o.ExpiresAt), details, o.UpdatedAt.Unix(), o.Revision, o.MerchantID, o.LegacyID)
	})
}
