package robust

import (
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestCookiesOfTwoPorts signs in as a merchant and as an operator, at the two ports of one
// host, through a proxy with TLS and without one.
//
// It guards that the cookie of an operator is Secure behind the proxy, that the two ports
// have different cookies, and that neither opens a page at the other port. A service that
// is reached with https tells browsers to use nothing else.
func TestCookiesOfTwoPorts(t *testing.T) {
	t.Parallel()
	admin := testenv.FreeAddress(t)
	s := start(t, "--admin-listen", admin, "--trusted-proxies", "127.0.0.1")
	ports := map[string]struct{ url, token, page, foreign string }{
		"session":          {s.Base, s.client.Token, "/console/orders", "/console/operator/tokens"},
		"operator-session": {"http://" + admin, s.Folder.Token(t, "--operator"), "/console/operator/tokens", "/console/orders"},
	}
	for _, scheme := range []string{"http", "https"} {
		secrets := make(map[string]string) // by name of the cookie
		for name, port := range ports {
			form := url.Values{"token": {port.token}}.Encode()
			got := testenv.Send(t, "", "POST", port.url+"/", form, "Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-Proto", scheme)
			got.WantStatus(t, 303)
			cookie, attributes, _ := strings.Cut(got.Header.Get("Set-Cookie"), ";")
			plain, prefixed := strings.CutPrefix(cookie, "__Host-")
			found, secret, _ := strings.Cut(plain, "=")
			if found != name || prefixed != (scheme == "https") || strings.Contains(attributes, "; Secure") != (scheme == "https") {
				t.Errorf("%s, %s: Set-Cookie %s", scheme, name, got.Header.Get("Set-Cookie"))
			}
			if strict := got.Header.Get("Strict-Transport-Security"); (strict == "max-age=31536000") != (scheme == "https") {
				t.Errorf("%s, %s: Strict-Transport-Security %q", scheme, name, strict)
			}
			secrets[name] = secret
		}
		prefix := ""
		if scheme == "https" {
			prefix = "__Host-"
		}
		for name, port := range ports {
			for owner, secret := range secrets {
				for _, path := range []string{port.page, port.foreign, "/console"} {
					got := testenv.Send(t, "", "GET", port.url+path, "", "Cookie", prefix+name+"="+secret, "X-Forwarded-Proto", scheme)
					signIn := strings.HasPrefix(got.Header.Get("Location"), "/?next=")
					if owner != name && !signIn && got.Status != 404 || owner == name && path == port.page && got.Status != 200 {
						t.Errorf("%s: %s with the %s of the %s: %d", scheme, port.url+path, name, owner, got.Status)
					}
				}
			}
		}
	}
}
