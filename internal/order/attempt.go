package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// IdempotencyRetention is how long the answer to an attempt with a key is kept.
const IdempotencyRetention = 24 * time.Hour

// WriteOptions is what a client asks for beside a change itself: under which
// condition it is to be made, and that it is made once however often it is
// asked for. The zero WriteOptions is made unconditionally, and nothing is kept of
// it.
type WriteOptions struct {
	// IfMatch reports whether the order is as the client knows it; nil: any
	// order is. It is asked while the order is locked, before any rule but that
	// the order exists. Where it says no the attempt is refused with ErrPreconditionFailed.
	IfMatch func(LockedOrder) bool

	// IdempotencyKey is the client's own name for the change; empty: it gave none. Keys
	// belong to the merchant.
	IdempotencyKey string
	// RequestDigest is a digest of all that is asked for under Key.
	RequestDigest [sha256.Size]byte
	// Response writes what the client is told, to be kept and given again: of a
	// change, or, where refusal is not nil, of why there was none. It returns nil
	// for a refusal that is not to be kept: then Key is free again. It is called
	// within the transaction, perhaps more than once. Needed where there is a
	// IdempotencyKey.
	Response func(done WriteResult, refusal error) ([]byte, error)
}

// WriteResult is an order after a change, with what else the change has brought.
type WriteResult struct {
	LockedOrder           // State and Revision are the new ones
	Invoice     Invoice   // of an upload
	Invoices    []Invoice // of a deletion: the active ones that are left, oldest first
}

// ReplayError is the error of an attempt that was made before. Nothing was done.
type ReplayError struct {
	Response []byte // the first answer, as WriteOptions.Answer wrote it
}

// Error implements error.
func (*ReplayError) Error() string { return "the attempt was made before" }

// matches returns ErrPreconditionFailed where the order is not as the client knows it.
func (a WriteOptions) matches(head LockedOrder) error {
	if a.IfMatch != nil && !a.IfMatch(head) {
		return ErrPreconditionFailed
	}
	return nil
}

// lock locks the order that an attempt is to change, or returns ErrNotFound or
// ErrPreconditionFailed.
func (a WriteOptions) lock(ctx context.Context, tx Tx, merchantID int64, key Identifier) (LockedOrder, error) {
	head, err := tx.LockOrder(ctx, merchantID, key)
	if err != nil {
		return LockedOrder{}, err
	}
	return head, a.matches(head)
}

// change runs an attempt in one transaction. do makes the change, or refuses
// before it has changed anything. With a key the answer is kept in the same
// transaction, that of a refusal too. Errors of the key: *ReplayError,
// ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse.
func (s *Service) change(ctx context.Context, merchantID int64, attempt WriteOptions, do func(Tx) (WriteResult, error)) (WriteResult, error) {
	var done WriteResult
	var refusal error
	err := s.store.InTx(ctx, func(tx Tx) error {
		if attempt.IdempotencyKey == "" {
			done, refusal = do(tx)
			return refusal
		}
		// The key comes first: whoever brings it a second time waits here, and then
		// finds the answer, whatever has become of the order.
		if err := tx.ReserveIdempotencyKey(ctx, merchantID, attempt.IdempotencyKey, attempt.RequestDigest, s.Now()); err != nil {
			return err
		}
		done, refusal = do(tx)
		return attempt.keep(ctx, tx, merchantID, done, refusal)
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return WriteResult{}, err
	}
	return done, nil
}

// keep writes the answer to an attempt whose key is taken. It returns the
// refusal where that is not to be kept, which undoes the taking.
func (a WriteOptions) keep(ctx context.Context, tx Tx, merchantID int64, done WriteResult, refusal error) error {
	answer, err := a.Response(done, refusal)
	switch {
	case err != nil:
		return errors.Join(refusal, err)
	case answer == nil && refusal == nil:
		return errors.New("a change has no answer")
	case answer == nil:
		return refusal
	}
	return tx.SaveResponse(ctx, merchantID, a.IdempotencyKey, a.RequestDigest, answer)
}

// RecordRefusal keeps the answer to an attempt that was refused for its form, before
// it could come to a change. It returns the refusal, or an error of the key:
// *ReplayError, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse. Without a key nothing is kept.
func (s *Service) RecordRefusal(ctx context.Context, merchantID int64, attempt WriteOptions, refusal error) error {
	if attempt.IdempotencyKey == "" {
		return refusal
	}
	_, err := s.change(ctx, merchantID, attempt, func(Tx) (WriteResult, error) { return WriteResult{}, refusal })
	return err
}

// DeleteIdempotencyRecords removes the answers that were kept for IdempotencyRetention. It returns
// how many.
func (s *Service) DeleteExpiredIdempotencyRecords(ctx context.Context) (int, error) {
	before, total := s.Now().Add(-IdempotencyRetention), 0
	for {
		n, err := s.store.DeleteIdempotencyRecords(ctx, before, forgetBatch)
		total += n
		if err != nil || n < forgetBatch {
			return total, err
		}
	}
}

// forgetBatch is how many answers are removed at a time.
const forgetBatch = 500
