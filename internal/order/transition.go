package order

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// Cause says who makes a change, when, and why. It becomes part of the event.
type Cause struct {
	By     Caller
	At     time.Time
	Reason Reason // empty: none given
}

// WriteResult is an order after a change, and what else the change produced.
type WriteResult struct {
	LockedOrder           // State and Revision are the new ones
	Invoice     Invoice   // of an upload
	Invoices    []Invoice // of a deletion: the remaining active invoices, oldest first
	Link        SignedLink
	Corrected   []string // of a correction: the fields that changed, as in the order document
}

// write makes one change of an order, as Change does. fn makes the change of the locked
// order, or returns a refusal before it has changed anything. The response to a refusal
// is recorded unless the order was not found. Errors beside those of fn and of Change:
// ErrNotFound, ErrPreconditionFailed.
func (s *Service) write(ctx context.Context, caller Caller, merchantID int64, id Identifier, options Options[WriteResult], fn func(Tx, LockedOrder) (WriteResult, error)) (WriteResult, error) {
	if !id.Valid() {
		return WriteResult{}, s.changes.Refuse(ctx, caller, options.Key, ErrNotFound)
	}
	if encode := options.Record; encode != nil {
		options.Record = func(result WriteResult, refusal error) ([]byte, error) {
			if errors.Is(refusal, ErrNotFound) {
				return nil, nil
			}
			return encode(result, refusal)
		}
	}
	return Change(ctx, s.changes, caller, options, func(tx Tx) (WriteResult, error) {
		locked, err := options.lock(ctx, tx, merchantID, id)
		if err != nil {
			return WriteResult{}, err
		}
		return fn(tx, locked)
	})
}

// lock locks the order to be changed. It returns ErrNotFound or ErrPreconditionFailed.
func (o Options[T]) lock(ctx context.Context, tx Tx, merchantID int64, id Identifier) (LockedOrder, error) {
	locked, err := tx.LockOrder(ctx, merchantID, id)
	if err != nil {
		return LockedOrder{}, err
	}
	if o.IfMatch != nil && !o.IfMatch(locked) {
		return locked, ErrPreconditionFailed
	}
	return locked, nil
}

// Accept moves a registered order of the caller's merchant to in-processing. Errors, in
// addition to those of Change: ErrNotFound, ErrPreconditionFailed, ErrCannotAccept.
func (s *Service) Accept(ctx context.Context, caller Caller, id Identifier, options Options[WriteResult]) (WriteResult, error) {
	return s.answer(ctx, caller, id, Update{To: InProcessing}, ErrCannotAccept, options)
}

// Reject moves a registered order of the caller's merchant to rejected-by-merchant.
// Errors, in addition to those of Change, in the order in which they are checked:
// ErrNotFound, ErrPreconditionFailed, ErrInvalidReason, ErrCannotReject.
func (s *Service) Reject(ctx context.Context, caller Caller, id Identifier, reason Reason, options Options[WriteResult]) (WriteResult, error) {
	return s.answer(ctx, caller, id, Update{To: RejectedByMerchant, Reason: reason}, ErrCannotReject, options)
}

// answer makes the changes of state by merchants. It returns refusal if the state table
// does not allow the transition.
func (s *Service) answer(ctx context.Context, caller Caller, id Identifier, change Update, refusal error, options Options[WriteResult]) (WriteResult, error) {
	return s.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		result, err := s.update(ctx, tx, caller, locked, change)
		switch {
		case errors.Is(err, ErrInvalidTransition):
			err = &AnswerError{Refusal: refusal, State: locked.State}
		case errors.Is(err, ErrInvalidReason):
			err = &AnswerError{Refusal: ErrInvalidReason, State: locked.State}
		}
		return result, err
	})
}

// AnswerError is why an order in a state refuses the answer of its merchant: an ErrCannotAccept,
// ErrCannotReject or ErrInvalidReason.
type AnswerError struct {
	Refusal error
	State   State
}

// Error implements error.
func (e *AnswerError) Error() string { return e.Refusal.Error() }

// Unwrap returns the refusal.
func (e *AnswerError) Unwrap() error { return e.Refusal }

// Detail returns what is allowed, for whoever sent the answer.
func (e *AnswerError) Detail() string {
	if errors.Is(e.Refusal, ErrInvalidReason) {
		return "reason must be " + ReasonNames() + ", or left out."
	}
	return "The order is " + e.State.String() + " (" + e.State.Code() + " in version 1): only a registered order (" + Registered.Code() +
		") can be accepted or rejected. An earlier request may have succeeded: read the order."
}

// Update is what the marketplace changes in an order: its state, other fields, or
// both at once.
type Update struct {
	To         State  // 0: the state stays
	Reason     Reason // of the transition; empty: none given
	Correction Correction
}

