package order

import (
	"context"
	"slices"
	"time"
)

// Cause says who makes a change, when, and why. It becomes part of the event.
type Cause struct {
	Actor  Actor
	Source Source
	At     time.Time
	Reason Reason // empty: none given
}

// Accept moves a registered order to in-processing on behalf of its merchant.
// Errors, in addition to those of the idempotency key: ErrNotFound,
// ErrPreconditionFailed, ErrCannotAccept.
func (s *Service) Accept(ctx context.Context, merchantID int64, id Identifier, options WriteOptions) (WriteResult, error) {
	return s.transition(ctx, merchantID, id, options,
		transition{actor: ActorMerchant, to: InProcessing, refusal: ErrCannotAccept})
}

// Reject moves a registered order to rejected-by-merchant on behalf of its
// merchant. Errors, in addition to those of the idempotency key, in the order in
// which they are checked: ErrNotFound, ErrPreconditionFailed, ErrInvalidReason,
// ErrCannotReject.
func (s *Service) Reject(ctx context.Context, merchantID int64, id Identifier, reason Reason, options WriteOptions) (WriteResult, error) {
	return s.transition(ctx, merchantID, id, options,
		transition{actor: ActorMerchant, to: RejectedByMerchant, reason: reason, refusal: ErrCannotReject})
}

// Transition moves an order to a state on behalf of the marketplace (decision
// 2). Errors, in addition to those of the idempotency key: ErrNotFound,
// ErrPreconditionFailed, ErrInvalidTransition.
func (s *Service) Transition(ctx context.Context, merchantID int64, id Identifier, to State, options WriteOptions) (WriteResult, error) {
	return s.transition(ctx, merchantID, id, options,
		transition{actor: ActorOperator, to: to, refusal: ErrInvalidTransition})
}

// transition is a requested change of state.
type transition struct {
	actor   Actor
	to      State
	reason  Reason
	refusal error // returned if the state table does not allow the transition
}

// transition makes every change of state. Of several simultaneous transitions
// from one state exactly one succeeds, because the order is locked between the
// check of its state and the change.
func (s *Service) transition(ctx context.Context, merchantID int64, id Identifier, options WriteOptions, change transition) (WriteResult, error) {
	return s.write(ctx, merchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		if !change.reason.Valid() {
			return WriteResult{}, ErrInvalidReason
		}
		if !change.actor.CanTransition(locked.State, change.to) {
			return WriteResult{}, change.refusal
		}
		cause := Cause{Actor: change.actor, Source: options.Source, At: s.Now(), Reason: change.reason}
		if err := tx.Transition(ctx, locked, change.to, cause); err != nil {
			return WriteResult{}, err
		}
		locked.State = change.to
		locked.Revision = locked.NextRevision
		return WriteResult{LockedOrder: locked}, nil
	})
}

// Reason is the reason for a rejection. Empty: none given.
type Reason string

// Reasons are the allowed reasons (spec 4.1).
var Reasons = []Reason{"out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"}

// Valid reports whether r is empty or one of the allowed reasons.
func (r Reason) Valid() bool {
	return r == "" || slices.Contains(Reasons, r)
}
