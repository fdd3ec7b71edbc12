package order

import (
	"context"
	"errors"
	"fmt"
)

// BulkChange is a change of one order among many.
type BulkChange struct {
	MerchantID int64
	Reference  string
	Update
}

// BulkResult is the result of a BulkChange.
type BulkResult struct {
	WriteResult
	// Changed is false if the order had the state and the values already.
	Changed bool
	// Err is why the order was not changed: ErrNotFound, ErrInvalidReason or
	// *TransitionError.
	Err error
}

// ChangeOrders makes changes of orders in one transaction, in their order, and returns
// one result for each. A refused change does not affect the others. Unlike
// ChangeOrder, it takes a transition to the state that an order has for no change, so
// that a batch can be repeated.
func (s *Service) ChangeOrders(ctx context.Context, batch []BulkChange, source Source) ([]BulkResult, error) {
	results := make([]BulkResult, len(batch))
	err := s.store.InTx(ctx, func(tx Tx) error {
		for i, change := range batch {
			result, err := s.changeOne(ctx, tx, change, source)
			if err != nil && !isRefusal(err) {
				return fmt.Errorf("change order %s of merchant %d: %w", change.Reference, change.MerchantID, err)
			}
			result.Err = err
			results[i] = result
		}
		return nil
	})
	// Also after an error: the commit may have succeeded.
	for _, change := range batch {
		s.waiters.notify(change.MerchantID)
	}
	return results, err
}

func (s *Service) changeOne(ctx context.Context, tx Tx, change BulkChange, source Source) (BulkResult, error) {
	id := ByReference(change.Reference)
	if !id.Valid() {
		return BulkResult{}, ErrNotFound
	}
	locked, err := tx.LockOrder(ctx, change.MerchantID, id)
	if err != nil {
		return BulkResult{}, err
	}
	if !change.Reason.ValidFor(change.To) {
		return BulkResult{}, ErrInvalidReason
	}
	if change.To == locked.State {
		change.To = 0
		if change.Correction.Empty() {
			return BulkResult{WriteResult: WriteResult{LockedOrder: locked}}, nil
		}
	}
	cause := Cause{Actor: ActorOperator, Source: source, At: s.Now(), Reason: change.Reason}
	result, err := change.apply(ctx, tx, locked, cause)
	return BulkResult{WriteResult: result, Changed: result.Revision != locked.Revision}, err
}

// isRefusal reports whether an error concerns one order, which is unchanged.
func isRefusal(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrInvalidReason) || errors.Is(err, ErrInvalidTransition)
}
