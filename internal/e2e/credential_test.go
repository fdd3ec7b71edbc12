package e2e

import (
	"encoding/base64"
	"strings"
	"testing"
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

// TestCredentials has what is a credential, and what is none. api.TestTokens sends tokens that are
// not valid to every endpoint.
// Proves decision 1 (Bearer; Basic; spelling, token in the query; 401), decision 5 (word
// codes), spec 5.
func TestCredentials(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o, unknown := s.addOne(t), elsewhere(t)
		e := s.uploaded(t, v1, o, "a.pdf", "a")
		for _, test := range []struct {
			name, auth string
			good       bool
		}{
			{"Bearer", "Bearer " + s.token, true},
			{"bearer", "bearer " + s.token, true},
			{"BEARER", "BEARER " + s.token, true},
			{"Basic with an e-mail", basic("merchant@example.com", s.token), true},
			{"Basic without a user", basic("", s.token), true},
			{"Basic with a name in Greek", basic("Μαρία", s.token), true},
			{"Basic with a token as user too", basic(s.token, s.token), true},
			{"basic", strings.Replace(basic("x", s.token), "Basic", "basic", 1), true},
			{"none", noAuth, false},
			{"Bearer alone", "Bearer", false},
			{"the token alone", s.token, false},
			{"another scheme", "Digest " + s.token, false},
			{"cut off", bearer(s.token[:len(s.token)-1]), false},
			{"of an operator by its prefix", bearer("mop_" + s.token[3:]), false},
			{"unknown but well-formed", bearer(unknown), false},
			{"two tokens", bearer(s.token + "," + s.token), false},
			{"long", bearer("mo_" + strings.Repeat("a", 20_000)), false},
			{"SQL", bearer("mo_' OR '1'='1"), false},
			{"Basic with the token as user", basic(s.token, ""), false},
			{"Basic with a wrong password", basic("merchant@example.com", "secret"), false},
			{"Basic with something before the token", basic("merchant@example.com", "x"+s.token), false},
			{"Basic without a colon", "Basic " + base64.StdEncoding.EncodeToString([]byte(s.token)), false},
			{"Basic that is no base64", "Basic " + s.token, false},
			{"Basic with an unknown token", basic("x", unknown), false},
		} {
			t.Run(test.name, func(t *testing.T) {
				for path, v := range map[string]version{v1.order(o): v1, v2.order(o): v2, s.path(t, e.url): v1} {
					if a := s.do(t, get(path).as(test.auth)); test.good {
						a.ok(t)
					} else {
						a.wantRefusal(t, v, unauthorized, o)
					}
				}
			})
		}
		inEachVersion(t, func(t *testing.T, v version) {
			for _, name := range []string{"token", "access_token", "api_key"} {
				s.do(t, get(v.list(name, s.token)).as(noAuth)).wantRefusal(t, v, unauthorized, o)
			}
		})
	})
}

// elsewhere returns a token that another service has made: well-formed, but
// nothing that this one knows.
func elsewhere(t *testing.T) string {
	t.Helper()
	other := dataFolder(t)
	return other.Merchant(t, 355)
}
