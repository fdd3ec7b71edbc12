package token

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"merchantorders/internal/order"
)

const (
	// PasskeyLifetime is how long a passkey works at most.
	PasskeyLifetime = 365 * 24 * time.Hour
	// IdentityPasskeyLifetime is how long one works that was made in a session of BeginAs:
	// the provider may not know the person any more.
	IdentityPasskeyLifetime = 30 * 24 * time.Hour
	// MaxPasskeys is how many valid passkeys the staff of a merchant have at most, or operators.
	MaxPasskeys = 100
)

var (
	// ErrNoPasskey means that a passkey does not exist, has ended, or is somebody else's.
	ErrNoPasskey = errors.New("there is no such passkey, or it has ended")
	// ErrPasskeyCopied means that the counter of a passkey went back: there are two of it.
	ErrPasskeyCopied = errors.New("the passkey was copied")
	// ErrNotPerson means that a session acts as a token that was not made for it.
	ErrNotPerson = errors.New("only who has signed in with a link or an identity provider makes a passkey")
)

// Person returns the name of whom the token was made for; empty: it is not known.
func (t Token) Person() string { return Session{Name: t.Label}.Person() }

// passkeyHash returns the hash of a passkey by the id of its credential, which is never that
// of a token's text.
func passkeyHash(credential []byte) Hash {
	return sha256.Sum256(append([]byte("passkey "), credential...))
}

// AddPasskey makes a passkey of a credential for the person of the caller's session, with the
// rights of the session and as made by who let the person in: it ends with that token. record
// is what UsePasskey checks it with. Errors: ErrNotPerson, also if the credential has a passkey
// already, and ErrTooMany.
func (s *Sessions) AddPasskey(ctx context.Context, caller order.Caller, session Session, credential []byte, record string) error {
	own, err := s.tokens.List(ctx, Filter{IDs: []int64{caller.TokenID}})
	if err != nil || len(own) == 0 || !session.OwnsToken {
		return cmp.Or(err, ErrNotPerson)
	}
	hash, made, by := passkeyHash(credential), own[0], caller
	if _, err := s.tokens.store.Grant(ctx, hash); !errors.Is(err, ErrUnknown) {
		return cmp.Or(err, ErrNotPerson)
	}
	usual := PasskeyLifetime
	if made.ExpiresAt.Sub(made.CreatedAt) <= IdentityLifetime {
		usual = IdentityPasskeyLifetime // one of a shorter-lived link ends earlier anyway
	}
	by.TokenID = made.CreatedBy
	_, err = order.Change(ctx, s.tokens.changes, caller, order.Options[Created]{}, func(tx Tx) (Created, error) {
		bound, err := s.tokens.bound(ctx, tx, made.CreatedBy)
		if err == nil {
			_, err = s.tokens.bound(ctx, tx, made.ID)
		}
		if err != nil {
			return Created{}, err
		}
		now := s.now()
		if n, err := tx.CountTokens(ctx, made.MerchantID, now, now); err != nil || n.Passkeys >= MaxPasskeys {
			return Created{}, cmp.Or(err, ErrTooMany)
		}
		t := Token{MerchantID: made.MerchantID, Scopes: made.Scopes, Label: made.Label, Passkey: record}
		if t.ExpiresAt, err = s.tokens.expiry(by, Expiry{}, usual, bound); err != nil {
			return Created{}, err
		}
		return s.tokens.complete(t, by, func(_ Hash, t Token) (int64, error) {
			t.Hint = ""
			return tx.AddToken(ctx, hash, t, s.entry(ActionCreated, caller, byPasskey, t))
		})
	})
	return err
}

// UsePasskey signs in the person of a passkey, and returns the secret of the new session, which
// acts as the passkey. verify checks the answer of the person's device with the record, and
// returns the record for the next time; check comes after it. Their errors make no session; an
// ErrPasskeyCopied ends the passkey. Errors beside theirs: ErrNoPasskey.
func (s *Sessions) UsePasskey(ctx context.Context, caller order.Caller, credential []byte, verify func(record string) (string, error), check func(Token) error) (session string, err error) {
	grant, err := s.tokens.store.Grant(ctx, passkeyHash(credential))
	if errors.Is(err, ErrUnknown) {
		err = ErrNoPasskey
	}
	if err != nil {
		return "", err
	}
	caller = actingAs(caller, grant.MerchantID, grant.ID)
	var copied error
	session, err = order.Change(ctx, s.tokens.changes, caller, order.Options[string]{}, func(tx Tx) (string, error) {
		copied = nil
		if err := s.makeRoom(ctx, tx, caller, grant.ID); err != nil {
			return "", err
		}
		t, _, err := tx.LockToken(ctx, grant.ID)
		if err == nil && !t.Valid(s.now()) {
			err = ErrNoPasskey
		}
		if err != nil {
			return "", err
		}
		record, err := verify(t.Passkey)
		if errors.Is(err, ErrPasskeyCopied) {
			copied = err
			return "", tx.RevokeToken(ctx, t.ID, s.now(), s.entry(ActionRevoked, caller, byCopy, t))
		}
		if err == nil {
			err = check(t)
		}
		if err == nil {
			err = tx.RecordPasskey(ctx, t.ID, record)
		}
		if err == nil {
			err = tx.AppendAudit(ctx, s.entry(ActionSessionBegun, caller, byPasskey, t))
		}
		if err != nil {
			return "", err
		}
		return s.add(ctx, tx, Session{TokenID: t.ID})
	})
	return session, errors.Join(err, copied)
}

// Passkeys returns the valid passkeys of a merchant's staff, or of operators; of the person of
// a session only, unless it is nil.
func (s *Sessions) Passkeys(ctx context.Context, merchantID int64, of *Session) ([]Token, error) {
	all, err := s.tokens.List(ctx, Filter{Operator: merchantID == 0, MerchantID: merchantID, Validity: Active, Passkeys: true})
	if of != nil {
		all = slices.DeleteFunc(all, func(t Token) bool { return t.Label != of.Name })
	}
	return all, err
}

// mayRemove reports whether a caller may remove a passkey of the merchant: one of the person of
// the session, or with the scope tokens one of a colleague.
func mayRemove(t Token, caller order.Caller, session Session) bool {
	return t.Label == session.Name || caller.Can(order.ScopeTokens)
}

// Removable returns a passkey that RemovePasskey would remove; the zero one: there is none.
func (s *Sessions) Removable(ctx context.Context, caller order.Caller, session Session, id int64) (Token, error) {
	all, err := s.Passkeys(ctx, caller.MerchantID, nil)
	for _, t := range all {
		if t.ID == id && mayRemove(t, caller, session) {
			return t, nil
		}
	}
	return Token{}, err
}

// RemovePasskey revokes a passkey that the caller may remove, by its id. Errors beside those of
// order.Change: ErrNoPasskey.
func (s *Sessions) RemovePasskey(ctx context.Context, caller order.Caller, session Session, id int64, options order.Options[int64]) error {
	_, err := order.Change(ctx, s.tokens.changes, caller, options, func(tx Tx) (int64, error) {
		t, _, err := tx.LockToken(ctx, id)
		if errors.Is(err, ErrUnknown) || err == nil && (t.Passkey == "" || !t.RevokedAt.IsZero() || t.MerchantID != caller.MerchantID || !mayRemove(t, caller, session)) {
			err = ErrNoPasskey
		}
		if err != nil {
			return 0, err
		}
		return id, tx.RevokeToken(ctx, id, s.now(), s.entry(ActionRevoked, caller, byPasskey, t))
	})
	return err
}
