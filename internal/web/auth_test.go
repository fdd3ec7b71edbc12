package web_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// who responds with the merchant of the request's token.
func who(w http.ResponseWriter, r *web.Request) error {
	return web.WriteJSON(w, http.StatusOK, r.Caller.MerchantID)
}

// guarded is a group with a route for each kind of token.
func guarded() web.RouteGroup {
	return web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		web.GetRoute("/read", web.Merchants(order.ScopeOrdersRead), who),
		web.GetRoute("/write", web.Merchants(order.ScopeOrdersWrite), who),
		web.GetRoute("/invoices", web.Merchants(order.ScopeInvoicesWrite), who),
		web.GetRoute("/operator", web.Operators(order.ScopeOrdersIngest), tell("operator")),
		public("GET", "/open", tell("open")),
	}}
}

// asked is an Authenticator that records the texts it gets and accepts one of them.
type asked struct {
	mu    sync.Mutex
	texts []string
}

func (v *asked) Authenticate(_ context.Context, text string, _ netip.Addr) (token.Grant, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.texts = append(v.texts, text)
	if text == "good" {
		return token.Grant{Token: token.Token{ID: 7, MerchantID: 355, Scopes: order.DefaultScopes}}, nil
	}
	return token.Grant{}, token.ErrUnknown
}

func basic(pair string) string { return base64.StdEncoding.EncodeToString([]byte(pair)) }

