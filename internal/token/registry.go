package token

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// Errors of Registry and Store.
var (
	// ErrUnknown means that a token does not exist, has expired or is revoked.
	ErrUnknown = errors.New("token is unknown, expired or revoked")
	// ErrLifetime means that the lifetime of a new token is negative.
	ErrLifetime = errors.New("a token's lifetime cannot be negative")
)

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
	// Grant returns a token, also one that is no longer valid, with the data
	// version of its merchant. It reads both from the database at each call, and
	// leaves out what no request needs: hint, creation and last use. It returns
	// ErrUnknown if the token does not exist.
	Grant(ctx context.Context, hash Hash) (Grant, error)
	// Tokens returns every token, by id.
	Tokens(ctx context.Context) ([]Token, error)
	// RecordTokenUse stores when tokens were last used, by id.
	RecordTokenUse(ctx context.Context, used map[int64]time.Time) error
	// ChangeTokens runs fn in one transaction, as order.Store.InTx does.
	ChangeTokens(ctx context.Context, fn func(Tx) error) error
}

// Tx is one transaction that changes tokens.
type Tx interface {
	order.KeyTx

	// AddToken stores a new token and returns its id, or order.ErrMerchantNotFound.
	AddToken(ctx context.Context, hash Hash, t Token) (id int64, err error)
	// ReplaceToken stores a new token, as AddToken does, and lets the token with the
	// id old expire at a time, unless it expires earlier. It returns ErrUnknown and
	// stores nothing if the old token does not exist or is revoked.
	ReplaceToken(ctx context.Context, old int64, expires time.Time, hash Hash, t Token) (id int64, err error)
	// RevokeToken marks a token as revoked, or returns ErrUnknown. Revoking it
	// again has no effect.
	RevokeToken(ctx context.Context, id int64, at time.Time) error
}

// Registry creates, authenticates and revokes tokens. It is safe for concurrent use.
type Registry struct {
	store Store
	now   func() time.Time

	mu   sync.Mutex
	used map[int64]time.Time // uses not yet written
}

// NewRegistry returns a registry on a store. now is the clock.
func NewRegistry(store Store, now func() time.Time) *Registry {
	return &Registry{store: store, now: now, used: make(map[int64]time.Time)}
}

// Create creates a token for a merchant and returns its text, which cannot be
// read again. Lifetime 0 means no expiry. Errors: order.ErrMerchantNotFound, ErrLifetime.
func (r *Registry) Create(ctx context.Context, merchantID int64, scopes Scope, lifetime time.Duration) (string, Token, error) {
	created, err := r.Add(ctx, Request{MerchantID: merchantID, Scopes: scopes, Lifetime: lifetime}, CreateOptions{})
	return created.Text, created.Token, err
}

// CreateOperator creates a token for the operator interface. Lifetime 0 means no
// expiry. Errors: ErrLifetime.
func (r *Registry) CreateOperator(ctx context.Context, scopes Scope, lifetime time.Duration) (string, Token, error) {
	created, err := r.Add(ctx, Request{Operator: true, Scopes: scopes, Lifetime: lifetime}, CreateOptions{})
	return created.Text, created.Token, err
}

// Request describes a new token.
type Request struct {
	Operator   bool  // of the operator; MerchantID is 0 then
	MerchantID int64 // of the merchant
	Scopes     Scope
	Lifetime   time.Duration // 0: no expiry
}

// Created is a new token.
type Created struct {
	Text  string // cannot be read again
	Token Token
}

// CreateOptions are the options of the creation of a token.
type CreateOptions = order.ChangeOptions[Created]

// Add creates a token. Errors beside those of order.Change: order.ErrMerchantNotFound,
// ErrLifetime.
func (r *Registry) Add(ctx context.Context, request Request, options CreateOptions) (Created, error) {
	prefix := OperatorPrefix
	if !request.Operator {
		prefix = MerchantPrefix
	}
	return order.Change(ctx, r.store.ChangeTokens, options, func(tx Tx) (Created, error) {
		if request.Operator != (request.MerchantID == 0) || request.MerchantID < 0 {
			// MerchantID 0 is an operator's token.
			return Created{}, order.ErrMerchantNotFound
		}
		added := Token{MerchantID: request.MerchantID, Scopes: request.Scopes}
		return r.complete(prefix, added, request.Lifetime, func(hash Hash, t Token) (int64, error) { return tx.AddToken(ctx, hash, t) })
	})
}

// complete completes a token and stores it with a function that returns its id.
func (r *Registry) complete(prefix string, t Token, lifetime time.Duration, store func(Hash, Token) (int64, error)) (Created, error) {
	if lifetime < 0 {
		// The check below would treat it as 0: no expiry.
		return Created{}, ErrLifetime
	}
	text, hint := NewText(prefix)
	t.Hint = hint
	t.CreatedAt = r.now().UTC().Truncate(time.Second)
	if lifetime > 0 {
		t.ExpiresAt = t.CreatedAt.Add(lifetime)
	}
	hash, err := HashText(text)
	if err != nil {
		return Created{}, err
	}
	if t.ID, err = store(hash, t); err != nil {
		return Created{}, err
	}
	return Created{Text: text, Token: t}, nil
}

