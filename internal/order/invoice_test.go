package order_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// Proves decision 6 (names, URL, ids).
func TestStoredName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, filename, want string
		allowed              bool
	}{
		{"plain", "invoice.pdf", "invoice.pdf", true},
		{"capital extension", "Invoice.PDF", "Invoice.PDF", true},
		{"jpeg", "a.jpeg", "a.jpeg", true},
		{"jpg", "a.JpG", "a.JpG", true},
		{"png", "a.png", "a.png", true},
		{"Greek", "τιμολόγιο.pdf", "τιμολόγιο.pdf", true},
		{"folders", "/etc/passwd/a.pdf", "a.pdf", true},
		{"folders up", "../../a.pdf", "a.pdf", true},
		{"folders of Windows", `..\..\a.pdf`, "a.pdf", true},
		{"drive", `C:\Users\me\a.pdf`, "a.pdf", true},
		{"both slashes", `a/b\c/d.pdf`, "d.pdf", true},
		{"a folder only", "a.pdf/", "", false},
		{"a Windows folder only", `a.pdf\`, "", false},
		{"NUL", "a.pdf\x00", "a.pdf", true},
		{"NUL before another extension", "a.pdf\x00.html", "a.pdf.html", false},
		{"line ends", "a\r\nSet-Cookie: x\r\n.pdf", "aSet-Cookie: x.pdf", true},
		{"tab, escape, DEL, C1", "a\t\x1b\x7f\u0085b.pdf", "ab.pdf", true},
		{"control characters around a slash", "x/\x00/\x01a.pdf", "a.pdf", true},
		{"quotes", `a"b'c.pdf`, `a"b'c.pdf`, true},
		{"marks of an address", "a?b#c%2Fd&e=f.pdf", "a?b#c%2Fd&e=f.pdf", true},
		{"space at the end", "a.pdf ", "a.pdf ", false},
		{"dot at the end", "a.pdf.", "a.pdf.", false},
		{"two extensions", "a.tar.pdf", "a.tar.pdf", true},
		{"the last extension counts", "a.pdf.exe", "a.pdf.exe", false},
		{"extension only", ".pdf", ".pdf", true},
		{"no extension", "pdf", "pdf", false},
		{"empty", "", "", false},
		{"dot", ".", ".", false},
		{"dots", "..", "..", false},
		{"dots up", "../..", "..", false},
		{"broken UTF-8", "a\xff\xfe.pdf", "a\ufffd\ufffd.pdf", true},
		{"long", strings.Repeat("a", 300) + ".pdf", strings.Repeat("a", 196) + ".pdf", true},
		{"just long enough", strings.Repeat("a", 196) + ".pdf", strings.Repeat("a", 196) + ".pdf", true},
		{"long Greek", strings.Repeat("ω", 300) + ".pdf", strings.Repeat("ω", 98) + ".pdf", true},
		{"long Greek, odd", "a" + strings.Repeat("ω", 300) + ".pdf", "a" + strings.Repeat("ω", 97) + ".pdf", true},
		{"long, of four bytes", strings.Repeat("😀", 100) + ".jpeg", strings.Repeat("😀", 48) + ".jpeg", true},
		{"long without extension", strings.Repeat("ω", 300), strings.Repeat("ω", 100), false},
		{"long extension", "a." + strings.Repeat("x", 300), "." + strings.Repeat("x", 199), false},
		{"long extension that begins as an allowed one", "a.pdf" + strings.Repeat("f", 300), ".pdf" + strings.Repeat("f", 196), false},
		{"long extension in Greek", "a." + strings.Repeat("ω", 300), "a." + strings.Repeat("ω", 99), false},
		{"allowed extension before a long one", strings.Repeat("a", 196) + ".pdf." + strings.Repeat("x", 300), "." + strings.Repeat("x", 199), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := order.StoredName(test.filename)
			testenv.Equal(t, fmt.Sprintf("StoredName(%q)", test.filename), test.want, got)
			if _, allowed := order.ContentType(got); allowed != test.allowed {
				t.Errorf("%q is allowed: %v, want %v", got, allowed, test.allowed)
			}
		})
	}
	for _, name := range []string{
		"a", "a.", "/", `\`, "a.pdf/..", "a.pdf/b", "a.gif", "a.html", "a.svg", "a.webp", "a.tiff", "a.jpe", "a.pdfx", "a.xpdf", "a.pdf%00", "a.pdf?x", "a.pdf;.exe",
		"a.ρdf", "a.ｐｄｆ", "a.pdf\u200b", "a.p df", "\x00", " ", "a,pdf", "a.pdf\u00a0",
	} {
		if _, allowed := order.ContentType(order.StoredName(name)); allowed {
			t.Errorf("%q is allowed", name)
		}
	}
}

// Proves decision 6 (names, URL, ids).
func TestFreeName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ω", 98) + ".pdf"
	for _, test := range []struct {
		name string
		used []string
		want string
	}{
		{"a.pdf", nil, "a.pdf"},
		{"a.pdf", []string{"b.pdf", "a.png"}, "a.pdf"},
		{"a.pdf", []string{"a.pdf"}, "a-1.pdf"},
		{"a.pdf", []string{"a-1.pdf", "a.pdf"}, "a-2.pdf"},
		{"a.pdf", []string{"a.pdf", "a-2.pdf"}, "a-1.pdf"},
		{"a-1.pdf", []string{"a-1.pdf"}, "a-1-1.pdf"},
		{"A.pdf", []string{"a.pdf"}, "A.pdf"},
		{".pdf", []string{".pdf"}, "-1.pdf"},
		{"a.tar.pdf", []string{"a.tar.pdf"}, "a.tar-1.pdf"},
		{long, []string{long}, strings.Repeat("ω", 97) + "-1.pdf"},
		{long, []string{long, strings.Repeat("ω", 97) + "-1.pdf"}, strings.Repeat("ω", 97) + "-2.pdf"},
	} {
		testenv.Equal(t, fmt.Sprintf("FreeName(%q, %q)", test.name, test.used), test.want, freeName(t, test.name, test.used))
	}
}

// freeName returns the FreeName of a name among names in use.
func freeName(t *testing.T, name string, used []string) string {
	t.Helper()
	free := testenv.Of(order.FreeName(name, func(name string) (bool, error) { return slices.Contains(used, name), nil })).Must(t)
	return free
}

// checkStoredName checks what holds for every stored name.
func checkStoredName(t *testing.T, name string) {
	t.Helper()
	if !utf8.ValidString(name) {
		t.Errorf("%q is not valid UTF-8", name)
	}
	if len(name) > order.MaxNameLength {
		t.Errorf("%q has %d bytes", name, len(name))
	}
	if strings.ContainsAny(name, `/\`) || strings.ContainsFunc(name, unicode.IsControl) {
		t.Errorf("%q has a slash or a control character", name)
	}
	testenv.Equal(t, "stored name of itself", name, order.StoredName(name))
}

func FuzzStoredName(f *testing.F) {
	for _, seed := range []string{
		"a.pdf", `..\..\a.pdf`, "../../etc/passwd", "a.pdf\x00.html", "a.pdf ", ".pdf", "", "..", "a\xff.pdf", "a\u202e.pdf",
		strings.Repeat("ω", 300) + ".pdf", "a." + strings.Repeat("x", 300), strings.Repeat("a", 250) + ".pdf.pdf", `"?#%.jpg`,
	} {
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, filename string, times int) {
		name := order.StoredName(filename)
		checkStoredName(t, name)
		sent := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, filename[strings.LastIndexAny(filename, `/\`)+1:])
		_, allowed := order.ContentType(name)
		if _, want := order.ContentType(sent); allowed != want {
			t.Errorf("%q is allowed: %v, but stored as %q: %v", sent, want, name, allowed)
		}
		if !allowed {
			return
		}
		var used []string
		for range times & 15 {
			free := freeName(t, name, used)
			checkStoredName(t, free)
			if slices.Contains(used, free) || path.Ext(free) != path.Ext(sent) {
				t.Errorf("%q after %q", free, used)
			}
			used = append(used, free)
		}
	})
}

func ExampleFreeName() {
	fmt.Println(order.FreeName("invoice.pdf", func(name string) (bool, error) { return name == "invoice.pdf", nil }))
	// Output: invoice-1.pdf <nil>
}
