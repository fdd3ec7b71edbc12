package token

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// ErrNoLoginLink means that a login link does not exist, has expired, or was used.
var ErrNoLoginLink = errors.New("there is no such login link, or it has expired or was used")

// LoginLink is a one-time link by which a person signs in without a token.
type LoginLink struct {
	MerchantID int64       // 0: an operator's link
	Name       string      // of the person, which becomes the label of the token; empty: not given
	CreatedBy  int64       // id of the token that created it; 0: a command did
	Scopes     order.Scope // of the token that the session gets
	ExpiresAt  time.Time
}

// CreatedLink is a new login link.
type CreatedLink struct {
	LoginLink
	Secret string // cannot be read again
}

// URL returns the address of the link at the service with a base URL.
func (l CreatedLink) URL(baseURL string) string {
	return strings.TrimSuffix(baseURL, "/") + "/console/login/" + l.Secret
}

// LogLoginLink logs that a login link was created. by says who did it.
func LogLoginLink(log *slog.Logger, link LoginLink, by ...slog.Attr) {
	attrs := []slog.Attr{whose(link.MerchantID), slog.String("scopes", link.Scopes.String())}
	log.LogAttrs(context.Background(), slog.LevelInfo, "login link created", append(attrs, by...)...)
}

// Person is somebody who is to sign in.
type Person struct {
	Operator   bool        // MerchantID is 0 then
	MerchantID int64       // whose staff
	Name       string      // checked with LabelProblem; empty: not given
	Scopes     order.Scope // of the session
}

// NewLoginLink makes a login link for a person. Errors beside those of order.Change:
// order.ErrMerchantNotFound, ErrScopes, ErrTooMany.
func (s *Sessions) NewLoginLink(ctx context.Context, caller order.Caller, person Person, options order.Options[CreatedLink]) (CreatedLink, error) {
	return order.Change(ctx, s.tokens.changes, caller, options, func(tx Tx) (CreatedLink, error) {
		if person.Operator != (person.MerchantID == 0) || person.MerchantID < 0 {
			return CreatedLink{}, order.ErrMerchantNotFound
		}
		if err := s.tokens.mayAdd(ctx, tx, caller, Token{MerchantID: person.MerchantID, Scopes: person.Scopes}, Counts.linkLeft); err != nil {
			return CreatedLink{}, err
		}
		now := s.now()
		secret, hash := newSecret()
		link := LoginLink{
			MerchantID: person.MerchantID, Name: person.Name, CreatedBy: caller.TokenID, Scopes: person.Scopes,
			ExpiresAt: now.Add(LoginLinkLifetime),
		}
		entry := order.AuditEntry{
			MerchantID: link.MerchantID, At: now, Action: ActionLinkCreated, By: caller,
			Detail: order.AuditDetail("scopes", link.Scopes.String(), "name", quotedName(link.Name)),
		}
		return CreatedLink{LoginLink: link, Secret: secret}, tx.AddLoginLink(ctx, hash, link, entry)
	})
}

// linkLabel is the label of the tokens that login links without a name make.
const linkLabel = "login link"

// UseLoginLink signs a person in with the secret of a login link. It returns the
// secret of the new session. The session gets a token of its own, which is valid as
// long as a session can last. The audit log has it as the work of the token that made
// the link, at the request and the address of the caller. An error of check does not use the
// link up. Errors beside that: ErrNoLoginLink.
func (s *Sessions) UseLoginLink(ctx context.Context, caller order.Caller, secret string, check func(LoginLink) error) (session string, err error) {
	hash, err := hashSecret(secret)
	if err != nil {
		return "", ErrNoLoginLink
	}
	return order.Change(ctx, s.tokens.changes, caller, order.Options[string]{}, func(tx Tx) (string, error) {
		link, err := tx.TakeLoginLink(ctx, hash)
		if err != nil {
			return "", err
		}
		now := s.now()
		if !now.Before(link.ExpiresAt) {
			return "", ErrNoLoginLink
		}
		if err := check(link); err != nil {
			return "", err
		}
		caller = actingAs(caller, link.MerchantID, link.CreatedBy)
		if err := s.makeRoom(ctx, tx, caller, 0); err != nil {
			return "", err
		}
		bound, err := s.tokens.bound(ctx, tx, link.CreatedBy)
		if errors.Is(err, ErrUnknown) {
			return "", ErrNoLoginLink // the token that made the link has ended
		}
		if err != nil {
			return "", err
		}
		return s.begin(ctx, tx, caller, byLoginLink, Token{
			MerchantID: link.MerchantID, Scopes: link.Scopes, Label: cmp.Or(link.Name, linkLabel),
		}, SessionLifetime, bound)
	})
}

// LookAtLoginLink returns a login link by its secret, and does not use it up. Errors:
// ErrNoLoginLink.
func (s *Sessions) LookAtLoginLink(ctx context.Context, caller order.Caller, secret string) (link LoginLink, err error) {
	looked := errors.New("the link was only looked at")
	_, err = s.UseLoginLink(ctx, caller, secret, func(found LoginLink) error {
		link = found
		return looked
	})
	if errors.Is(err, looked) {
		err = nil
	}
	return link, err
}

// BeginAs signs in a person whom an identity provider knows. The session ends after
// IdentityLifetime, or earlier: then the provider is asked again. Errors:
// order.ErrMerchantNotFound.
func (s *Sessions) BeginAs(ctx context.Context, caller order.Caller, person Person) (session string, err error) {
	return order.Change(ctx, s.tokens.changes, caller, order.Options[string]{}, func(tx Tx) (string, error) {
		caller = actingAs(caller, person.MerchantID, 0)
		if err := s.makeRoom(ctx, tx, caller, 0); err != nil {
			return "", err
		}
		return s.begin(ctx, tx, caller, byIdentity, Token{
			MerchantID: person.MerchantID, Scopes: person.Scopes, Label: person.Name,
		}, IdentityLifetime, time.Time{})
	})
}

// begin makes a session with a token of its own, which ends after the usual lifetime, up to
// Registry.MaxLifetime, but not after the bound. Nobody gets the text of the token: only the
// session acts as it.
func (s *Sessions) begin(ctx context.Context, tx Tx, by order.Caller, how string, t Token, usual time.Duration, bound time.Time) (session string, err error) {
	if t.ExpiresAt, err = s.tokens.expiry(by, Expiry{}, usual, bound); err != nil {
		return "", err
	}
	made, err := s.tokens.complete(t, by, func(hash Hash, t Token) (int64, error) {
		t.Hint = ""
		return tx.AddToken(ctx, hash, t, s.entry(ActionCreated, by, how, t))
	})
	if err != nil {
		return "", err
	}
	return s.add(ctx, tx, Session{TokenID: made.Token.ID, OwnsToken: true})
}