// Rotate replaces a token, given by its id or its text: it creates one for the same
// merchant, or for the operator, with the same scopes, and lets the old one expire
// after overlap, or earlier if it would anyway. Lifetime 0 means that of the old
// token. It returns the text of the new token, the new token and the old one.
// Errors: ErrUnknown, and *InvalidError if the old token has expired or is revoked.
func (r *Registry) Rotate(ctx context.Context, idOrText string, overlap, lifetime time.Duration) (string, Token, Token, error) {
	old, err := r.find(ctx, idOrText)
	if err != nil {
		return "", Token{}, Token{}, err
	}
	now := r.now().UTC()
	if !old.Valid(now) {
		return "", Token{}, Token{}, &InvalidError{ID: old.ID}
	}
	prefix := MerchantPrefix
	if old.Operator() {
		prefix = OperatorPrefix
	}
	if lifetime == 0 && !old.ExpiresAt.IsZero() {
		lifetime = old.ExpiresAt.Sub(old.CreatedAt)
	}
	// Times are stored in whole seconds. Rounded down, so that without an overlap the
	// old token is not valid for the rest of this second.
	if end := now.Add(overlap).Truncate(time.Second); old.ExpiresAt.IsZero() || end.Before(old.ExpiresAt) {
		old.ExpiresAt = end
	}
	var created Created
	err = r.store.ChangeTokens(ctx, func(tx Tx) error {
		created, err = r.complete(prefix, Token{MerchantID: old.MerchantID, Scopes: old.Scopes}, lifetime, func(hash Hash, t Token) (int64, error) {
			return tx.ReplaceToken(ctx, old.ID, old.ExpiresAt, hash, t)
		})
		return err
	})
	return created.Text, created.Token, old, err
}

// find returns a token by its id or its text, or ErrUnknown.
func (r *Registry) find(ctx context.Context, idOrText string) (Token, error) {
	id, err := r.idOf(ctx, idOrText)
	if err != nil {
		return Token{}, err
	}
	tokens, err := r.store.Tokens(ctx)
	if err != nil {
		return Token{}, err
	}
	for _, t := range tokens {
		if t.ID == id {
			return t, nil
		}
	}
	return Token{}, ErrUnknown
}

// Authenticate returns the grant of a token. It returns ErrUnknown if the text is
// malformed or the token is unknown, and an *InvalidError, which is an ErrUnknown
// too, if the token has expired or is revoked. Each call reads the
// token, so that a revocation by another process is effective at the next request.
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
		return Grant{}, &InvalidError{ID: g.ID}
	}
	r.mu.Lock()
	r.used[g.ID] = now
	r.mu.Unlock()
	return g, nil
}

// List returns every token, by id.
func (r *Registry) List(ctx context.Context) ([]Token, error) { return r.store.Tokens(ctx) }

// Revoke revokes a token by its id or its text and returns the id, or ErrUnknown.
func (r *Registry) Revoke(ctx context.Context, idOrText string) (int64, error) {
	id, err := r.idOf(ctx, idOrText)
	if err != nil {
		return 0, err
	}
	return r.RevokeID(ctx, id, RevokeOptions{})
}

// RevokeOptions are the options of the revocation of a token. The result is its id.
type RevokeOptions = order.ChangeOptions[int64]

// RevokeID revokes a token by its id. Errors beside those of order.Change: ErrUnknown.
func (r *Registry) RevokeID(ctx context.Context, id int64, options RevokeOptions) (int64, error) {
	return order.Change(ctx, r.store.ChangeTokens, options, func(tx Tx) (int64, error) {
		return id, tx.RevokeToken(ctx, id, r.now())
	})
}

// idOf returns the id of a token, given by its id or its text.
func (r *Registry) idOf(ctx context.Context, idOrText string) (int64, error) {
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

// LogCreated logs that a token was created. by says who did it.
func LogCreated(log *slog.Logger, t Token, by ...slog.Attr) {
	attrs := []slog.Attr{slog.Int64("created", t.ID)}
	if t.Operator() {
		attrs = append(attrs, slog.Bool("operator", true))
	} else {
		attrs = append(attrs, slog.Int64("merchant", t.MerchantID))
	}
	attrs = append(attrs, slog.String("scopes", t.Scopes.String()))
	log.LogAttrs(context.Background(), slog.LevelInfo, "token created", append(attrs, by...)...)
}

// LogRevoked logs that a token was revoked. by says who did it.
func LogRevoked(log *slog.Logger, id int64, by ...slog.Attr) {
	attrs := append([]slog.Attr{slog.Int64("revoked", id)}, by...)
	log.LogAttrs(context.Background(), slog.LevelInfo, "token revoked", attrs...)
}

// RecordUses writes the last-used times of tokens at an interval until ctx ends,
// and once more at the end. Requests do not wait for it. A crash loses the uses of
// the last interval.
func (r *Registry) RecordUses(ctx context.Context, interval time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		done := false
		select {
		case <-ticker.C:
		case <-ctx.Done():
			done = true
		}
		if err := r.flushUses(context.WithoutCancel(ctx)); err != nil {
			log.Warn("cannot write the last-used times of tokens", "error", err)
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
		// The next write stores them.
		r.mu.Lock()
		defer r.mu.Unlock()
		for id, at := range used {
			if at.After(r.used[id]) {
				r.used[id] = at
			}
		}
	}
	return err
}
