package token

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// Errors of Registry and Store.
var (
	// ErrUnknown means that a token does not exist, has expired or is revoked.
	ErrUnknown = errors.New("token is unknown, expired or revoked")
	// ErrLifetime means that a new token would have expired already.
	ErrLifetime = errors.New("a token must expire later than now")
	// ErrScopes means that a token would create or replace one with scopes that it does
	// not have itself.
	ErrScopes = errors.New("a token cannot grant scopes that it does not have")
	// ErrTooMany means that a merchant has MaxValid valid tokens, or has created
	// MaxPerDay in a day.
	ErrTooMany = errors.New("the merchant has too many tokens")
)

// LifetimeError means that a new token should live for longer than is allowed.
type LifetimeError struct {
	Max time.Duration
	// TokenID is the token that makes the new one, if that must not outlive it, and Ends when it
	// ends; 0: Max is Registry.MaxLifetime.
	TokenID int64
	Ends    time.Time
}

// Error implements error.
func (e *LifetimeError) Error() string {
	return "a token may be valid for at most " + e.Max.String()
}

// InvalidError is the ErrUnknown of a token that exists but has expired or is
// revoked. It is for the log: clients are not told the difference.
type InvalidError struct {
	ID int64 // of the token
}

// Error implements error.
func (e *InvalidError) Error() string { return fmt.Sprintf("token %d has expired or is revoked", e.ID) }

// Unwrap returns ErrUnknown.
func (*InvalidError) Unwrap() error { return ErrUnknown }

// flushTimeout bounds one write of last-used times, so that an unreachable
// database cannot block the shutdown.
const flushTimeout = 5 * time.Second

// Store stores tokens. Times are in whole seconds.
type Store interface {
	order.KeyStore
	// Grant returns a token, also one that is no longer valid, with the data
	// version of its merchant. It reads both from the database at each call, and
	// leaves out what no request needs: hint, creation and last use. It returns
	// ErrUnknown if the token does not exist.
	Grant(ctx context.Context, hash Hash) (Grant, error)
	// Tokens returns the tokens of a filter, by id. now is the time that tells which
	// have expired.
	Tokens(ctx context.Context, filter Filter, now time.Time) ([]Token, error)
	// RecordTokenUse stores the last uses of tokens, by id.
	RecordTokenUse(ctx context.Context, used map[int64]Use) error
	// DeleteSessionTokens deletes up to limit tokens of sessions that ended before a time, with
	// the sessions that are left of them, and returns how many.
	DeleteSessionTokens(ctx context.Context, before time.Time, limit int) (int, error)
	// CreationDetails returns the details of the audit entries that say that tokens were created,
	// by their ids: in the chain of a merchant, or with 0 in all.
	CreationDetails(ctx context.Context, merchantID int64, ids []int64) (map[int64]string, error)
	// ChangeTokens runs fn in one transaction, as order.Store.InTx does.
	ChangeTokens(ctx context.Context, fn func(Tx) error) error
}

