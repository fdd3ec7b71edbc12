package order

import (
	"context"
	"strings"
)

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
// ErrPreconditionFailed, ErrInvalidReason, *TransitionError.
func (s *Service) ChangeOrder(ctx context.Context, caller Caller, merchantID int64, id Identifier, change Update, options Options[WriteResult]) (WriteResult, error) {
	return s.write(ctx, caller, merchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		return s.update(ctx, tx, caller, locked, change)
	})
}

// update changes a locked order, or returns ErrInvalidReason or *TransitionError. Of
// several simultaneous transitions from one state exactly one succeeds, because the order
// is locked between the check of its state and the change. The correction comes first, so
// that its event is older than that of the transition.
func (s *Service) update(ctx context.Context, tx Tx, caller Caller, locked LockedOrder, change Update) (WriteResult, error) {
	if change.To != 0 && !change.Reason.ValidFor(change.To) {
		return WriteResult{}, ErrInvalidReason
	}
	if (change.To != 0 || change.Correction.Empty()) && !caller.Actor.CanTransition(locked.State, change.To) {
		return WriteResult{}, &TransitionError{From: locked.State, To: change.To}
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
}

// Error returns which transitions are allowed. Operators read it.
func (e *TransitionError) Error() string {
	text := "an order in the state " + e.From.String() + " cannot move to " + e.To.String() + ": "
	allowed := e.Allowed()
	if len(allowed) == 0 {
		return text + "the state is final"
	}
	return text + "it can move to " + strings.Join(allowed, ", ")
}

// Allowed returns the names of the states to which the order can move.
func (e *TransitionError) Allowed() []string {
	names := make([]string, 0, len(states[e.From].byOperator))
	for _, s := range states[e.From].byOperator {
		names = append(names, s.String())
	}
	return names
}

// Unwrap returns ErrInvalidTransition.
func (*TransitionError) Unwrap() error { return ErrInvalidTransition }
