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

// ChangeOrder changes an order on behalf of the marketplace (decision 2). Corrections
// do not depend on the state. A value that an order has already is no change; without
// a change there is no event, and the order keeps its revision. Errors, in addition to
// those of the idempotency key, in the order in which they are checked: ErrNotFound,
// ErrPreconditionFailed, ErrInvalidReason, *TransitionError.
func (s *Service) ChangeOrder(ctx context.Context, merchantID int64, id Identifier, change Update, options WriteOptions) (WriteResult, error) {
	return s.write(ctx, merchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		return change.apply(ctx, tx, locked, Cause{Actor: ActorOperator, Source: options.Source, At: s.Now(), Reason: change.Reason})
	})
}

// Transition moves an order to a state; see ChangeOrder.
func (s *Service) Transition(ctx context.Context, merchantID int64, id Identifier, to State, options WriteOptions) (WriteResult, error) {
	return s.ChangeOrder(ctx, merchantID, id, Update{To: to}, options)
}

// apply makes the change of a locked order. The correction comes first, so that its
// event is older than that of the transition.
func (c Update) apply(ctx context.Context, tx Tx, locked LockedOrder, cause Cause) (WriteResult, error) {
	if c.To != 0 && !c.Reason.ValidFor(c.To) {
		return WriteResult{}, ErrInvalidReason
	}
	if (c.To != 0 || c.Correction.Empty()) && !cause.Actor.CanTransition(locked.State, c.To) {
		return WriteResult{}, &TransitionError{From: locked.State, To: c.To}
	}
	result := WriteResult{LockedOrder: locked}
	if !c.Correction.Empty() {
		fields, err := tx.Correct(ctx, locked, c.Correction, cause)
		if err != nil {
			return WriteResult{}, err
		}
		if len(fields) > 0 {
			locked.Revision = locked.NextRevision
			locked.NextRevision = NextRevision(locked.Revision)
		}
		result = WriteResult{LockedOrder: locked, Corrected: fields}
	}
	if c.To == 0 {
		return result, nil
	}
	moved, err := moveTo(ctx, tx, locked, c.To, cause)
	moved.Corrected = result.Corrected
	return moved, err
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
