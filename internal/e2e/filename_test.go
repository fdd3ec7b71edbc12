package e2e

import (
	"mime"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestFileNames has the names under which files are stored (decision 6), their
// form in the address, and the name under which a browser saves them.
func TestFileNames(t *testing.T) {
	tests := []struct{ name, sent, want string }{
		{"plain", "invoice-1_a.pdf", "invoice-1_a.pdf"},
		{"path", "/etc/passwd.pdf", "passwd.pdf"},
		{"path upwards", "../../../a.pdf", "a.pdf"},
		{"path of Windows", `C:\temp\a.pdf`, "a.pdf"},
		{"path of Windows upwards", `..\..\a.pdf`, "a.pdf"},
		{"mixed path", `dir/sub\a.pdf`, "a.pdf"},
		{"mixed path the other way", `dir\sub/a.pdf`, "a.pdf"},
		{"space", "my invoice.pdf", "my invoice.pdf"},
		{"spaces around", " a .pdf", " a .pdf"},
		{"query and fragment", "a?b#c.pdf", "a?b#c.pdf"},
		{"percent", "100%.pdf", "100%.pdf"},
		{"percent-encoded path", "%2e%2e%2fa.pdf", "%2e%2e%2fa.pdf"},
		{"quotes", `"a'b".pdf`, `"a'b".pdf`},
		{"header breakers", `a;b=c,d.pdf`, `a;b=c,d.pdf`},
		{"markup", "<b>&amp;.pdf", "<b>&amp;.pdf"},
		{"other signs", "a:b|c*$+@!~.pdf", "a:b|c*$+@!~.pdf"},
		{"Greek", "Τιμολόγιο Ά.pdf", "Τιμολόγιο Ά.pdf"},
		{"emoji", "🙂🇬🇷.png", "🙂🇬🇷.png"},
		{"right-to-left mark", "a\u202efdp.pdf", "a\u202efdp.pdf"},
		{"line break", "a\r\nSet-Cookie: x.pdf", "aSet-Cookie: x.pdf"},
		{"control characters", "\x01\x1f\x7f\u0085\u009fa\x00\x1b.pdf", "a.pdf"},
		{"control characters in the extension", "a.p\x00df\x00", "a.pdf"},
		{"control characters before a slash", "a\x00/\x01b.pdf", "b.pdf"},
		{"several dots", "a.b.tar.pdf", "a.b.tar.pdf"},
		{"two dots", "..pdf", "..pdf"},
		{"extension only", ".pdf", ".pdf"},
		{"extension in capitals", "A.JPEG", "A.JPEG"},
		{"dash", "-rf.pdf", "-rf.pdf"},
		{"200 bytes", strings.Repeat("a", 196) + ".pdf", strings.Repeat("a", 196) + ".pdf"},
		{"201 bytes", strings.Repeat("a", 197) + ".pdf", strings.Repeat("a", 196) + ".pdf"},
		{"long with a long extension", strings.Repeat("a", 300) + ".jpeg", strings.Repeat("a", 195) + ".jpeg"},
		{"300 Greek letters", strings.Repeat("α", 300) + ".pdf", strings.Repeat("α", 98) + ".pdf"},
		{"letter across the limit", "a" + strings.Repeat("α", 100) + ".pdf", "a" + strings.Repeat("α", 97) + ".pdf"},
		{"very long path", strings.Repeat("d/", 50_000) + "a.pdf", "a.pdf"},
	}
	onEveryBackend(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, len(tests))
			for i, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					e := s.uploaded(t, v, orders[i], test.sent, test.name)
					wantAddress(t, e.url, s.BaseURL+s.storage+"/invoices/"+orders[i].reference, test.want)
					a := s.do(t, get(s.path(t, e.url)))
					if a.ok(t) != test.name {
						t.Errorf("the file has %q", a.body)
					}
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

// TestFileTypes has names whose extension is not an allowed one (spec 4.3):
// what counts is the stored name.
func TestFileTypes(t *testing.T) {
	names := []string{
		"a", "a.", ".", "..", "/", `\`, "pdf", "a.pdf/", `a.pdf\`, "a.pdf.", "a.pdf ", "a.pdf/..", "a.pdf/b", "a.exe", "a.gif", "a.html", "a.svg", "a.webp",
		"a.tiff", "a.jpe", "a.pdfx", "a.xpdf", "a.pdf.exe", "a.pdf\x00.html", "a.pdf%00", "a.pdf?x", "a.pdf;.exe", "a.ρdf", "a.ｐｄｆ", "a.pdf\u200b",
		"a.p df", "\x00", " ", "a,pdf", "a.pdf\u00a0",
	}
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		inEachVersion(t, func(t *testing.T, v version) {
			for _, name := range names {
				t.Run(name, func(t *testing.T) {
					s.do(t, v.upload(o, name, "x")).wantRefusal(t, v, typeNotSupported, o)
				})
			}
		})
		if got := s.entries(t, o); len(got) != 0 {
			t.Errorf("one of them has left %v", got)
		}
	})
}

// TestFileNamesAreTakenOnce uploads the same names again and again: no file
// replaces another, not even of a deleted one (decision 6).
func TestFileNamesAreTakenOnce(t *testing.T) {
	long := strings.Repeat("a", 196) + ".pdf"
	steps := []struct{ delete, sent, want string }{
		{"", "a.pdf", "a.pdf"},
		{"", "a.pdf", "a-1.pdf"},
		{"", "dir/a.pdf", "a-2.pdf"},
		{"a.pdf", "a.pdf", "a-3.pdf"},
		{"a-1.pdf", "a-1.pdf", "a-1-1.pdf"},
		{"a-2.pdf", "A.pdf", "A.pdf"},
		{"a-3.pdf", "A.PDF", "A.PDF"},
		{"A.pdf", "a.png", "a.png"},
		{"A.PDF", "a-4.pdf", "a-4.pdf"},
		{"a.png", "a.pdf", "a-5.pdf"},
		{"a-4.pdf", long, long},
		{"a-5.pdf", long, strings.Repeat("a", 194) + "-1.pdf"},
		{"a-1-1.pdf", ".pdf", ".pdf"},
		{long, ".pdf", "-1.pdf"},
		{".pdf", "Ω.tar.pdf", "Ω.tar.pdf"},
		{"-1.pdf", "Ω.tar.pdf", "Ω.tar-1.pdf"},
	}
	onEveryBackend(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o, other := s.addOne(t), s.addOne(t)
			active, ids := map[string]entry{}, map[int64]bool{}
			for i, step := range steps {
				if step.delete != "" {
					gone := active[step.delete]
					delete(active, step.delete)
					s.do(t, remove(v.invoice(o, gone.id))).ok(t)
					if a := s.do(t, get(s.path(t, gone.url))); a.status != 404 {
						t.Errorf("the deleted %s is still served: status %d", step.delete, a.status)
					}
				}
				content := asJSON(t, i)
				e := s.uploaded(t, v, o, step.sent, content)
				wantAddress(t, e.url, s.BaseURL+s.storage+"/invoices/"+o.reference, step.want)
				if ids[e.id] {
					t.Errorf("id %d is used again", e.id)
				}
				active[step.want], ids[e.id] = e, true
			}
			for name, e := range active {
				content := s.do(t, get(s.path(t, e.url))).ok(t)
				if step := steps[number(t, content)]; step.want != name {
					t.Errorf("%s has the content of %s", name, step.want)
				}
			}
			e := s.uploaded(t, v, other, "a.pdf", "x")
			wantAddress(t, e.url, s.BaseURL+s.storage+"/invoices/"+other.reference, "a.pdf")
		})
	})
}