// Tx is one transaction that changes tokens. Each change takes its audit entry, which is
// written with it, in the chain of the entry's MerchantID.
type Tx interface {
	order.KeyTx

	// LockToken returns a token and blocks other changes of it until the transaction ends.
	// The tokens that it makes end at the bound at the latest: at its first ExpiresAt, which
	// ExpireToken does not change. Zero: never. It returns ErrUnknown.
	LockToken(ctx context.Context, id int64) (t Token, bound time.Time, err error)
	// Descendants locks and returns the tokens that are not revoked of those that a token
	// made, and that they made, by id.
	Descendants(ctx context.Context, id int64) ([]Token, error)
	// AddToken stores a new token and returns its id, or order.ErrMerchantNotFound. The
	// entry gets the id.
	AddToken(ctx context.Context, hash Hash, t Token, entry order.AuditEntry) (id int64, err error)
	// ExpireToken lets a token expire at a time. Its entry is that of its successor.
	ExpireToken(ctx context.Context, id int64, at time.Time) error
	// RevokeToken marks a locked token as revoked.
	RevokeToken(ctx context.Context, id int64, at time.Time, entry order.AuditEntry) error
	// LockPasskeys locks and returns the passkeys with a label of a merchant's staff, or of
	// operators, that are not revoked, by id.
	LockPasskeys(ctx context.Context, merchantID int64, label string) ([]Token, error)
	// RecordPasskey replaces Token.Passkey of a locked passkey.
	RecordPasskey(ctx context.Context, id int64, record string) error
	// UnrevokedTokens locks and returns the ids of a merchant's tokens that are not
	// revoked.
	UnrevokedTokens(ctx context.Context, merchantID int64) ([]int64, error)
	// CountTokens counts tokens of a merchant. Additions of others wait until the
	// transaction ends.
	CountTokens(ctx context.Context, merchantID int64, now, after time.Time) (Counts, error)

	// AddLoginLink stores a login link, and deletes those that expired before the time
	// of the entry. It returns order.ErrMerchantNotFound if the merchant does not exist.
	AddLoginLink(ctx context.Context, hash Hash, link LoginLink, entry order.AuditEntry) error
	// TakeLoginLink deletes a login link and returns it, also an expired one, or
	// ErrNoLoginLink. Of two transactions that take a link, the second one finds none.
	TakeLoginLink(ctx context.Context, hash Hash) (LoginLink, error)
	// AddSession stores a session that begins, and deletes those that nobody has used for
	// SessionIdle.
	AddSession(ctx context.Context, hash Hash, s Session) error
	// ExcessSessions returns the sessions of a merchant, or of operators, beyond the
	// ofMerchant that were used last, and those of a token beyond ofToken, up to a hundred
	// of each.
	ExcessSessions(ctx context.Context, merchantID int64, ofMerchant int, tokenID int64, ofToken int) ([]Hash, error)
	// EndSession deletes a session and returns it, or ErrNoSession.
	EndSession(ctx context.Context, hash Hash) (Session, error)
	// AppendAudit appends an entry to the audit log of its merchant.
	AppendAudit(ctx context.Context, entry order.AuditEntry) error
}

// Counts are numbers of tokens of a merchant.
type Counts struct {
	Valid   int // valid at a time, without those of sessions and commands
	Created int // created after a time, without those of sessions and commands
	// Links is of login links that tokens made: of sessions that began by them after that
	// time, and of links that can still be used.
	Links int
	// Passkeys is of valid passkeys.
	Passkeys int
}

// Registry creates, authenticates and revokes tokens. It is safe for concurrent use.
type Registry struct {
	// MaxLifetime is the longest lifetime of a new token, and the lifetime if none is
	// requested; 0: no limit. Set it before the first use.
	MaxLifetime time.Duration

	store   Store
	changes *order.Changes[Tx]
	now     func() time.Time

	mu   sync.Mutex
	used map[int64]Use // uses not yet written
}

// NewRegistry returns a registry on a store. now is the clock.
func NewRegistry(store Store, now func() time.Time) *Registry {
	return &Registry{store: store, changes: order.NewChanges(store, store.ChangeTokens, now), now: now, used: make(map[int64]Use)}
}

// Authenticate returns the grant of a token. It returns ErrUnknown if the text is
// malformed or the token is unknown, and an *InvalidError, which is an ErrUnknown
// too, if the token has expired or is revoked. from is the address of the client, which
// may be the zero one. Each call reads the token, so that a revocation by another
// process is effective at the next request.
func (r *Registry) Authenticate(ctx context.Context, text string, from netip.Addr) (Grant, error) {
	hash, err := HashText(text)
	if err != nil {
		return Grant{}, ErrUnknown
	}
	g, err := r.store.Grant(ctx, hash)
	if err != nil {
		return Grant{}, err
	}
	now := r.now()
	if !g.Valid(now) {
		return Grant{}, &InvalidError{ID: g.ID}
	}
	r.recordUse(g.ID, Use{At: now, From: from})
	return g, nil
}

// recordUse records that a token was used. flushUses writes it.
func (r *Registry) recordUse(id int64, use Use) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used[id] = use
}
