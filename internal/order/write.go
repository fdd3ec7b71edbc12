package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// IdempotencyRetention is how long an idempotency record is valid.
const IdempotencyRetention = 24 * time.Hour

// WriteOptions are the source, the precondition and the idempotency of a write.
// The zero value is an unconditional write of a command, without an idempotency
// record.
type WriteOptions struct {
	Source Source
	// IfMatch reports whether the order is in the version that the client
	// expects; nil accepts any version. It is called while the order is locked,
	// before every other rule except that the order exists. If it returns false
	// the write is refused with ErrPreconditionFailed.
	IfMatch func(LockedOrder) bool

	// IdempotencyKey is the client's name for this write; empty: none. Keys
	// belong to the merchant.
	IdempotencyKey string
	// RequestDigest is a digest of the whole request. Set if there is a key.
	RequestDigest [sha256.Size]byte
	// Response encodes the response to record for the key: that of a result, or
	// that of a refusal if refusal is not nil. It returns nil if the refusal is
	// not to be recorded; the key is free again then. It runs inside the
	// transaction, possibly more than once. Set if there is a key.
	Response func(result WriteResult, refusal error) ([]byte, error)

	// reserves is true for the reservation of an upload. Its success records no
	// response: the key is in use until the upload is activated or expires.
	reserves bool
}

// WriteResult is an order after a write, and what else the write produced.
type WriteResult struct {
	LockedOrder           // State and Revision are the new ones
	Invoice     Invoice   // of an upload
	Invoices    []Invoice // of a deletion: the remaining active invoices, oldest first

	source Source // of an upload, for the log
}

// ReplayError is the error of a write whose idempotency key has a recorded
// response. The write was not repeated.
type ReplayError struct {
	Response []byte // as WriteOptions.Response encoded it
}

// Error implements error.
func (*ReplayError) Error() string { return "a response is recorded for this idempotency key" }

// lock locks the order to be written. It returns ErrNotFound or
// ErrPreconditionFailed.
func (o WriteOptions) lock(ctx context.Context, tx Tx, merchantID int64, id Identifier) (LockedOrder, error) {
	locked, err := tx.LockOrder(ctx, merchantID, id)
	if err != nil {
		return LockedOrder{}, err
	}
	if o.IfMatch != nil && !o.IfMatch(locked) {
		return locked, ErrPreconditionFailed
	}
	return locked, nil
}

// inTx runs fn in a transaction of the store. It then wakes the requests that
// wait for the merchant's events.
func (s *Service) inTx(ctx context.Context, merchantID int64, fn func(Tx) error) error {
	err := s.store.InTx(ctx, fn)
	// Also after an error: the commit may have succeeded.
	s.waiters.notify(merchantID)
	return err
}

// write runs one write in one transaction. fn makes the change of the locked order,
// or returns a refusal before it has changed anything. With a key, the response is
// recorded in the same transaction, also the response to a refusal, unless the order
// was not found. Errors beside those of fn: ErrNotFound, ErrPreconditionFailed, and
// those of the key: *ReplayError, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse,
// ErrTooManyIdempotencyKeys.
func (s *Service) write(ctx context.Context, merchantID int64, id Identifier, options WriteOptions, fn func(Tx, LockedOrder) (WriteResult, error)) (WriteResult, error) {
	if !id.Valid() {
		return WriteResult{}, s.Refuse(ctx, merchantID, options, ErrNotFound)
	}
	full, err := s.records.full(ctx, merchantID, options)
	if err != nil {
		return WriteResult{}, err
	}
	var result WriteResult
	var refusal error
	err = s.inTx(ctx, merchantID, func(tx Tx) error {
		// The key comes first: a second request with it blocks here and then finds
		// the recorded response, whatever the state of the order is by then.
		if err := s.reserveKey(ctx, tx, merchantID, options); err != nil {
			return err
		}
		if full {
			return ErrTooManyIdempotencyKeys
		}
		var locked LockedOrder
		if locked, refusal = options.lock(ctx, tx, merchantID, id); refusal == nil {
			result, refusal = fn(tx, locked)
		}
		switch {
		case options.IdempotencyKey == "", errors.Is(refusal, ErrNotFound):
			return refusal
		case options.reserves && refusal == nil:
			return tx.HoldIdempotencyKey(ctx, result.LockedOrder, options.IdempotencyKey, result.Invoice.ID)
		}
		return options.record(ctx, tx, merchantID, result, refusal)
	})
	if err == nil {
		s.records.add(merchantID, options)
		err = refusal
	}
	if err != nil {
		return WriteResult{}, err
	}
	return result, nil
}

// reserveKey reserves the idempotency key of a write, if it has one.
func (s *Service) reserveKey(ctx context.Context, tx Tx, merchantID int64, options WriteOptions) error {
	if options.IdempotencyKey == "" {
		return nil
	}
	return tx.ReserveIdempotencyKey(ctx, merchantID, options.IdempotencyKey, options.RequestDigest, s.Now())
}

// record saves the response to a write in the idempotency record of its key. If
// the refusal is not to be recorded it returns the refusal, so that the
// transaction rolls back and the key is free.
func (o WriteOptions) record(ctx context.Context, tx Tx, merchantID int64, result WriteResult, refusal error) error {
	response, err := o.Response(result, refusal)
	switch {
	case err != nil:
		return errors.Join(refusal, err)
	case response == nil && refusal == nil:
		return errors.New("a successful write has no response to record")
	case response == nil:
		return refusal
	}
	return tx.SaveResponse(ctx, merchantID, o.IdempotencyKey, o.RequestDigest, response)
}

// Refuse returns the error of a request that is refused because of its form, before
// any write began: the refusal, or an error of the key, which comes first:
// *ReplayError, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse. It records nothing.
func (s *Service) Refuse(ctx context.Context, merchantID int64, options WriteOptions, refusal error) error {
	if options.IdempotencyKey == "" {
		return refusal
	}
	return s.store.InTx(ctx, func(tx Tx) error {
		if err := s.reserveKey(ctx, tx, merchantID, options); err != nil {
			return err
		}
		return refusal // the key is free again
	})
}
