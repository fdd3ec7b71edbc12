package order

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
)

// BatchChange is a change of one order among many.
type BatchChange struct {
	MerchantID int64
	Reference  string
	Update
	// IfMatch is that of Options; nil: any version.
	IfMatch func(LockedOrder) bool
	Key     Key // with the number of the line; zero: none
}

// BatchResult is the result of a BatchChange.
type BatchResult struct {
	WriteResult
	// Changed is false if the order had the state and the values already.
	Changed bool
	// Err is why the order was not changed: ErrNotFound, ErrPreconditionFailed,
	// ErrInvalidReason, *TransitionError or ErrIdempotencyKeyReused. Of a change that was
	// made before it is *ReplayError, and nothing else is set.
	Err error
}

// maxBatchTx is how many changes a transaction of a batch has: others wait for its orders
// while it waits for the database, several times for each.
const maxBatchTx = 32

// ChangeOrders makes changes of orders and returns one result for each. It makes them in
// transactions of at most maxBatchTx, sorted by order, so that two batches lock orders in
// the same order and cannot deadlock; changes of one order keep their sequence. After an
// error some may be made. A refused change does not affect the others. Unlike
// ChangeOrder, it takes a transition to the state that an order has for no change, so
// that a batch can be repeated. A change with a key is made once; after a refusal its key
// is free again. encode encodes the response to record for a key; it runs inside the
// transaction, possibly more than once, so it has no effects; nil if no change has a key.
// Errors: ErrTooManyIdempotencyKeys.
func (s *Service) ChangeOrders(ctx context.Context, caller Caller, batch []BatchChange, encode func(BatchChange, BatchResult) ([]byte, error)) ([]BatchResult, error) {
	sorted := make([]int, len(batch)) // indexes of batch
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(i, j int) int {
		return cmp.Or(cmp.Compare(batch[i].MerchantID, batch[j].MerchantID), strings.Compare(batch[i].Reference, batch[j].Reference))
	})
	results := make([]BatchResult, len(batch))
	for part := range slices.Chunk(sorted, maxBatchTx) {
		options := make([]Options[BatchResult], len(part))
		for n, i := range part {
			options[n] = Options[BatchResult]{IfMatch: batch[i].IfMatch, Key: batch[i].Key, Record: func(result BatchResult, refusal error) ([]byte, error) {
				if refusal != nil {
					return nil, nil
				}
				return encode(batch[i], result)
			}}
		}
		var lockedIn Tx // of the present attempt
		outcomes, err := ChangeMany(ctx, s.changes, caller, options, func(tx Tx, n int) (BatchResult, error) {
			if tx != lockedIn {
				lockedIn = tx
				if err := lockAll(ctx, tx, batch, part); err != nil {
					return BatchResult{}, err
				}
			}
			return s.changeInBatch(ctx, tx, caller, batch[part[n]], options[n])
		}, isRefusal)
		if err != nil {
			return nil, err
		}
		for n, i := range part {
			results[i] = outcomes[n].Result
			results[i].Err = outcomes[n].Err
		}
	}
	return results, nil
}

// lockAll locks the orders of a part of a batch, which is sorted by order.
func lockAll(ctx context.Context, tx Tx, batch []BatchChange, part []int) error {
	for len(part) > 0 {
		merchantID, references := batch[part[0]].MerchantID, []string(nil)
		for len(part) > 0 && batch[part[0]].MerchantID == merchantID {
			if reference := batch[part[0]].Reference; ValidReference(reference) {
				references = append(references, reference)
			}
			part = part[1:]
		}
		if err := tx.LockOrders(ctx, merchantID, references); err != nil {
			return err
		}
	}
	return nil
}

// changeInBatch makes a change of a batch in its transaction.
func (s *Service) changeInBatch(ctx context.Context, tx Tx, caller Caller, change BatchChange, options Options[BatchResult]) (BatchResult, error) {
	id := ByReference(change.Reference)
	if !id.Valid() {
		return BatchResult{}, ErrNotFound
	}
	locked, err := options.lock(ctx, tx, change.MerchantID, id)
	if err != nil {
		return BatchResult{WriteResult: WriteResult{LockedOrder: locked}}, err
	}
	if !change.Reason.ValidFor(change.To) {
		return BatchResult{}, ErrInvalidReason
	}
	if change.To == locked.State {
		change.To = 0
		if change.Correction.Empty() {
			return BatchResult{WriteResult: WriteResult{LockedOrder: locked}}, nil
		}
	}
	result, err := s.update(ctx, tx, caller, locked, change.Update)
	if err != nil {
		return BatchResult{WriteResult: WriteResult{LockedOrder: locked}}, err
	}
	return BatchResult{WriteResult: result, Changed: result.Revision != locked.Revision}, err
}

// isRefusal reports whether an error concerns one order, which is unchanged.
func isRefusal(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrPreconditionFailed) || errors.Is(err, ErrInvalidReason) ||
		errors.Is(err, ErrInvalidTransition) || errors.Is(err, ErrErased)
}
