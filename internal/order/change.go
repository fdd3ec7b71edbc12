package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// IdempotencyRetention is how long an idempotency record is valid.
const IdempotencyRetention = 24 * time.Hour

// Key is the idempotency key of a change. Keys of a merchant and those of the operators
// are apart. The zero Key is that of a change that is made again at each repetition.
type Key struct {
	Text string // the client's name for the request; empty: there is no key
	// Line is the number of the line of a request of many changes, from 1; 0: the key is
	// that of a request of one change.
	Line int64
	// Digest is a digest of the whole request, or of the line.
	Digest [sha256.Size]byte
}

// Options are the precondition and the idempotency of a change with the result T. The
// zero value is that of a command.
type Options[T any] struct {
	// IfMatch reports whether the order is in the version that the client expects; nil
	// accepts any version. It is called while the order is locked, before every other
	// rule except that the order exists. If it returns false, the change is refused with
	// ErrPreconditionFailed. Changes of other things ignore it.
	IfMatch func(LockedOrder) bool
	Key     Key
	// Record encodes the response to record for the key: that of a result, or that of a
	// refusal if refusal is not nil. It returns nil if the refusal is not to be recorded;
	// the key is free again then. It runs inside the transaction, possibly more than
	// once, so it has no effects. Set if there is a key.
	Record func(result T, refusal error) ([]byte, error)

	// held is true for a change that leaves the record without a response if it
	// succeeds: its key is in use until another change records the response.
	held bool
}

// ReplayError is the error of a change whose idempotency key has a recorded response.
// The change was not repeated.
type ReplayError struct {
	Response []byte // as Options.Record encoded it
}

// Error implements error.
func (*ReplayError) Error() string { return "a response is recorded for this idempotency key" }

// KeyTx is the part of a transaction that holds idempotency records. The transactions
// of all services have it. Keys belong to a merchant, or to the operators for 0.
type KeyTx interface {
	// ReserveIdempotencyKey creates the idempotency record of a key. The caller
	// calls it first, before it locks an order. Another transaction with the
	// same key blocks until this one ends. If a record younger than
	// IdempotencyRetention exists, it returns
	//   - *ReplayError with the recorded response,
	//   - ErrIdempotencyKeyReused if the record is of another request, or
	//   - ErrIdempotencyKeyInUse if the record waits for an upload whose
	//     reservation still exists (see Tx.HoldIdempotencyKey).
	ReserveIdempotencyKey(ctx context.Context, merchantID int64, key Key, at time.Time) error
	// SaveResponse stores the response in the record of a key.
	SaveResponse(ctx context.Context, merchantID int64, key Key, response []byte) error
}

// KeyStore counts idempotency records. The stores of all services are one.
type KeyStore interface {
	// CountIdempotencyRecords returns how many records there are of requests, or of
	// lines, or limit if there are more.
	CountIdempotencyRecords(ctx context.Context, merchantID int64, lines bool, limit int) (int, error)
}

// Changes makes the changes of one service, in transactions of the type TX.
type Changes[TX KeyTx] struct {
	inTx    func(context.Context, func(TX) error) error
	records *recordCounts
	now     func() time.Time
}

// NewChanges returns the Changes that a function of a store runs in transactions; see
// Store.InTx. now is the clock.
func NewChanges[TX KeyTx](store KeyStore, inTx func(context.Context, func(TX) error) error, now func() time.Time) *Changes[TX] {
	return &Changes[TX]{inTx: inTx, records: newRecordCounts(store, now), now: now}
}

// Change makes one change in one transaction. fn makes the change, or returns a refusal
// before it has changed anything. With a key, the response is recorded in the same
// transaction, also the response to a refusal. Errors beside those of fn are those of
// the key: *ReplayError, ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse,
// ErrTooManyIdempotencyKeys.
func Change[T any, TX KeyTx](ctx context.Context, c *Changes[TX], caller Caller, options Options[T], fn func(TX) (T, error)) (T, error) {
	var done outcome[T]
	if err := c.records.count(ctx, caller, options.Key); err != nil {
		return done.result, err
	}
	err := c.inTx(ctx, func(tx TX) (err error) {
		done, err = changeOnce(ctx, c, tx, caller, options, fn)
		return err
	})
	if err == nil {
		c.records.add(caller, options.Key)
		err = done.refusal
	}
	if err != nil {
		var none T
		return none, err
	}
	return done.result, nil
}

// Outcome is the result of one change of a batch.
type Outcome[T any] struct {
	Result T
	// Err is why the change was not made: a refusal, ErrIdempotencyKeyReused, or
	// *ReplayError if it was made before. It is nil if the change was made.
	Err error
}

