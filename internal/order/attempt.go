package order

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// AnswerLife is how long the answer to an attempt with a key is kept.
const AnswerLife = 24 * time.Hour

// Attempt is what a client asks for beside a change itself: under which
// condition it is to be made, and that it is made once however often it is
// asked for. The zero Attempt is made unconditionally, and nothing is kept of
// it.
type Attempt struct {
	// Matches reports whether the order is as the client knows it; nil: any
	// order is. It is asked while the order is locked, before any rule but that
	// the order exists. Where it says no the attempt is refused with ErrChanged.
	Matches func(Head) bool

	// Key is the client's own name for the change; empty: it gave none. Keys
	// belong to the merchant.
	Key string
	// Request is a digest of all that is asked for under Key.
	Request [sha256.Size]byte
	// Answer writes what the client is told, to be kept and given again: of a
	// change, or, where refusal is not nil, of why there was none. It returns nil
	// for a refusal that is not to be kept: then Key is free again. It is called
	// within the transaction, perhaps more than once. Needed where there is a
	// Key.
	Answer func(done Changed, refusal error) ([]byte, error)
}

// Changed is an order after a change, with what else the change has brought.
type Changed struct {
	Head               // State and Revision are the new ones
	Invoice  Invoice   // of an upload
	Invoices []Invoice // of a deletion: the active ones that are left, oldest first
}

// Repeated is the error of an attempt that was made before. Nothing was done.
type Repeated struct {
	Answer []byte // the first answer, as Attempt.Answer wrote it
}

// Error implements error.
func (*Repeated) Error() string { return "the attempt was made before" }

// matches returns ErrChanged where the order is not as the client knows it.
func (a Attempt) matches(head Head) error {
	if a.Matches != nil && !a.Matches(head) {
		return ErrChanged
	}
	return nil
}

// lock locks the order that an attempt is to change, or returns ErrNotFound or
// ErrChanged.
func (a Attempt) lock(ctx context.Context, tx Tx, merchantID int64, key Key) (Head, error) {
	head, err := tx.LockOrder(ctx, merchantID, key)
	if err != nil {
		return Head{}, err
	}
	return head, a.matches(head)
}

// change runs an attempt in one transaction. do makes the change, or refuses
// before it has changed anything. With a key the answer is kept in the same
// transaction, that of a refusal too. Errors of the key: *Repeated,
// ErrKeyReused, ErrKeyRunning.
func (s *Service) change(ctx context.Context, merchantID int64, attempt Attempt, do func(Tx) (Changed, error)) (Changed, error) {
	var done Changed
	var refusal error
	err := s.store.InTx(ctx, func(tx Tx) error {
		if attempt.Key == "" {
			done, refusal = do(tx)
			return refusal
		}
		// The key comes first: whoever brings it a second time waits here, and then
		// finds the answer, whatever has become of the order.
		if err := tx.TakeKey(ctx, merchantID, attempt.Key, attempt.Request, s.Now()); err != nil {
			return err
		}
		done, refusal = do(tx)
		return attempt.keep(ctx, tx, merchantID, done, refusal)
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return Changed{}, err
	}
	return done, nil
}

// keep writes the answer to an attempt whose key is taken. It returns the
// refusal where that is not to be kept, which undoes the taking.
func (a Attempt) keep(ctx context.Context, tx Tx, merchantID int64, done Changed, refusal error) error {
	answer, err := a.Answer(done, refusal)
	switch {
	case err != nil:
		return errors.Join(refusal, err)
	case answer == nil && refusal == nil:
		return errors.New("a change has no answer")
	case answer == nil:
		return refusal
	}
	return tx.KeepAnswer(ctx, merchantID, a.Key, a.Request, answer)
}

// Refuse keeps the answer to an attempt that was refused for its form, before
// it could come to a change. It returns the refusal, or an error of the key:
// *Repeated, ErrKeyReused, ErrKeyRunning. Without a key nothing is kept.
func (s *Service) Refuse(ctx context.Context, merchantID int64, attempt Attempt, refusal error) error {
	if attempt.Key == "" {
		return refusal
	}
	_, err := s.change(ctx, merchantID, attempt, func(Tx) (Changed, error) { return Changed{}, refusal })
	return err
}

// ForgetAnswers removes the answers that were kept for AnswerLife. It returns
// how many.
func (s *Service) ForgetAnswers(ctx context.Context) (int, error) {
	before, total := s.Now().Add(-AnswerLife), 0
	for {
		n, err := s.store.ForgetAnswers(ctx, before, forgetBatch)
		total += n
		if err != nil || n < forgetBatch {
			return total, err
		}
	}
}

// forgetBatch is how many answers are removed at a time.
const forgetBatch = 500
