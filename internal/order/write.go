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

	// Operator says that the write is an operator's: its key is not the merchant's.
	Operator bool
	// IdempotencyKey is the client's name for this write; empty: none.
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
	Corrected   []string  // of a correction: the fields that changed, as in the order document

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
	s.notify(merchantID)
	return err
}

// write runs one write in one transaction, as Change does. fn makes the change of the
// locked order, or returns a refusal before it has changed anything. The response to
// a refusal is recorded unless the order was not found. Errors beside those of fn and
// of Change: ErrNotFound, ErrPreconditionFailed.
func (s *Service) write(ctx context.Context, merchantID int64, id Identifier, options WriteOptions, fn func(Tx, LockedOrder) (WriteResult, error)) (WriteResult, error) {
	if !id.Valid() {
		return WriteResult{}, s.Refuse(ctx, merchantID, options, ErrNotFound)
	}
	inTx := func(ctx context.Context, fn func(Tx) error) error { return s.inTx(ctx, merchantID, fn) }
	return Change(ctx, inTx, options.change(s.idempotency(merchantID, options)), func(tx Tx) (WriteResult, error) {
		locked, err := options.lock(ctx, tx, merchantID, id)
		if err != nil {
			return WriteResult{}, err
		}
		result, err := fn(tx, locked)
		if err == nil && options.reserves && options.IdempotencyKey != "" {
			err = tx.HoldIdempotencyKey(ctx, result.LockedOrder, options.IdempotencyKey, result.Invoice.ID)
		}
		return result, err
	})
}

// idempotency returns the idempotency of a write of a merchant's order.
func (s *Service) idempotency(merchantID int64, options WriteOptions) Idempotency {
	if options.Operator {
		merchantID = OperatorKeys
	}
	return s.Idempotency(merchantID, options.IdempotencyKey, options.RequestDigest)
}

// change returns the options as those of Change.
func (o WriteOptions) change(idempotency Idempotency) ChangeOptions[WriteResult] {
	return ChangeOptions[WriteResult]{
		Source: o.Source, Idempotency: idempotency, holds: o.reserves,
		Response: func(result WriteResult, refusal error) ([]byte, error) {
			if errors.Is(refusal, ErrNotFound) {
				return nil, nil
			}
			return o.Response(result, refusal)
		},
	}
}
