package token

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// Lifetimes of sessions and login links.
const (
	// SessionIdle is how long a session lasts without a request.
	SessionIdle = 24 * time.Hour
	// SessionLifetime is how long a session lasts at most.
	SessionLifetime = 7 * 24 * time.Hour
	// IdentityLifetime is how long a session of BeginAs lasts at most.
	IdentityLifetime = 12 * time.Hour
	// LoginLinkLifetime is how long a login link can be used.
	LoginLinkLifetime = 15 * time.Minute

	// MaxSessions is how many sessions the staff of a merchant have at most, or operators,
	// and MaxSessionsOfToken how many begin with the same token. One more ends the one that
	// was not used for the longest time: it is that of a browser which has forgotten it.
	MaxSessions        = 1000
	MaxSessionsOfToken = 100
	// SessionsPage is how many sessions Sessions.Open returns at most.
	SessionsPage = 50

	// tokenRetention is how long the token of a session is kept after its end. The tokens that
	// it made have ended before: they end no later than it would.
	tokenRetention = 30 * 24 * time.Hour

	// touchInterval is how old the recorded last use of a session may be: a write
	// for each request would cost more than the page.
	touchInterval = 5 * time.Minute
)

// ErrNoSession means that a session does not exist or has expired, or that its
// token is not valid any more. The person has to sign in again.
var ErrNoSession = errors.New("there is no such session, or it has ended")

// Session is the sign-in of a person in a browser. It acts as its token: with its
// merchant and its scopes, and no longer than the token is valid.
type Session struct {
	ID      string // not its secret; set on read
	TokenID int64
	// OwnsToken: the token was made for this session, by a login link or for BeginAs. It is
	// revoked when the person signs out.
	OwnsToken  bool
	CreatedAt  time.Time
	LastUsedAt time.Time // accurate to touchInterval
	// MerchantName, TimeZone and TrackingLink are those of the token's merchant, and Name is the label of
	// the token: the person, if the session owns it. Set on read.
	MerchantName, TimeZone, TrackingLink, Name string
	// Unanswered and ToShip are how many orders of the merchant are registered, and in
	// order.ShipStates. Set on read.
	Unanswered, ToShip int64
}

// Person returns the name of who signed in; empty: it is not known.
func (s Session) Person() string {
	if s.Name == linkLabel {
		return ""
	}
	return s.Name
}

// Expired reports whether the session has expired at a time.
func (s Session) Expired(now time.Time) bool {
	return now.Sub(s.LastUsedAt) >= SessionIdle || now.Sub(s.CreatedAt) >= SessionLifetime
}

// OpenSession is a session that has not ended, as people see it in a list.
type OpenSession struct {
	Session
	Scopes       order.Scope
	LastUsedFrom string // IP address from which the token was last used; empty: not known
}

// SessionCursor is where a page of sessions ends: when the last one began, and its id.
type SessionCursor struct {
	CreatedAt time.Time
	ID        string
}

// SessionStore stores sessions and login links by the SHA-256 of their secrets.
// Times are in whole seconds.
type SessionStore interface {
	// SessionGrant returns a session, also an expired one, and the grant of its
	// token as Store.Grant does. It returns ErrNoSession if it does not exist.
	SessionGrant(ctx context.Context, hash Hash) (Session, Grant, error)
	// OpenSessions returns the sessions of a merchant's staff that were last used after one
	// time and began after another one and whose tokens are valid at a third one, the
	// newest first: up to limit of those that come after a cursor; nil: from the first.
	OpenSessions(ctx context.Context, merchantID int64, usedAfter, begunAfter, now time.Time, after *SessionCursor, limit int) ([]OpenSession, error)
	// TouchSession stores when a session was last used.
	TouchSession(ctx context.Context, hash Hash, at time.Time) error
	// Keep keeps something for a person of a merchant, in place of what has its name, and
	// deletes what is older than the newest things of the kind for the merchant's people, of
	// which there are most. check, unless it is nil, gets what is kept for the person, one after
	// another for the merchant, and returns the name of what is deleted instead of what has the
	// name, or an error of Keep.
	Keep(ctx context.Context, merchantID int64, kind KeptKind, person string, k Kept, most int, check func([]Kept) (instead string, err error)) error
	// Kept returns what is kept for a person, the newest first.
	Kept(ctx context.Context, merchantID int64, kind KeptKind, person string) ([]Kept, error)
	// Forget deletes what is kept for a person under a name.
	Forget(ctx context.Context, merchantID int64, kind KeptKind, person, name string) error
}

// Sessions makes, finds and ends sessions. It is safe for concurrent use.
type Sessions struct {
	store  SessionStore
	tokens *Registry
}

