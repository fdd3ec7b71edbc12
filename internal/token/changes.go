package token

import (
	"context"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// Limits of the tokens that a merchant creates itself. Those of sessions and of commands do not
// count: each start of a demo makes one.
const (
	// MaxValid is how many valid tokens the merchant may have.
	MaxValid = 100
	// MaxPerDay is how many tokens of the merchant may be created in 24 hours, and how many
	// sessions may begin in that time by login links that tokens made.
	MaxPerDay = 100
)

// DefaultOverlap is the overlap of a rotation if none is requested.
const DefaultOverlap = 24 * time.Hour

// The actions on tokens in the audit log. The subject is the token; of ActionRotated the
// new one, and the detail names the old one.
const (
	ActionCreated order.AuditAction = "token.created"
	ActionRotated order.AuditAction = "token.rotated"
	ActionRevoked order.AuditAction = "token.revoked"
	// ActionLinkCreated has no subject: a login link has no id. Its use is ActionCreated.
	ActionLinkCreated order.AuditAction = "login_link.created"
	// ActionSessionEnded is of a session that somebody else ended, and whose token stays.
	ActionSessionEnded order.AuditAction = "session.ended"
	// ActionSessionBegun is of a session that acts as a passkey, which is older than it.
	ActionSessionBegun order.AuditAction = "session.begun"
)

// Request describes a new token.
type Request struct {
	Operator   bool  // of the operator; MerchantID is 0 then
	MerchantID int64 // of the merchant
	Scopes     order.Scope
	Expiry     Expiry // zero: after Registry.MaxLifetime
	Label      string // checked with LabelProblem
}

// Expiry is when a new token expires: after a time, or at a time. Zero: when it does if
// nothing is requested.
type Expiry struct {
	After time.Duration
	At    time.Time
}

// ExpiryForm says what ParseExpiry takes.
const ExpiryForm = "must be a duration such as 2160h or 90d, or a day such as 2027-01-31"

// ParseExpiry parses an expiry: a duration or a number of days, of at least a second, or a
// day in UTC, at whose beginning the token expires.
func ParseExpiry(text string) (Expiry, bool) {
	if day, ok := order.ParseDay(text); ok {
		return Expiry{At: day.Start()}, day > 0 // a time before 1970 could be the zero time
	}
	after, ok := order.ParseDuration(text)
	return Expiry{After: after}, ok && after >= time.Second
}

// Created is a new token.
type Created struct {
	Text  string // cannot be read again
	Token Token
	// Replaced is the token that it replaces, with its new expiry; zero: none.
	Replaced Token
}

// Create creates a token for a merchant with a command and returns its text, which
// cannot be read again. Lifetime 0 means Registry.MaxLifetime. The errors are those of
// Add.
func (r *Registry) Create(ctx context.Context, merchantID int64, scopes order.Scope, lifetime time.Duration) (string, Token, error) {
	created, err := r.Add(ctx, order.Command(), Request{MerchantID: merchantID, Scopes: scopes, Expiry: Expiry{After: lifetime}}, order.Options[Created]{})
	return created.Text, created.Token, err
}

// Add creates a token. Errors beside those of order.Change: order.ErrMerchantNotFound,
// ErrLifetime, *LifetimeError, ErrScopes, ErrTooMany.
func (r *Registry) Add(ctx context.Context, caller order.Caller, request Request, options order.Options[Created]) (Created, error) {
	return order.Change(ctx, r.changes, caller, options, func(tx Tx) (Created, error) {
		if request.Operator != (request.MerchantID == 0) || request.MerchantID < 0 {
			// MerchantID 0 is an operator's token.
			return Created{}, order.ErrMerchantNotFound
		}
		t := Token{MerchantID: request.MerchantID, Scopes: request.Scopes, Label: request.Label}
		bound, err := r.bound(ctx, tx, caller.TokenID)
		if err == nil {
			err = r.mayAdd(ctx, tx, caller, t, Counts.tokenLeft)
		}
		if err == nil {
			t.ExpiresAt, err = r.expiry(caller, request.Expiry, 0, bound)
		}
		if err != nil {
			return Created{}, err
		}
		return r.complete(t, caller, func(hash Hash, t Token) (int64, error) {
			entry := r.entry(ActionCreated, t, caller)
			return tx.AddToken(ctx, hash, t, entry)
		})
	})
}

// tokenLeft reports whether the merchant may have one more token.
func (n Counts) tokenLeft() bool { return n.Valid < MaxValid && n.Created < MaxPerDay }

// linkLeft reports whether one more login link may be made.
func (n Counts) linkLeft() bool { return n.Links < MaxPerDay }

// mayAdd returns the error if a caller may not add a token, or a login link whose session
// gets it. left reports whether the limits of a merchant allow it.
func (r *Registry) mayAdd(ctx context.Context, tx Tx, caller order.Caller, added Token, left func(Counts) bool) error {
	switch {
	case caller.Operator() && !added.Operator():
		return nil
	case !caller.Scopes.Has(added.Scopes):
		return ErrScopes
	case caller.Operator():
		return nil
	}
	now := r.now()
	n, err := tx.CountTokens(ctx, added.MerchantID, now, now.Add(-24*time.Hour))
	if err == nil && !left(n) {
		err = ErrTooMany
	}
	return err
}

// bound locks the token of a caller and returns when the tokens that it makes end at the
// latest: no child outlives its parent. Zero: never. A token that is not valid any more
// makes none.
func (r *Registry) bound(ctx context.Context, tx Tx, id int64) (time.Time, error) {
	if id == 0 { // a command
		return time.Time{}, nil
	}
	t, bound, err := tx.LockToken(ctx, id)
	if err == nil && !t.Valid(r.now()) {
		err = &InvalidError{ID: id}
	}
	return bound, err
}

// expiry returns when a new token ends: as it is wanted, or for the zero Expiry after the
// usual lifetime, but not after the bound of the caller. A usual lifetime of 0 and the zero time mean never.
func (r *Registry) expiry(caller order.Caller, wanted Expiry, usual time.Duration, bound time.Time) (time.Time, error) {
	now := r.createdAt()
	end := wanted.At
	if wanted.After != 0 {
		end = now.Add(wanted.After)
	}
	switch {
	case end.IsZero():
	case !end.After(now):
		return time.Time{}, ErrLifetime
	case r.MaxLifetime > 0 && end.Sub(now) > r.MaxLifetime:
		return time.Time{}, &LifetimeError{Max: r.MaxLifetime}
	case !bound.IsZero() && end.After(bound):
		return time.Time{}, &LifetimeError{Max: bound.Sub(now), TokenID: caller.TokenID, Ends: bound}
	default:
		return end, nil
	}
	if r.MaxLifetime > 0 && (usual == 0 || usual > r.MaxLifetime) {
		usual = r.MaxLifetime
	}
	if usual == 0 {
		return bound, nil
	}
	return earlier(now.Add(usual), bound), nil
}

// earlier returns the earlier one of a time and a bound; the zero bound is never.
func earlier(t, bound time.Time) time.Time {
	if bound.IsZero() || t.Before(bound) {
		return t
	}
	return bound
}

// createdAt returns the time of tokens that are made now.
func (r *Registry) createdAt() time.Time { return r.now().UTC().Truncate(time.Second) }

// complete completes a token and stores it with a function that returns its id.
func (r *Registry) complete(t Token, caller order.Caller, store func(Hash, Token) (int64, error)) (Created, error) {
	prefix := MerchantPrefix
	if t.Operator() {
		prefix = OperatorPrefix
	}
	text, hint := NewText(prefix)
	t.Hint, t.CreatedBy = hint, caller.TokenID
	t.CreatedAt = r.createdAt()
	hash, err := HashText(text)
	if err != nil {
		return Created{}, err
	}
	if t.ID, err = store(hash, t); err != nil {
		return Created{}, err
	}
	return Created{Text: text, Token: t}, nil
}

// entry returns the audit entry of a change of a token.
func (r *Registry) entry(action order.AuditAction, t Token, caller order.Caller) order.AuditEntry {
	entry := order.AuditEntry{
		MerchantID: t.MerchantID, At: r.createdAt(), Action: action, By: caller, SubjectID: t.ID,
	}
	if action == ActionCreated {
		entry.Detail = order.AuditDetail("scopes", t.Scopes.String())
	}
	return entry
}

// Rotation describes the replacement of a token.
type Rotation struct {
	ID      int64         // of the old token
	Overlap time.Duration // after which it expires
	Expiry  Expiry        // of the new one; zero: after the lifetime of the old one, up to Registry.MaxLifetime
}

// Rotate replaces a token: it creates one for the same merchant, or for the operator,
// with the same scopes and label, and lets the old one expire after the overlap, or
// earlier if it would anyway. Errors beside those of Add: ErrUnknown, and *InvalidError
// if the old token has expired or is revoked.
func (r *Registry) Rotate(ctx context.Context, caller order.Caller, rotation Rotation, options order.Options[Created]) (Created, error) {
	return order.Change(ctx, r.changes, caller, options, func(tx Tx) (Created, error) {
		old, end, bound, err := r.lockRotated(ctx, tx, rotation.ID, caller)
		if err != nil {
			return Created{}, err
		}
		now := r.now().UTC()
		if !old.Valid(now) {
			return Created{}, &InvalidError{ID: old.ID}
		}
		t := Token{MerchantID: old.MerchantID, Scopes: old.Scopes, Label: old.Label}
		if err := r.mayAdd(ctx, tx, caller, t, Counts.tokenLeft); err != nil {
			return Created{}, err
		}
		// An earlier rotation, whose response may have been lost, has cut ExpiresAt only.
		var usual time.Duration
		if !end.IsZero() {
			usual = end.Sub(old.CreatedAt)
		}
		if t.ExpiresAt, err = r.expiry(caller, rotation.Expiry, usual, bound); err != nil {
			return Created{}, err
		}
		// Times are stored in whole seconds. Rounded down, so that without an overlap the
		// old token is not valid for the rest of this second.
		old.ExpiresAt = earlier(now.Add(rotation.Overlap).Truncate(time.Second), old.ExpiresAt)
		created, err := r.complete(t, caller, func(hash Hash, t Token) (int64, error) {
			entry := r.entry(ActionRotated, t, caller)
			entry.Detail = order.AuditDetail("old", strconv.FormatInt(old.ID, 10))
			return tx.AddToken(ctx, hash, t, entry)
		})
		if err != nil {
			return Created{}, err
		}
		created.Replaced = old
		return created, tx.ExpireToken(ctx, old.ID, old.ExpiresAt)
	})
}

// lockRotated locks the token that a caller rotates, and its own, and returns the bounds of
// both. They are locked by id, so that two rotations cannot deadlock.
func (r *Registry) lockRotated(ctx context.Context, tx Tx, id int64, caller order.Caller) (old Token, end, bound time.Time, err error) {
	if caller.TokenID < id {
		bound, err = r.bound(ctx, tx, caller.TokenID)
	}
	if err == nil {
		old, end, err = lockFor(ctx, tx, id, caller)
	}
	if err == nil && caller.TokenID >= id {
		bound, err = r.bound(ctx, tx, caller.TokenID)
	}
	return old, end, bound, err
}

// lockFor locks a token that a caller changes. For a merchant those of others do not
// exist.
func lockFor(ctx context.Context, tx Tx, id int64, caller order.Caller) (t Token, bound time.Time, err error) {
	t, bound, err = tx.LockToken(ctx, id)
	if err == nil && !caller.Operator() && (t.Operator() || t.MerchantID != caller.MerchantID) {
		return Token{}, bound, ErrUnknown
	}
	return t, bound, err
}

// ID returns the id of a token, given by its id or its text, or ErrUnknown. There need
// not be a token with that id.
func (r *Registry) ID(ctx context.Context, idOrText string) (int64, error) {
	if id, err := strconv.ParseInt(idOrText, 10, 64); err == nil {
		return id, nil
	}
	hash, err := HashText(idOrText)
	if err != nil {
		return 0, ErrUnknown
	}
	g, err := r.store.Grant(ctx, hash)
	return g.ID, err
}

// RevokeID revokes a token by its id and returns the id. Revoking it again has no effect. With
// the token of a session it revokes the passkeys of the person.
// Errors beside those of order.Change: ErrUnknown.
func (r *Registry) RevokeID(ctx context.Context, caller order.Caller, id int64, options order.Options[int64]) (int64, error) {
	return order.Change(ctx, r.changes, caller, options, func(tx Tx) (int64, error) {
		all, err := lockAccess(ctx, tx, id, caller)
		for _, t := range all {
			if err == nil && t.RevokedAt.IsZero() {
				err = r.revoke(ctx, tx, t, caller)
			}
		}
		return id, err
	})
}

// lockAccess locks a token that a caller revokes, and with the valid one of a session the
// passkeys of its person, who shall not come back.
func lockAccess(ctx context.Context, tx Tx, id int64, caller order.Caller) ([]Token, error) {
	t, _, err := lockFor(ctx, tx, id, caller)
	if err != nil || t.Hint != "" || t.Passkey != "" || !t.RevokedAt.IsZero() {
		return []Token{t}, err
	}
	passkeys, err := tx.LockPasskeys(ctx, t.MerchantID, t.Label)
	return append(passkeys, t), err
}

// revoke revokes a locked token that is not revoked.
func (r *Registry) revoke(ctx context.Context, tx Tx, t Token, caller order.Caller) error {
	return tx.RevokeToken(ctx, t.ID, r.now(), r.entry(ActionRevoked, t, caller))
}

// RevokeFamily revokes a token and all tokens that it made, and those that they made, and
// returns the ids of those that were not revoked before. Errors beside those of
// order.Change: ErrUnknown.
func (r *Registry) RevokeFamily(ctx context.Context, caller order.Caller, id int64, options order.Options[[]int64]) ([]int64, error) {
	return order.Change(ctx, r.changes, caller, options, func(tx Tx) ([]int64, error) {
		family, err := lockAccess(ctx, tx, id, caller)
		var revoked []int64
		// Until there are no more: those that are locked make no others.
		for err == nil && len(family) > 0 {
			for _, t := range family {
				if err == nil && t.RevokedAt.IsZero() {
					revoked, err = append(revoked, t.ID), r.revoke(ctx, tx, t, caller)
				}
			}
			if err == nil {
				family, err = tx.Descendants(ctx, id)
			}
		}
		return revoked, err
	})
}

// RevokeAll revokes all tokens of a merchant and returns the ids of those that were not
// revoked before. Errors beside those of order.Change: order.ErrMerchantNotFound.
func (r *Registry) RevokeAll(ctx context.Context, caller order.Caller, merchantID int64, options order.Options[[]int64]) ([]int64, error) {
	return order.Change(ctx, r.changes, caller, options, func(tx Tx) ([]int64, error) {
		ids, err := tx.UnrevokedTokens(ctx, merchantID)
		for _, id := range ids {
			if err == nil {
				err = r.revoke(ctx, tx, Token{ID: id, MerchantID: merchantID}, caller)
			}
		}
		return ids, err
	})
}
