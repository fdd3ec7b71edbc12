package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// OperatorKeys is the merchant id of the operators' idempotency keys. No merchant
// has it.
const OperatorKeys = 0

// KeyTx is the part of a transaction that holds idempotency records. The
// transactions of all services have it.
type KeyTx interface {
	// ReserveIdempotencyKey creates the idempotency record of a key. The caller
	// calls it first, before it locks an order. Another transaction with the
	// same key blocks until this one ends. If a record younger than
	// IdempotencyRetention exists, it returns
	//   - *ReplayError with the recorded response,
	//   - ErrIdempotencyKeyReused if the record is of another request, or
	//   - ErrIdempotencyKeyInUse if the record waits for an upload whose
	//     reservation still exists (see Tx.HoldIdempotencyKey).
	ReserveIdempotencyKey(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error
	// SaveResponse stores the response in the record of a key.
	SaveResponse(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, response []byte) error
}

// Idempotency is the idempotency key of a change. Service.Idempotency makes it. The
// zero value is that of a change without a key.
type Idempotency struct {
	merchantID int64 // whose key it is, OperatorKeys or BulkKeys
	key        string
	request    [sha256.Size]byte
	records    *recordCounts
	now        func() time.Time
}

// Idempotency returns the idempotency of a change whose request has a key. The key
// belongs to a merchant, or to the operators for OperatorKeys and BulkKeys. request is a
// digest of the whole request, or of a line of a bulk request. Without a key, the change
// is not idempotent.
func (s *Service) Idempotency(merchantID int64, key string, request [sha256.Size]byte) Idempotency {
	if key == "" {
		return Idempotency{}
	}
	return Idempotency{merchantID: merchantID, key: key, request: request, records: s.records, now: s.Now}
}

// ChangeOptions are the source and the idempotency of a change with the result T. The
// zero value is that of a command.
type ChangeOptions[T any] struct {
	Source      Source
	Idempotency Idempotency
	// Response encodes the response to record for the key: that of a result, or
	// that of a refusal if refusal is not nil. It returns nil if the refusal is
	// not to be recorded; the key is free again then. It runs inside the
	// transaction, possibly more than once. Set if there is a key.
	Response func(result T, refusal error) ([]byte, error)

	// holds is true for a change that leaves the record without a response if it
	// succeeds.
	holds bool
}

// Change makes one change in one transaction, which inTx runs. fn makes the change, or
// returns a refusal before it has changed anything. With a key, the response is
// recorded in the same transaction, also the response to a refusal. Errors beside
// those of fn are those of the key: *ReplayError, ErrIdempotencyKeyReused,
// ErrIdempotencyKeyInUse, ErrTooManyIdempotencyKeys.
func Change[T any, TX KeyTx](ctx context.Context, inTx func(context.Context, func(TX) error) error, options ChangeOptions[T],
	fn func(TX) (T, error),
) (T, error) {
	var none T
	full, err := options.Idempotency.full(ctx)
	if err != nil {
		return none, err
	}
	var result T
	var refusal error
	err = inTx(ctx, func(tx TX) error {
		// The key comes first: a second request with it blocks here and then finds
		// the recorded response, whatever the state of the order is by then.
		if err := options.Idempotency.reserve(ctx, tx); err != nil {
			return err
		}
		if full {
			return ErrTooManyIdempotencyKeys
		}
		result, refusal = fn(tx)
		return options.record(ctx, tx, result, refusal)
	})
	if err == nil {
		options.Idempotency.count()
		err = refusal
	}
	if err != nil {
		return none, err
	}
	return result, nil
}

// full reports whether the owner of the key must not create another record. It is
// false without a key.
func (i Idempotency) full(ctx context.Context) (bool, error) {
	if i.key == "" {
		return false, nil
	}
	return i.records.full(ctx, i.merchantID)
}

// count counts the record that a change has created.
func (i Idempotency) count() {
	if i.key != "" {
		i.records.add(i.merchantID)
	}
}

// reserve reserves the key, if there is one.
func (i Idempotency) reserve(ctx context.Context, tx KeyTx) error {
	if i.key == "" {
		return nil
	}
	return tx.ReserveIdempotencyKey(ctx, i.merchantID, i.key, i.request, i.now())
}

// save stores the response in the record of the key.
func (i Idempotency) save(ctx context.Context, tx KeyTx, response []byte) error {
	return tx.SaveResponse(ctx, i.merchantID, i.key, i.request, response)
}

// record saves the response to a change in the idempotency record of its key. If
// the refusal is not to be recorded it returns the refusal, so that the
// transaction rolls back and the key is free.
func (o ChangeOptions[T]) record(ctx context.Context, tx KeyTx, result T, refusal error) error {
	if o.Idempotency.key == "" || o.holds && refusal == nil {
		return refusal
	}
	response, err := o.Response(result, refusal)
	switch {
	case err != nil:
		return errors.Join(refusal, err)
	case response == nil && refusal == nil:
		return errors.New("a successful change has no response to record")
	case response == nil:
		return refusal
	}
	return o.Idempotency.save(ctx, tx, response)
}

// Refuse returns the error of a request that is refused because of its form, before
// any change began: the refusal, or an error of the key, which comes first:
// *ReplayError, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse. It records nothing.
func (s *Service) Refuse(ctx context.Context, merchantID int64, options WriteOptions, refusal error) error {
	idempotency := s.idempotency(merchantID, options)
	if idempotency.key == "" {
		return refusal
	}
	return s.store.InTx(ctx, func(tx Tx) error {
		if err := idempotency.reserve(ctx, tx); err != nil {
			return err
		}
		return refusal // the key is free again
	})
}