// ChangeOrder changes an order of a merchant on behalf of the marketplace (decision 2).
// Corrections do not depend on the state. A value that an order has already is no change;
// without a change there is no event, and the order keeps its revision. Errors, in
// addition to those of Change, in the order in which they are checked: ErrNotFound,
// ErrPreconditionFailed, ErrInvalidReason, *TransitionError, ErrErased.
func (s *Service) ChangeOrder(ctx context.Context, caller Caller, merchantID int64, id Identifier, change Update, options Options[WriteResult]) (WriteResult, error) {
	return s.write(ctx, caller, merchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		return s.update(ctx, tx, caller, locked, change)
	})
}

// Rehearse brings an order of the caller's merchant to a state by the fewest transitions
// of the marketplace, for integrators in a sandbox. The marketplace is the actor of the
// events, and the token is the caller's. Errors, in addition to those of Change:
// ErrNotFound, ErrPreconditionFailed, *TransitionError if no transitions lead there.
func (s *Service) Rehearse(ctx context.Context, caller Caller, id Identifier, to State, options Options[WriteResult]) (WriteResult, error) {
	marketplace := caller
	marketplace.Actor, marketplace.MerchantID = ActorOperator, 0
	return s.write(ctx, caller, caller.MerchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		path, ok := marketplace.Actor.path(locked.State, to)
		if !ok {
			return WriteResult{}, &TransitionError{From: locked.State, To: to, By: marketplace.Actor}
		}
		result := WriteResult{LockedOrder: locked}
		for _, next := range path {
			var err error
			if result, err = s.update(ctx, tx, marketplace, result.LockedOrder, Update{To: next}); err != nil {
				return WriteResult{}, err
			}
			result.NextRevision = NextRevision(result.Revision)
		}
		return result, nil
	})
}

// update changes a locked order, or returns ErrInvalidReason, *TransitionError or
// ErrErased. Of several simultaneous transitions from one state exactly one succeeds,
// because the order is locked between the check of its state and the change. The
// correction comes first, so that its event is older than that of the transition.
func (s *Service) update(ctx context.Context, tx Tx, caller Caller, locked LockedOrder, change Update) (WriteResult, error) {
	if change.To != 0 && !change.Reason.ValidFor(change.To) {
		return WriteResult{}, ErrInvalidReason
	}
	if (change.To != 0 || change.Correction.Empty()) && !caller.Actor.CanTransition(locked.State, change.To) {
		return WriteResult{}, &TransitionError{From: locked.State, To: change.To, By: caller.Actor}
	}
	cause := Cause{By: caller, At: s.Now(), Reason: change.Reason}
	var corrected []string
	if !change.Correction.Empty() {
		var err error
		if corrected, err = tx.Correct(ctx, locked, change.Correction, cause); err != nil {
			return WriteResult{}, err
		}
		if len(corrected) > 0 {
			locked.Revision = locked.NextRevision
			locked.NextRevision = NextRevision(locked.Revision)
		}
	}
	if change.To != 0 {
		if err := tx.Transition(ctx, locked, change.To, cause); err != nil {
			return WriteResult{}, err
		}
		locked.State, locked.Revision = change.To, locked.NextRevision
	}
	return WriteResult{LockedOrder: locked, Corrected: corrected}, nil
}

// TransitionError is the ErrInvalidTransition of an order in a state.
type TransitionError struct {
	From, To State
	By       Actor
}

// Error returns which transitions are allowed. Clients read it.
func (e *TransitionError) Error() string {
	text := "an order in the state " + e.From.String() + " cannot move to " + e.To.String() + ": "
	switch allowed := e.Allowed(); {
	case len(allowed) > 0:
		return text + "it can move to " + strings.Join(allowed, ", ")
	case len(ActorOperator.transitions(e.From)) > 0:
		return text + "only the marketplace can change it"
	}
	return text + "the state is final"
}

// Allowed returns the names of the states to which the actor can move the order.
func (e *TransitionError) Allowed() []string {
	var names []string
	for _, s := range e.By.transitions(e.From) {
		names = append(names, s.String())
	}
	return names
}

// Unwrap returns ErrInvalidTransition.
func (*TransitionError) Unwrap() error { return ErrInvalidTransition }

// Reason is why a state changes. Empty: none given.
type Reason string

// Reasons are the allowed reasons for a rejection (spec 4.1).
var Reasons = []Reason{"out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"}

// ReasonNames returns Reasons for people, separated by commas.
func ReasonNames() string {
	names := make([]string, len(Reasons))
	for i, reason := range Reasons {
		names[i] = string(reason)
	}
	return strings.Join(names, ", ")
}

// Valid reports whether r is empty or one of the allowed reasons for a rejection.
func (r Reason) Valid() bool {
	return r == "" || slices.Contains(Reasons, r)
}

// MaxReasonLength is the length of the longest reason, in bytes.
const MaxReasonLength = 64

// ValidFor reports whether r may be the marketplace's reason for a transition to a
// state. The reasons for a rejection are those of merchants. Any other reason has the
// form of these: lower-case words and numbers, joined by hyphens. Merchants read it,
// and it stays when personal data is erased.
func (r Reason) ValidFor(to State) bool {
	if to == RejectedByMerchant || r == "" {
		return r.Valid()
	}
	for _, word := range strings.Split(string(r), "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(r) <= MaxReasonLength
}
