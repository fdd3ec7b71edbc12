package order

import (
	"context"
	"slices"
	"strings"
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

// transition is a requested change of state.
type transition struct {
	actor   Actor
	to      State
	reason  Reason
	refusal error // returned if the state table does not allow the transition
}

// transition makes the changes of state by merchants. Of several simultaneous
// transitions from one state exactly one succeeds, because the order is locked between
// the check of its state and the change.
func (s *Service) transition(ctx context.Context, merchantID int64, id Identifier, options WriteOptions, change transition) (WriteResult, error) {
	return s.write(ctx, merchantID, id, options, func(tx Tx, locked LockedOrder) (WriteResult, error) {
		if !change.reason.Valid() {
			return WriteResult{}, ErrInvalidReason
		}
		if !change.actor.CanTransition(locked.State, change.to) {
			return WriteResult{}, change.refusal
		}
		cause := Cause{Actor: change.actor, Source: options.Source, At: s.Now(), Reason: change.reason}
		return moveTo(ctx, tx, locked, change.to, cause)
	})
}

// moveTo sets the state of a locked order.
func moveTo(ctx context.Context, tx Tx, locked LockedOrder, to State, cause Cause) (WriteResult, error) {
	if err := tx.Transition(ctx, locked, to, cause); err != nil {
		return WriteResult{}, err
	}
	locked.State = to
	locked.Revision = locked.NextRevision
	return WriteResult{LockedOrder: locked}, nil
}

// Reason is why a state changes. Empty: none given.
type Reason string

// Reasons are the allowed reasons for a rejection (spec 4.1).
var Reasons = []Reason{"out-of-stock", "damaged", "wrong-price", "disabled-product", "wrong-product"}

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
