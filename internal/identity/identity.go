// Package identity signs people in with the identity provider of their company, by OpenID
// Connect: the authorization code flow with PKCE. Rules say what the claims of a person
// allow. It also checks passkeys, by which people come back.
package identity

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"merchantorders/internal/strict"
	"merchantorders/internal/token"
)

// Errors of Provider, which wrap their causes.
var (
	// ErrUnavailable means that the provider cannot be reached.
	ErrUnavailable = errors.New("the identity provider cannot be reached")
	// ErrRefused means that the provider signed nobody in, or that its answer, or that of a
	// device with a passkey, is forged, has expired, or belongs to another attempt.
	ErrRefused = errors.New("the answer is not valid")
	// ErrSettings means that the settings and the provider do not fit together: nobody can
	// sign in until somebody changes one of them.
	ErrSettings = errors.New("the identity provider and the settings do not fit together")
	// ErrNoAccess means that no rule lets the person in.
	ErrNoAccess = errors.New("no rule lets the person in")
	// ErrTooManyGroups means the same, of a person whose groups the provider has left out.
	ErrTooManyGroups = errors.New("the identity provider left out the groups of the person, who has too many")
)

// timeout bounds each request to the provider.
const timeout = 10 * time.Second

// Provider is an identity provider. It is safe for concurrent use.
type Provider struct {
	Issuer   string // URL
	ClientID string
	// Secret returns the client's secret; nil, or empty: the provider knows the client as public.
	Secret func() string
	Rules  []Rule
	// TrustUnverifiedEmail makes rules about e-mail addresses apply whatever the provider
	// says of them: some providers never say that an address is verified.
	TrustUnverifiedEmail bool
	Now                  func() time.Time

	discovered  atomic.Pointer[oidc.Provider] // nil: not yet
	discoveries singleflight.Group
}

// Attempt is one sign-in on its way. The browser keeps it, so that nobody else can finish
// it.
type Attempt struct {
	State, Nonce, Verifier string
	Next                   string // local path to go to afterwards
	Begun                  int64  // Unix seconds
}

// AttemptLifetime is how long a person may take to sign in at the provider.
const AttemptLifetime = 10 * time.Minute

// Seal returns an attempt as text for the browser, with an HMAC: a home-made attempt would
// make the service send requests to the provider.
func (p *Provider) Seal(key []byte, a Attempt) (string, error) { return seal(key, p.purpose(), a) }

// Unseal returns the attempt of a text that Seal has returned within AttemptLifetime.
// Errors: ErrRefused.
func (p *Provider) Unseal(key []byte, sealed string) (a Attempt, err error) {
	if err = unseal(key, p.purpose(), sealed, &a); err == nil && p.Now().Unix()-a.Begun > int64(AttemptLifetime/time.Second) {
		err = fmt.Errorf("%w: the attempt is too old", ErrRefused)
	}
	return a, err
}

// purpose tells attempts at this provider from all others.
func (p *Provider) purpose() string { return fmt.Sprintf("%q %q ", p.Issuer, p.ClientID) }

// seal returns an attempt as text for the browser, with an HMAC that is for one purpose.
func seal(key []byte, purpose string, attempt any) (string, error) {
	text, err := json.Marshal(attempt)
	return base64.RawURLEncoding.EncodeToString(append(mac(key, purpose, text), text...)), err
}

// unseal reads the attempt of a text that seal has returned. Errors: ErrRefused.
func unseal(key []byte, purpose, sealed string, attempt any) error {
	text, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(text) < sha256.Size || !hmac.Equal(text[:sha256.Size], mac(key, purpose, text[sha256.Size:])) || json.Unmarshal(text[sha256.Size:], attempt) != nil {
		return fmt.Errorf("%w: there is no such attempt", ErrRefused)
	}
	return nil
}

func mac(key []byte, purpose string, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write(append([]byte(purpose), text...)) // a hash never returns an error
	return mac.Sum(nil)
}

