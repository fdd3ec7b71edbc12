package e2e

import (
	"encoding/base64"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// endpoint is one of the endpoints of spec 4, asked about an order.
type endpoint struct {
	name string
	v    version
	r    request
}

// endpoints are all that a merchant has: those of spec 4 and the stored files
// of decision 6. They name an invoice file of the order by its id and name.
func (s *service) endpoints(o placed, invoice int64, file string) []endpoint {
	var all []endpoint
	for _, v := range versions {
		all = append(all,
			endpoint{"list", v, get(v.list())},
			endpoint{"order", v, get(v.order(o))},
			endpoint{"accept", v, v.accept(o)},
			endpoint{"reject", v, v.reject(o, `"reason":"damaged"`)},
			endpoint{"upload", v, v.upload(o, "new.pdf", "x")},
			endpoint{"delete", v, remove(v.invoice(o, invoice))},
		)
	}
	all = append(all,
		endpoint{"history", v2, get(v2.order(o) + "/events")},
		// Whose events is said by the token alone, as whose list is.
		endpoint{"list", v2, get("/v2/events")},
	)
	// Below /storage errors are flat, as in v1.
	path := s.storage + "/invoices/" + o.reference + "/" + file
	return append(all, endpoint{"file", v1, get(path)})
}

// TestCredentials has what is a credential.
// Proves decision 1 (Bearer; Basic; spelling, token in the query), spec 5.
func TestCredentials(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		e := s.uploaded(t, v1, o, "a.pdf", "a")
		for _, test := range []struct{ name, auth string }{
			{"Bearer", "Bearer " + s.token},
			{"bearer", "bearer " + s.token},
			{"BEARER", "BEARER " + s.token},
			{"Basic with an e-mail", basic("merchant@example.com", s.token)},
			{"Basic without a user", basic("", s.token)},
			{"Basic with a name in Greek", basic("Μαρία", s.token)},
			{"Basic with a token as user too", basic(s.token, s.token)},
			{"basic", strings.Replace(basic("x", s.token), "Basic", "basic", 1)},
		} {
			t.Run(test.name, func(t *testing.T) {
				for _, path := range []string{v1.order(o), v2.order(o), s.path(t, e.url)} {
					s.do(t, get(path).as(test.auth)).ok(t)
				}
			})
		}
	})
}

// TestBadCredentials sends credentials that are not valid to every endpoint: the response
// is 401, and nothing changes.
// Proves decision 1 (spelling, token in the query; 401), decision 5 (word codes).
func TestBadCredentials(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		e := s.uploaded(t, v1, o, "a.pdf", "a")
		for _, test := range badCredentials(s.token, elsewhere(t)) {
			t.Run(test.name, func(t *testing.T) {
				for _, end := range s.endpoints(o, e.id, "a.pdf") {
					s.do(t, end.r.as(test.auth)).wantRefusal(t, end.v, unauthorized, o)
				}
			})
		}
		t.Run("token in the query", func(t *testing.T) {
			for _, v := range versions {
				for _, name := range []string{"token", "access_token", "api_key"} {
					s.do(t, get(v.list(name, s.token)).as(noAuth)).wantRefusal(t, v, unauthorized, o)
				}
			}
		})
		testenv.Equal(t, "state after all of them", "registered", v2.stateOf(t, s, o))
		testenv.Equal(t, "files after all of them", 1, len(s.entries(t, o)))
	})
}

// badCredentials are Authorization headers made of a good token, and of one
// that is well-formed but unknown.
func badCredentials(token, unknown string) []struct{ name, auth string } {
	flip := func(at int) string { // the token with one letter changed
		letter := "a"
		if token[at:at+1] == letter {
			letter = "b"
		}
		return token[:at] + letter + token[at+1:]
	}
	return []struct{ name, auth string }{
		{"none", noAuth},
		{"Bearer alone", "Bearer"},
		{"the token alone", token},
		{"another scheme", "Digest " + token},
		{"last letter changed", bearer(flip(len(token) - 1))},
		{"cut off", bearer(token[:len(token)-1])},
		{"of an operator by its prefix", bearer("mop_" + token[3:])},
		{"unknown but well-formed", bearer(unknown)},
		{"two tokens", bearer(token + "," + token)},
		{"long", bearer("mo_" + strings.Repeat("a", 20_000))},
		{"SQL", bearer("mo_' OR '1'='1")},
		{"Basic with the token as user", basic(token, "")},
		{"Basic with a wrong password", basic("merchant@example.com", "secret")},
		{"Basic with something before the token", basic("merchant@example.com", "x"+token)},
		{"Basic without a colon", "Basic " + base64.StdEncoding.EncodeToString([]byte(token))},
		{"Basic that is no base64", "Basic " + token},
		{"Basic with an unknown token", basic("x", unknown)},
	}
}

// elsewhere returns a token that another service has made: well-formed, but
// nothing that this one knows.
func elsewhere(t *testing.T) string {
	t.Helper()
	other := dataFolder(t)
	return other.Merchant(t, 355)
}
