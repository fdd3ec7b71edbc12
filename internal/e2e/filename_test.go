package e2e

import (
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestFileNames has the names under which files are stored, their
// form in the address, and the name under which a browser saves them. Names that are
// changed are in order.TestStoredName and TestFreeName.
// Proves decision 6 (names, URL, ids), spec 2.1.
func TestFileNames(t *testing.T) {
	tests := []struct{ name, sent, want string }{
		{"path", "/etc/passwd.pdf", "passwd.pdf"},
		{"space", "my invoice.pdf", "my invoice.pdf"},
		{"query and fragment", "a?b#c.pdf", "a?b#c.pdf"},
		{"quotes", `"a'b".pdf`, `"a'b".pdf`},
		{"header breakers", `a;b=c,d.pdf`, `a;b=c,d.pdf`},
		{"markup", "<b>&amp;.pdf", "<b>&amp;.pdf"},
		{"Greek", "Τιμολόγιο Ά.pdf", "Τιμολόγιο Ά.pdf"},
		{"emoji", "🙂🇬🇷.png", "🙂🇬🇷.png"},
		{"right-to-left mark", "a\u202efdp.pdf", "a\u202efdp.pdf"},
		{"line break", "a\r\nSet-Cookie: x.pdf", "aSet-Cookie: x.pdf"},
		{"300 Greek letters", strings.Repeat("α", 300) + ".pdf", strings.Repeat("α", 98) + ".pdf"},
	}
	on(t, bothDatabases, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, len(tests))
			for i, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					e := s.uploaded(t, v, orders[i], test.sent, test.name)
					wantAddress(t, e.url, s.BaseURL+s.storage+"/invoices/"+orders[i].reference, test.want)
					a := s.do(t, get(s.path(t, e.url)))
					testenv.Equal(t, fmt.Sprintf("the file of %q", a.body), test.name, a.ok(t))
					kind, params, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
					if err != nil || kind != "attachment" || params["filename"] != test.want {
						t.Errorf("Content-Disposition is %q, want a file named %q", a.header.Get("Content-Disposition"), test.want)
					}
				})
			}
		})
	})
}

// plainAddress has what may stand in a path without being anything else.
var plainAddress = regexp.MustCompile(`^[A-Za-z0-9._~!$&'()*+,;=:@/%-]+$`)

// wantAddress sees that an address is a folder's and a name, percent-encoded.
func wantAddress(t *testing.T, address, folder, name string) {
	t.Helper()
	last, ok := strings.CutPrefix(address, folder+"/")
	if !ok || strings.Contains(last, "/") || !plainAddress.MatchString(address) {
		t.Errorf("url is %s, want one name, percent-encoded, below %s", address, folder)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.RawQuery != "" || parsed.Fragment != "" || !strings.HasSuffix(parsed.Path, "/"+name) {
		t.Errorf("url is %s, which does not name %q", address, name)
	}
}