// Begin starts a sign-in. It returns the address at the provider to send the browser to.
// The provider sends it back to redirectURL. Errors: ErrUnavailable.
func (p *Provider) Begin(ctx context.Context, redirectURL, next string) (address string, a Attempt, err error) {
	provider, err := p.discover(ctx)
	if err != nil {
		return "", Attempt{}, err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, Begun: p.Now().Unix()}
	return p.client(provider, redirectURL).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish returns the person whom the provider has signed in. query is that of the request
// to redirectURL. Errors: ErrUnavailable, ErrRefused, ErrNoAccess.
func (p *Provider) Finish(ctx context.Context, redirectURL string, a Attempt, query url.Values) (token.Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(query.Get("state"))) == 0 {
		return token.Person{}, fmt.Errorf("%w: it has another state", ErrRefused)
	}
	if problem := query.Get("error"); problem != "" {
		return token.Person{}, fmt.Errorf("%w: %q, %q", ErrRefused, strict.Words(problem), strict.Words(query.Get("error_description")))
	}
	provider, err := p.discover(ctx)
	if err != nil {
		return token.Person{}, err
	}
	ctx = withClient(ctx)
	answer, err := p.client(provider, redirectURL).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refusal.Response.StatusCode < http.StatusInternalServerError {
		kind := ErrRefused
		if slices.Contains([]string{"invalid_client", "unauthorized_client", "redirect_uri_mismatch"}, refusal.ErrorCode) {
			kind = ErrSettings
		}
		return token.Person{}, fmt.Errorf("%w: status %d, %q, %q", kind, refusal.Response.StatusCode, refusal.ErrorCode, strict.Words(refusal.ErrorDescription))
	}
	if err != nil {
		return token.Person{}, fmt.Errorf("%w: %w", ErrUnavailable, shortened{err})
	}
	text, _ := answer.Extra("id_token").(string)
	id, err := provider.Verifier(&oidc.Config{ClientID: p.ClientID, Now: p.Now}).Verify(ctx, text)
	if err == nil {
		err = p.checkToken(id, a)
	}
	var document json.RawMessage
	if err == nil {
		err = id.Claims(&document)
	}
	var claims map[string]any
	if err == nil {
		numbers := json.NewDecoder(bytes.NewReader(document))
		numbers.UseNumber() // the id of a store must not become that of another one by rounding
		err = numbers.Decode(&claims)
	}
	if err != nil {
		kind := ErrRefused
		if isKeyless(err) {
			kind = ErrUnavailable
		}
		return token.Person{}, fmt.Errorf("%w: %w", kind, shortened{err})
	}
	return personOf(claims, p.Rules, p.TrustUnverifiedEmail)
}

// checkToken checks what the library does not (OpenID Connect Core, 3.1.3.7): the nonce of
// the attempt, and that the token was issued to this client if it is for several.
func (p *Provider) checkToken(id *oidc.IDToken, a Attempt) error {
	var claims struct {
		AuthorizedParty string `json:"azp"`
	}
	if err := id.Claims(&claims); err != nil {
		return err
	}
	switch party := claims.AuthorizedParty; {
	case a.Nonce == "" || subtle.ConstantTimeCompare([]byte(a.Nonce), []byte(id.Nonce)) == 0:
		return errors.New("it has another nonce")
	case party == "" && len(id.Audience) > 1:
		return errors.New("it is for several clients and has no azp")
	case party != "" && party != p.ClientID:
		return errors.New("it was issued to another client (azp)")
	}
	return nil
}

// discover returns the provider with its addresses and keys. It asks for them once: not at
// the start, so that the service starts without the provider. Sign-ins meanwhile share the
// request, so that none waits longer for a provider that hangs.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if provider := p.discovered.Load(); provider != nil {
		return provider, nil
	}
	discovery := p.discoveries.DoChan("", func() (any, error) {
		// The provider keeps the context, to read new keys.
		provider, err := oidc.NewProvider(withClient(context.WithoutCancel(ctx)), p.Issuer)
		if err == nil {
			p.discovered.Store(provider)
		}
		return provider, err
	})
	var err error
	select {
	case result := <-discovery:
		if err = result.Err; err == nil {
			return p.discovered.Load(), nil
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	if other, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok {
		return nil, fmt.Errorf("%w: the provider calls itself %q, so set --oidc-issuer to that instead of %q", ErrSettings, strict.Words(other.Discovered), p.Issuer)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, shortened{err})
}

// Check returns why nobody can sign in, as far as the provider tells without a person.
// Errors: ErrUnavailable, ErrSettings.
func (p *Provider) Check(ctx context.Context) error {
	provider, err := p.discover(ctx)
	if err != nil {
		return err
	}
	var known struct {
		Keys string `json:"jwks_uri"`
	}
	_ = provider.Claims(&known)                  // an empty address cannot be reached either
	const signed = "eyJhbGciOiJSUzI1NiJ9.e30.AA" // by nobody
	if _, err := oidc.NewRemoteKeySet(withClient(ctx), known.Keys).VerifySignature(ctx, signed); isKeyless(err) {
		return fmt.Errorf("%w: %w", ErrUnavailable, shortened{err})
	}
	return nil
}

// withClient returns the context of requests to the provider.
func withClient(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, &http.Client{Timeout: timeout})
}

// isKeyless reports whether the keys of the provider could not be read, for which the library has
// no type.
func isKeyless(err error) bool { return strings.Contains(err.Error(), "fetching keys ") }

// shortened is an error whose text may have a whole page of the provider.
type shortened struct{ error }

func (s shortened) Error() string { return strict.Words(s.error.Error()) }
func (s shortened) Unwrap() error { return s.error }

func (p *Provider) client(provider *oidc.Provider, redirectURL string) *oauth2.Config {
	secret := ""
	if p.Secret != nil {
		secret = p.Secret()
	}
	return &oauth2.Config{
		ClientID: p.ClientID, ClientSecret: secret, Endpoint: provider.Endpoint(), RedirectURL: redirectURL,
		Scopes: scopesOf(provider),
	}
}

// scopesOf returns the scopes to ask for: what the provider knows of those with claims
// that rules may need. Many providers refuse a scope that they do not know.
func scopesOf(provider *oidc.Provider) []string {
	var known struct {
		Scopes []string `json:"scopes_supported"`
	}
	_ = provider.Claims(&known) // optional
	scopes := []string{oidc.ScopeOpenID}
	for _, scope := range []string{"profile", "email", "groups"} {
		if slices.Contains(known.Scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