func TestCredentials(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		headers []string
		asked   []string // the texts that the authenticator got
		status  int
	}{
		{"none", nil, nil, 401},
		{"empty", []string{"Authorization: "}, nil, 401},
		{"Bearer", []string{"Authorization: Bearer good"}, []string{"good"}, 200},
		{"header in small letters", []string{"authorization: Bearer good"}, []string{"good"}, 200},
		{"bearer", []string{"Authorization: bearer good"}, []string{"good"}, 200},
		{"BEARER", []string{"Authorization: BEARER good"}, []string{"good"}, 200},
		{"Bearer with spaces", []string{"Authorization:   Bearer   good  "}, []string{"good"}, 200},
		{"Bearer of nothing", []string{"Authorization: Bearer"}, nil, 401},
		{"Bearer of spaces", []string{"Authorization: Bearer   "}, nil, 401},
		{"Bearer unknown", []string{"Authorization: Bearer bad"}, []string{"bad"}, 401},
		{"Bearer in another case", []string{"Authorization: Bearer GOOD"}, []string{"GOOD"}, 401},
		{"Bearer of two", []string{"Authorization: Bearer good good"}, []string{"good good"}, 401},
		{"two in one header", []string{"Authorization: Bearer good, Bearer good"}, []string{"good, Bearer good"}, 401},
		{"Bearer in quotes", []string{`Authorization: Bearer "good"`}, []string{`"good"`}, 401},
		{"no scheme", []string{"Authorization: good"}, nil, 401},
		{"scheme alone", []string{"Authorization: Bearergood"}, nil, 401},
		{"another scheme", []string{"Authorization: Token good"}, nil, 401},
		{"Digest", []string{`Authorization: Digest username="good"`}, nil, 401},

		{"Basic", []string{"Authorization: Basic " + basic("shop@example.com:good")}, []string{"good"}, 200},
		{"basic", []string{"Authorization: basic " + basic("shop@example.com:good")}, []string{"good"}, 200},
		{"BASIC", []string{"Authorization: BASIC " + basic("x:good")}, []string{"good"}, 200},
		{"Basic without user", []string{"Authorization: Basic " + basic(":good")}, []string{"good"}, 200},
		{"Basic, the token as user", []string{"Authorization: Basic " + basic("good:")}, nil, 401},
		{"Basic without colon", []string{"Authorization: Basic " + basic("good")}, nil, 401},
		{"Basic of a colon", []string{"Authorization: Basic " + basic(":")}, nil, 401},
		{"Basic with colons in the password", []string{"Authorization: Basic " + basic("x:a:b")}, []string{"a:b"}, 401},
		{"Basic of nothing", []string{"Authorization: Basic"}, nil, 401},
		{"Basic, empty text", []string{"Authorization: Basic " + basic("")}, nil, 401},
		{"Basic, no base64", []string{"Authorization: Basic x:good"}, nil, 401},
		{"Basic, broken base64", []string{"Authorization: Basic !!!" + basic("x:good")}, nil, 401},
		{"Basic, cut base64", []string{"Authorization: Basic " + strings.TrimRight(basic("xx:good"), "=")}, nil, 401},
		{"Basic, URL alphabet", []string{"Authorization: Basic " + base64.URLEncoding.EncodeToString([]byte("\xfb\xff:good"))}, nil, 401},

		{"the same twice", []string{"Authorization: Bearer good", "Authorization: Bearer good"}, nil, 401},
		{"both schemes", []string{"Authorization: Basic " + basic("x:good"), "Authorization: Bearer good"}, nil, 401},
		{"an empty one more", []string{"Authorization: Bearer good", "Authorization:"}, nil, 401},
		{"other headers", []string{"Proxy-Authorization: Bearer good", "X-Api-Key: good", "Cookie: token=good"}, nil, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			verifier := &asked{}
			server := serve(t, verifier, guarded())
			got := server.ask(t, "GET /read?access_token=good&token=good", test.headers...)
			if got.status != test.status {
				t.Errorf("status %d, want %d", got.status, test.status)
			}
			if diff := cmp.Diff(test.asked, verifier.texts); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			challenges := []string{`Bearer realm="merchant-orders"`}
			if got.status == http.StatusOK {
				challenges = nil
			} else if diff := cmp.Diff(failure{"rest", 401}, read[failure](t, got.body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(challenges, got.header.Values("WWW-Authenticate")); diff != "" {
				t.Errorf("WWW-Authenticate (-want +got):\n%s", diff)
			}
			checkJSON(t, got)
		})
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	verifier := tokens{
		"all":      {ID: 1, MerchantID: 355, Scopes: order.DefaultScopes},
		"read":     {ID: 2, MerchantID: 356, Scopes: order.ScopeOrdersRead},
		"write":    {ID: 3, MerchantID: 357, Scopes: order.ScopeOrdersWrite},
		"invoices": {ID: 4, MerchantID: 358, Scopes: order.ScopeInvoicesWrite},
		"none":     {ID: 5, MerchantID: 359},
		"operator": {ID: 6, Scopes: order.ScopeOrdersIngest},
		"audit":    {ID: 7, Scopes: order.ScopeAudit},
	}
	server := serve(t, verifier, guarded())
	for _, test := range []struct {
		token                           string
		read, write, invoices, operator int
	}{
		{"all", 200, 200, 200, 403},
		{"read", 200, 403, 403, 403},
		{"write", 403, 200, 403, 403},
		{"invoices", 403, 403, 200, 403},
		{"none", 403, 403, 403, 403},
		{"operator", 403, 403, 403, 200},
		{"audit", 403, 403, 403, 403},
		{"unknown", 401, 401, 401, 401},
	} {
		for path, want := range map[string]int{
			"/read": test.read, "/write": test.write, "/invoices": test.invoices, "/operator": test.operator, "/open": 200,
		} {
			for _, header := range []string{"Bearer " + test.token, "Basic " + basic("x:"+test.token)} {
				want := want
				if path == "/operator" && strings.HasPrefix(header, "Basic") {
					want = 401 // a browser would remember it
				}
				got := server.ask(t, "GET "+path, "Authorization: "+header)
				if got.status != want {
					t.Errorf("%.6s %s on %s: status %d, want %d", header, test.token, path, got.status, want)
				}
				if got.status == 200 && strings.HasPrefix(got.body, "3") && got.body != fmt.Sprintln(verifier[test.token].MerchantID) {
					t.Errorf("%s acts for %s", test.token, got.body)
				}
				if got.status == 403 && got.header.Values("WWW-Authenticate") != nil {
					t.Errorf("%s on %s: 403 with WWW-Authenticate", test.token, path)
				}
			}
		}
	}
}

// TestChallenges checks that only a group that says so asks for Basic.
func TestChallenges(t *testing.T) {
	t.Parallel()
	legacy := guarded()
	legacy.Prefix, legacy.BasicChallenge = "/legacy", true
	server := serve(t, &asked{}, guarded(), legacy)
	for path, want := range map[string][]string{
		"/read":            {`Bearer realm="merchant-orders"`},
		"/operator":        {`Bearer realm="merchant-orders"`},
		"/legacy/read":     {`Bearer realm="merchant-orders"`, `Basic realm="merchant-orders", charset="UTF-8"`},
		"/legacy/operator": {`Bearer realm="merchant-orders"`, `Basic realm="merchant-orders", charset="UTF-8"`},
	} {
		if diff := cmp.Diff(want, server.ask(t, "GET "+path).header.Values("WWW-Authenticate")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// verifyError is an Authenticator that fails.
type verifyError struct{ error }

func (v verifyError) Authenticate(context.Context, string, netip.Addr) (token.Grant, error) {
	return token.Grant{}, v.error
}

func TestAuthenticationFails(t *testing.T) {
	t.Parallel()
	for status, err := range map[int]error{
		503: fmt.Errorf("dial the database at db.internal: %w", order.ErrUnavailable),
		500: errors.New("column scopes is missing"),
		401: fmt.Errorf("token 7: %w", token.ErrUnknown),
	} {
		server := serve(t, verifyError{err}, guarded())
		got := server.ask(t, "GET /read", "Authorization: Bearer x")
		if got.status != status || read[failure](t, got.body) != (failure{"rest", status}) {
			t.Errorf("%v: %+v", err, got)
		}
		if after := got.header.Get("Retry-After"); (after != "") != (status == 503) {
			t.Errorf("%v: Retry-After %q", err, after)
		}
	}
}