// NewSessions returns the sessions of a store. They act as the tokens of a registry.
func NewSessions(store SessionStore, tokens *Registry) *Sessions {
	return &Sessions{store: store, tokens: tokens}
}

// Begin signs a person in who has the text of the caller's token. It returns the secret of
// the new session, which the browser keeps.
func (s *Sessions) Begin(ctx context.Context, caller order.Caller) (secret string, err error) {
	return order.Change(ctx, s.tokens.changes, caller, order.Options[string]{}, func(tx Tx) (string, error) {
		if err := s.makeRoom(ctx, tx, caller, caller.TokenID); err != nil {
			return "", err
		}
		return s.add(ctx, tx, Session{TokenID: caller.TokenID})
	})
}

// makeRoom ends the sessions that would be too many with one more: of the caller's merchant,
// or of operators, and of a token; 0: of a new one. It comes before everything else that the
// transaction locks, as EndOther locks a session before its token.
func (s *Sessions) makeRoom(ctx context.Context, tx Tx, caller order.Caller, tokenID int64) error {
	excess, err := tx.ExcessSessions(ctx, caller.MerchantID, MaxSessions-1, tokenID, MaxSessionsOfToken-1)
	for _, hash := range excess {
		if err != nil {
			return err
		}
		_, err = s.end(ctx, tx, hash, bySessionLimit, func(owned Token) (order.Caller, error) {
			return actingAs(caller, owned.MerchantID, owned.ID), nil
		})
		if errors.Is(err, ErrNoSession) { // another sign-in has ended it
			err = nil
		}
	}
	return err
}

// add adds a session that begins now, and returns its secret.
func (s *Sessions) add(ctx context.Context, tx Tx, begun Session) (secret string, err error) {
	begun.CreatedAt = s.now()
	begun.LastUsedAt = begun.CreatedAt
	secret, hash := newSecret()
	return secret, tx.AddSession(ctx, hash, begun)
}

// Find returns the session with a secret and the grant of its token, or ErrNoSession.
// Each call reads both, so that a revocation is effective at the next request.
func (s *Sessions) Find(ctx context.Context, secret string, from netip.Addr) (Session, Grant, error) {
	session, grant, hash, err := s.read(ctx, secret, from)
	if err != nil {
		return Session{}, Grant{}, err
	}
	if now := s.now(); now.Sub(session.LastUsedAt) >= touchInterval {
		err = s.store.TouchSession(ctx, hash, now)
	}
	return session, grant, err
}

// Look is Find for a request that nobody made: it does not count as use of the session.
func (s *Sessions) Look(ctx context.Context, secret string, from netip.Addr) (Session, Grant, error) {
	session, grant, _, err := s.read(ctx, secret, from)
	return session, grant, err
}

// read returns a valid session, its grant and the hash of its secret, or ErrNoSession.
func (s *Sessions) read(ctx context.Context, secret string, from netip.Addr) (Session, Grant, Hash, error) {
	hash, err := hashSecret(secret)
	if err != nil {
		return Session{}, Grant{}, Hash{}, ErrNoSession
	}
	session, grant, err := s.store.SessionGrant(ctx, hash)
	if err != nil {
		return Session{}, Grant{}, Hash{}, err
	}
	now := s.now()
	if session.Expired(now) || !grant.Valid(now) {
		return Session{}, Grant{}, Hash{}, ErrNoSession
	}
	s.tokens.recordUse(grant.ID, Use{At: now, From: from})
	return session, grant, hash, nil
}

// Open returns a page of the open sessions of a merchant's staff, the newest first: those
// that come after a cursor; nil: from the first. next is the cursor of the next page; nil:
// there is none.
func (s *Sessions) Open(ctx context.Context, merchantID int64, after *SessionCursor) (open []OpenSession, next *SessionCursor, err error) {
	now := s.now()
	open, err = s.store.OpenSessions(ctx, merchantID, now.Add(-SessionIdle), now.Add(-SessionLifetime), now, after, SessionsPage+1)
	if len(open) > SessionsPage {
		open = open[:SessionsPage]
		last := open[SessionsPage-1]
		next = &SessionCursor{CreatedAt: last.CreatedAt, ID: last.ID}
	}
	return open, next, err
}

// DeleteTokens deletes the tokens of sessions that ended long ago, and returns how many. The
// audit log keeps the names of who signed in.
func (s *Sessions) DeleteTokens(ctx context.Context) (int, error) {
	before, total := s.now().Add(-tokenRetention), 0
	for {
		n, err := s.tokens.store.DeleteSessionTokens(ctx, before, MaxPage)
		total += n
		if err != nil || n < MaxPage {
			return total, err
		}
	}
}

