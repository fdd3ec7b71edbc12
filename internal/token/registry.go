package token

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Errors that a caller can tell apart with errors.Is.
var (
	// ErrUnknown: no such token, or it is expired or revoked.
	ErrUnknown = errors.New("token is unknown, expired or revoked")
	// ErrNoMerchant: the merchant that a token is made for does not exist.
	ErrNoMerchant = errors.New("no merchant with that id")
	// ErrLifetime: a token was asked for that expires before it is made.
	ErrLifetime = errors.New("a token's lifetime cannot be negative")
)

// flushTimeout bounds one writing of last-used times, so that a database out
// of reach cannot hold up the end of the program.
const flushTimeout = 5 * time.Second

// Store keeps tokens. Times are in whole seconds.
type Store interface {
	// TokenByHash returns a token, also one that is no longer good, or
	// ErrUnknown.
	TokenByHash(ctx context.Context, hash Hash) (Token, error)
	// Grant is TokenByHash for a request, with how far its merchant's events
	// have come. It reads both anew at each call.
	Grant(ctx context.Context, hash Hash) (Grant, error)
	// AddToken keeps a new token and returns its id, or ErrNoMerchant.
	AddToken(ctx context.Context, hash Hash, t Token) (id int64, err error)
	// Tokens returns every token, by id.
	Tokens(ctx context.Context) ([]Token, error)
	// RevokeToken marks a token revoked, or returns ErrUnknown. Revoking again
	// changes nothing.
	RevokeToken(ctx context.Context, id int64, at time.Time) error
	// RecordTokenUse notes when tokens were last used, by id.
	RecordTokenUse(ctx context.Context, used map[int64]time.Time) error
}

// Registry makes, verifies and revokes tokens.
type Registry struct {
	store Store
	now   func() time.Time

	mu   sync.Mutex
	used map[int64]time.Time // uses not yet written
}

// NewRegistry returns the registry over a store. now is the clock.
func NewRegistry(store Store, now func() time.Time) *Registry {
	return &Registry{store: store, now: now, used: make(map[int64]time.Time)}
}

// Create makes a token for a merchant and returns its text, which is shown
// this once. lifetime 0: it does not expire. Errors: ErrNoMerchant,
// ErrLifetime.
func (r *Registry) Create(ctx context.Context, merchantID int64, scopes Scope, lifetime time.Duration) (string, Token, error) {
	if merchantID <= 0 {
		// 0 would make an operator's token of it.
		return "", Token{}, ErrNoMerchant
	}
	return r.create(ctx, MerchantPrefix, Token{MerchantID: merchantID, Scopes: scopes}, lifetime)
}

// CreateOperator makes a token for the operator interface. lifetime 0: it does
// not expire. Errors: ErrLifetime.
func (r *Registry) CreateOperator(ctx context.Context, lifetime time.Duration) (string, Token, error) {
	return r.create(ctx, OperatorPrefix, Token{}, lifetime)
}

func (r *Registry) create(ctx context.Context, prefix string, t Token, lifetime time.Duration) (string, Token, error) {
	if lifetime < 0 {
		// Taken as 0 it would make a token that never expires.
		return "", Token{}, ErrLifetime
	}
	text, hint := NewText(prefix)
	t.Hint = hint
	t.CreatedAt = r.now().UTC().Truncate(time.Second)
	if lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(lifetime)
	}
	hash, err := HashText(text)
	if err != nil {
		return "", Token{}, err
	}
	if t.ID, err = r.store.AddToken(ctx, hash, t); err != nil {
		return "", Token{}, err
	}
	return text, t, nil
}

// Authenticate returns what the token grants that a text stands for. A text that cannot be a
// token, and one that is unknown, expired or revoked, is ErrUnknown. Every
// call looks the token up, so that a revocation by another process is in force
// at the very next request.
func (r *Registry) Authenticate(ctx context.Context, text string) (Grant, error) {
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
		return Grant{}, ErrUnknown
	}
	r.mu.Lock()
	r.used[g.ID] = now
	r.mu.Unlock()
	return g, nil
}

// List returns every token, by id.
func (r *Registry) List(ctx context.Context) ([]Token, error) { return r.store.Tokens(ctx) }

// Revoke ends a token, named by its id or by its text, or returns ErrUnknown.
func (r *Registry) Revoke(ctx context.Context, idOrText string) (int64, error) {
	id, err := strconv.ParseInt(idOrText, 10, 64)
	if err != nil {
		hash, err := HashText(idOrText)
		if err != nil {
			return 0, ErrUnknown
		}
		t, err := r.store.TokenByHash(ctx, hash)
		if err != nil {
			return 0, err
		}
		id = t.ID
	}
	return id, r.store.RevokeToken(ctx, id, r.now())
}

// RecordUses writes the last-used times of tokens now and then, until ctx ends,
// and once more then. No request waits for it; a use that a crash loses is of
// no consequence.
func (r *Registry) RecordUses(ctx context.Context, every time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		done := false
		select {
		case <-ticker.C:
		case <-ctx.Done():
			done = true
		}
		if err := r.flushUses(context.WithoutCancel(ctx)); err != nil {
			log.Warn("last-used times not written", "error", err)
		}
		if done {
			return
		}
	}
}

func (r *Registry) flushUses(ctx context.Context) error {
	r.mu.Lock()
	used := r.used
	r.used = make(map[int64]time.Time)
	r.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	err := r.store.RecordTokenUse(ctx, used)
	if err != nil {
		r.restoreUses(used)
	}
	return err
}

// keep puts uses that could not be written back, for the next time.
func (r *Registry) restoreUses(used map[int64]time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range used {
		if at.After(r.used[id]) {
			r.used[id] = at
		}
	}
}