// ChangeMany makes the changes of a batch in one transaction, in their order, as Change
// makes one, and returns one outcome for each. A refused change does not affect the
// others, and its key is free again. fn makes the change with an index. isRefusal
// reports whether an error of fn concerns its change alone. Errors: those of fn that are
// no refusals, ErrTooManyIdempotencyKeys.
func ChangeMany[T any, TX KeyTx](ctx context.Context, c *Changes[TX], caller Caller, batch []Options[T],
	fn func(tx TX, index int) (T, error), isRefusal func(error) bool,
) ([]Outcome[T], error) {
	outcomes := make([]Outcome[T], len(batch))
	for _, options := range batch {
		if err := c.records.count(ctx, caller, options.Key); err != nil {
			return nil, err
		}
	}
	err := c.inTx(ctx, func(tx TX) error {
		for i, options := range batch {
			done, err := changeOnce(ctx, c, tx, caller, options, func(tx TX) (T, error) { return fn(tx, i) })
			replay := new(*ReplayError)
			if err != nil && !errors.As(err, replay) && !errors.Is(err, ErrIdempotencyKeyReused) && !isRefusal(err) {
				return fmt.Errorf("change %d of %d: %w", i+1, len(batch), err)
			}
			if err == nil {
				err = done.refusal
			}
			outcomes[i] = Outcome[T]{done.result, err}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, options := range batch {
		if outcomes[i].Err == nil {
			c.records.add(caller, options.Key)
		}
	}
	return outcomes, nil
}

// outcome is what a change has come to, once its response is recorded.
type outcome[T any] struct {
	result  T
	refusal error // recorded
}

// changeOnce makes a change in a transaction, unless the response for its key is
// recorded. It returns as an error what must not be committed on its own: errors of the
// key, and refusals that are not recorded.
func changeOnce[T any, TX KeyTx](ctx context.Context, c *Changes[TX], tx TX, caller Caller, options Options[T], fn func(TX) (T, error)) (outcome[T], error) {
	// The key comes first: a second request with it blocks here and then finds the
	// recorded response, whatever the state of the order is by then.
	if err := c.reserve(ctx, tx, caller, options.Key); err != nil {
		return outcome[T]{}, err
	}
	if c.records.full(caller, options.Key) {
		return outcome[T]{}, ErrTooManyIdempotencyKeys
	}
	var done outcome[T]
	done.result, done.refusal = fn(tx)
	return done, record(ctx, tx, caller, options, done)
}

// reserve reserves the key of a change, if it has one.
func (c *Changes[TX]) reserve(ctx context.Context, tx TX, caller Caller, key Key) error {
	if key.Text == "" {
		return nil
	}
	return tx.ReserveIdempotencyKey(ctx, caller.MerchantID, key, seconds(c.now))
}

// record saves the response to a change in the idempotency record of its key. It returns
// the refusal if that is not recorded.
func record[T any](ctx context.Context, tx KeyTx, caller Caller, options Options[T], done outcome[T]) error {
	if options.Key.Text == "" || options.held && done.refusal == nil {
		return done.refusal
	}
	response, err := options.Record(done.result, done.refusal)
	switch {
	case err != nil:
		return errors.Join(done.refusal, err)
	case response == nil && done.refusal == nil:
		return errors.New("a successful change has no response to record")
	case response == nil:
		return done.refusal
	}
	return tx.SaveResponse(ctx, caller.MerchantID, options.Key, response)
}

// errProceed means that no response is recorded for an idempotency key.
var errProceed = errors.New("proceed")

// Replay returns the errors of an idempotency key, such as *ReplayError if a response is
// recorded. What has effects beside the transaction of its Change calls it first.
func (c *Changes[TX]) Replay(ctx context.Context, caller Caller, key Key) error {
	if err := c.Refuse(ctx, caller, key, errProceed); !errors.Is(err, errProceed) {
		return err
	}
	return nil
}

// Refuse returns the error of a request that is refused because of its form, before any
// change began: the refusal, or an error of the key, which comes first: *ReplayError,
// ErrIdempotencyKeyReused, ErrIdempotencyKeyInUse. It records nothing.
func (c *Changes[TX]) Refuse(ctx context.Context, caller Caller, key Key, refusal error) error {
	if key.Text == "" {
		return refusal
	}
	return c.inTx(ctx, func(tx TX) error {
		if err := c.reserve(ctx, tx, caller, key); err != nil {
			return err
		}
		return refusal // the key is free again
	})
}