// End signs out. It revokes the token of the session if a login link made it. It does
// nothing if there is no such session.
func (s *Sessions) End(ctx context.Context, caller order.Caller, secret string) error {
	hash, err := hashSecret(secret)
	if err != nil {
		return nil
	}
	_, err = order.Change(ctx, s.tokens.changes, caller, order.Options[bool]{}, func(tx Tx) (bool, error) {
		return s.end(ctx, tx, hash, bySignOut, func(owned Token) (order.Caller, error) {
			return actingAs(caller, owned.MerchantID, owned.ID), nil
		})
	})
	if errors.Is(err, ErrNoSession) {
		return nil
	}
	return err
}

// EndOther ends a session of the caller's merchant by its id, as End does. Errors beside
// those of order.Change: ErrNoSession.
func (s *Sessions) EndOther(ctx context.Context, caller order.Caller, id string, options order.Options[string]) error {
	_, err := order.Change(ctx, s.tokens.changes, caller, options, func(tx Tx) (string, error) {
		hash, ok := SessionHash(id)
		if !ok {
			return "", ErrNoSession
		}
		var ended Token
		revoked, err := s.end(ctx, tx, hash, bySignOut, func(t Token) (order.Caller, error) {
			if ended = t; t.MerchantID != caller.MerchantID {
				return order.Caller{}, ErrNoSession
			}
			return caller, nil
		})
		if err == nil && !revoked {
			err = tx.AppendAudit(ctx, s.entry(ActionSessionEnded, caller, "", ended))
		}
		return id, err
	})
	return err
}

// end ends a session, and reports whether that revoked its token. how says why, for the audit
// log. by returns who does it, or an error if they may not; it gets the token of the session.
func (s *Sessions) end(ctx context.Context, tx Tx, hash Hash, how string, by func(Token) (order.Caller, error)) (revoked bool, err error) {
	session, err := tx.EndSession(ctx, hash)
	if err != nil {
		return false, err
	}
	t, _, err := tx.LockToken(ctx, session.TokenID)
	if err != nil {
		return false, err
	}
	caller, err := by(t)
	if err != nil || !session.OwnsToken || !t.RevokedAt.IsZero() {
		return false, err
	}
	return true, tx.RevokeToken(ctx, t.ID, s.now(), s.entry(ActionRevoked, caller, how, t))
}

// SessionID returns the id of a session by its hash.
func SessionID(hash Hash) string { return base64.RawURLEncoding.EncodeToString(hash[:]) }

// SessionHash returns the hash of a session by its id. ok is false if the text is no id.
func SessionHash(id string) (hash Hash, ok bool) {
	decoded, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil || len(decoded) != len(hash) {
		return Hash{}, false
	}
	return Hash(decoded), true
}

// actingAs returns the caller of a request by which a person signs in or out: as a merchant
// or, with merchant 0, as an operator, with a token or a link that the token made; token
// 0: neither.
func actingAs(caller order.Caller, merchantID, tokenID int64) order.Caller {
	caller.Actor, caller.MerchantID, caller.TokenID = order.ActorMerchant, merchantID, tokenID
	if merchantID == 0 {
		caller.Actor = order.ActorOperator
	}
	return caller
}

// What makes and revokes the tokens of sessions, in the audit log.
const (
	byLoginLink    = "login-link"
	byIdentity     = "identity-provider"
	bySignOut      = "sign-out"
	bySessionLimit = "session-limit"
	byPasskey      = "passkey"
	byCopy         = "copied-passkey"
)

// entry returns the audit entry of the token of a session.
func (s *Sessions) entry(action order.AuditAction, by order.Caller, how string, t Token) order.AuditEntry {
	return order.AuditEntry{
		MerchantID: by.MerchantID, At: s.now(), Action: action, By: by, SubjectID: t.ID,
		Detail: order.AuditDetail("by", how, "scopes", t.Scopes.String(), "name", quotedName(Session{Name: t.Label}.Person())),
	}
}

// quotedName returns a name as a word of an audit entry's detail; empty: none was given.
func quotedName(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}

// nameIn returns the name in a detail that Sessions.entry has made; empty: none was given.
func nameIn(detail string) string {
	_, name, _ := strings.Cut(detail, " name=")
	quoted, err := strconv.QuotedPrefix(name)
	if err != nil {
		return ""
	}
	name, _ = strconv.Unquote(quoted)
	return name
}

func (s *Sessions) now() time.Time { return s.tokens.createdAt() }

// secretBytes is the size of the random secret of a session or a login link.
const secretBytes = 32

// newSecret returns a random secret as text, and its hash.
func newSecret() (string, Hash) {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // never returns an error
	return base64.RawURLEncoding.EncodeToString(random[:]), sha256.Sum256(random[:])
}

// hashSecret returns the hash of a secret.
func hashSecret(text string) (Hash, error) {
	random, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(random) != secretBytes {
		err = ErrMalformed
	}
	return sha256.Sum256(random), err
}
