package order

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// DeleteOldOrders deletes the orders that were created before a time, whatever their
// state, with their files. Their events stay, so that the numbers of events have no
// gaps, and their references and legacy ids are not used again. It returns how many
// orders it deleted. It may be interrupted, and be run by several instances at a time.
func (s *Service) DeleteOldOrders(ctx context.Context, before time.Time) (int, error) {
	deleted := 0
	for {
		batch, err := s.store.OrdersBefore(ctx, before, retentionBatch)
		if err != nil {
			return deleted, err
		}
		progress := 0
		var failures error
		for _, o := range batch {
			if err := ctx.Err(); err != nil {
				return deleted, err
			}
			done, err := s.deleteOrder(ctx, o)
			if err != nil {
				failures = errors.Join(failures, fmt.Errorf("order %s: %w", o.Reference, err))
			}
			if done {
				progress++
			}
		}
		deleted += progress
		// Without progress the next batch would be the same.
		if failures != nil || len(batch) < retentionBatch || progress == 0 {
			return deleted, failures
		}
	}
}

// retentionBatch is how many old orders are read at a time.
const retentionBatch = 100

// deleteOrder deletes an order: its files first, because nothing finds them without the
// order. It returns false if another instance was faster, or while a file is uploaded.
func (s *Service) deleteOrder(ctx context.Context, o LockedOrder) (bool, error) {
	cause := Cause{By: System(), At: s.Now()}
	err := s.store.InTx(ctx, func(tx Tx) error {
		locked, err := tx.LockOrder(ctx, o.MerchantID, ByLegacyID(o.LegacyID))
		if err == nil && locked.ActiveInvoices > 0 {
			_, err = deleteAll(ctx, tx, locked, cause)
		}
		return err
	})
	if err == nil {
		_, err = s.removeFiles(ctx, o)
	}
	deleted := false
	if err == nil {
		err = s.store.InTx(ctx, func(tx Tx) error {
			locked, err := tx.LockOrder(ctx, o.MerchantID, ByLegacyID(o.LegacyID))
			if err == nil {
				deleted, err = tx.DeleteOrder(ctx, locked, cause)
			}
			return err
		})
	}
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return deleted && err == nil, err
}
