package order

import (
	"context"
	"errors"
	"fmt"
)

// BulkKeys is the merchant id of the idempotency keys of bulk changes, of which each has
// its own. No merchant has it. They are apart from OperatorKeys, so that many changes
// leave the operators the keys of their other requests.
const BulkKeys = -1

// BulkChange is a change of one order among many.
type BulkChange struct {
	MerchantID int64
	Reference  string
	Update
	Idempotency Idempotency // with BulkKeys; zero: none
}

// BulkResult is the result of a BulkChange.
type BulkResult struct {
	WriteResult
	// Changed is false if the order had the state and the values already.
	Changed bool
	// Err is why the order was not changed: ErrNotFound, ErrInvalidReason,
	// *TransitionError or ErrIdempotencyKeyReused.
	Err error
	// Recorded is the response that was recorded for the idempotency key of the change
	// when it was made; nil: it is made now. Nothing else is set then.
	Recorded []byte
}

// BulkOptions are the options of bulk changes.
type BulkOptions struct {
	Source Source
	// Response encodes the response to record for the idempotency key of a change. It
	// runs inside the transaction, possibly more than once. Set if a change has a key.
	Response func(BulkChange, BulkResult) ([]byte, error)
}

// ChangeOrders makes changes of orders in one transaction, in their order, and returns
// one result for each. A refused change does not affect the others. Unlike
// ChangeOrder, it takes a transition to the state that an order has for no change, so
// that a batch can be repeated. A change with an idempotency key is made once; after a
// refusal its key is free again. Errors: ErrTooManyIdempotencyKeys.
func (s *Service) ChangeOrders(ctx context.Context, batch []BulkChange, options BulkOptions) ([]BulkResult, error) {
	full, err := s.keysFull(ctx, batch)
	if err != nil {
		return nil, err
	}
	results := make([]BulkResult, len(batch))
	err = s.store.InTx(ctx, func(tx Tx) error {
		for i, change := range batch {
			result, err := s.changeOnce(ctx, tx, change, options, full)
			if err != nil {
				return fmt.Errorf("change order %s of merchant %d: %w", change.Reference, change.MerchantID, err)
			}
			results[i] = result
		}
		return nil
	})
	// Also after an error: the commit may have succeeded.
	for i, change := range batch {
		s.waiters.notify(change.MerchantID)
		if err == nil && results[i].Recorded == nil && !errors.Is(results[i].Err, ErrIdempotencyKeyReused) {
			change.Idempotency.count()
		}
	}
	return results, err
}

// keysFull reports whether there is no room for records of the keys of a batch.
func (s *Service) keysFull(ctx context.Context, batch []BulkChange) (bool, error) {
	for _, change := range batch {
		if full, err := change.Idempotency.full(ctx); full || err != nil {
			return full, err
		}
	}
	return false, nil
}

// changeOnce makes a change, unless the response for its idempotency key is recorded.
func (s *Service) changeOnce(ctx context.Context, tx Tx, change BulkChange, options BulkOptions, full bool) (BulkResult, error) {
	err := change.Idempotency.reserve(ctx, tx)
	var replay *ReplayError
	switch {
	case errors.As(err, &replay):
		return BulkResult{Recorded: replay.Response}, nil
	case errors.Is(err, ErrIdempotencyKeyReused):
		return BulkResult{Err: err}, nil
	case err != nil:
		return BulkResult{}, err
	case full && change.Idempotency.key != "":
		return BulkResult{}, ErrTooManyIdempotencyKeys
	}
	result, err := s.changeOne(ctx, tx, change, options.Source)
	if err != nil && !isRefusal(err) {
		return BulkResult{}, err
	}
	result.Err = err
	if change.Idempotency.key == "" || err != nil {
		// The record of a refused change has no response, so the next one takes the key.
		return result, nil
	}
	response, err := options.Response(change, result)
	if err != nil {
		return BulkResult{}, err
	}
	return result, change.Idempotency.save(ctx, tx, response)
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
