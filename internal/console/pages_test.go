package console_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// hostile are texts that break out of a page that does not escape them, or that no
// page expects.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `{{7*7}}`, `${7*7}`, "\u202egnp.exe\u2066", `</title></textarea><svg onload=alert(1)>`,
	`javascript:alert(1)`, strings.Repeat("Ω", 10_000), "=1+1", "&lt;b&gt;",
}

// hostileOrder returns an order each text of which is hostile.
func hostileOrder(n int, reference string) []byte {
	return newOrder(n*4, reference, func(document map[string]any) {
		text := hostile[n%len(hostile)]
		fill := func(object map[string]any, names ...string) {
			for _, name := range names {
				object[name] = text
			}
		}
		document["notes"] = text
		fill(document["customer"].(map[string]any), "firstName", "lastName", "company", "email", "phone")
		for _, address := range []string{"billingAddress", "shippingAddress"} {
			fill(document[address].(map[string]any), "firstName", "street", "address2", "city", "region", "country", "phone")
		}
		fill(document["carrier"].(map[string]any), "name", "method", "deliveryName", "trackingCodes", "comments")
		fill(document["payment"].(map[string]any), "name")
		fill(document["invoiceDetails"].(map[string]any), "company", "vatNumber", "occupation", "article39", "article39Otp", "article39Eligible")
		for _, item := range document["lineItems"].([]any) {
			fill(item.(map[string]any), "productName", "productUrl", "sku", "merchantSku", "ean", "article39Status")
			item.(map[string]any)["extendedAttributes"] = []any{map[string]any{"a": text}}
		}
	})
}

// TestHostileData checks that no text of an order does anything on any page.
func TestHostileData(t *testing.T) {
	t.Parallel()
	var documents [][]byte
	for n := range hostile {
		documents = append(documents, hostileOrder(n, "H-"+string(rune('a'+n))))
	}
	s := start(t, documents...)
	b := s.signedIn(s.token)
	paths := []string{"/console", "/console/new", "/console/orders", "/console/orders?q=%3Cscript%3Ealert(1)%3C/script%3E", "/console/orders?state=%22%3E%3Cscript%3E"}
	for n := range hostile {
		paths = append(paths, "/console/orders/H-"+string(rune('a'+n)), "/console/orders/H-"+string(rune('a'+n))+"/print")
	}
	for _, path := range paths {
		got := b.get(path)
		if got.Status != http.StatusOK && got.Status != http.StatusBadRequest {
			t.Errorf("%s: status %d", path, got.Status)
		}
		testenv.Lacks(t, path, got.Body, "<script>alert", "<img src=x", "<svg onload", `href="javascript:`, `href="=1`, "49</")
		checkPage(t, path, got)
	}
	got := b.get("/console/orders/H-i")
	testenv.Contains(t, "the page", got.Body, strings.Repeat("Ω", 10_000))
}

// Things that a page must not have: its policy forbids them.
var (
	inlineScript = regexp.MustCompile(`<script(>| [^>]*[^>"]>)|<style|\sstyle="|\son[a-z]+="`)
	elsewhere    = regexp.MustCompile(`(src|srcset|action|poster|data)="(https?:)?//|<(link|base|use|image)[^>]*href="(https?:)?//|http-equiv|url\(`)
)

// checkPage reports what no page may have.
func checkPage(t *testing.T, path string, got page) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "same-origin",
		"Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
			"form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	} {
		testenv.Equal(t, fmt.Sprintf("%s: %s", path, name), want, got.Header.Get(name))
	}
	testenv.Equal(t, path+" loads from elsewhere", "", elsewhere.FindString(got.Body))
	for _, found := range inlineScript.FindAllString(got.Body, -1) {
		testenv.Contains(t, path, found, " src=")
	}
}

// TestPages checks what all pages have in common, also those of errors.
func TestPages(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	for _, path := range []string{"/console", "/console/new", "/console/orders", orderPage, "/console/orders/NONE", "/console/nothing", "/console/login/x", orderPage + "/withdraw/9"} {
		checkPage(t, path, b.get(path))
	}
	checkPage(t, "/", s.browser().get("/"))
	// An error does not take the navigation away.
	for path, status := range map[string]int{"/console/orders/NONE": http.StatusNotFound, "/console/nothing": http.StatusNotFound, "/console/live?after=x": http.StatusBadRequest, "/console/operator/orders": http.StatusForbidden} {
		b.get(path).WantText(t, status, `href="/console/new"`, "/console/sign-out")
		testenv.Lacks(t, path+" of a stranger", s.browser().get(path).Body, "/console/sign-out")
	}
	if got := b.get("/nothing"); !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		t.Errorf("a path outside the console gets %s", got.Header.Get("Content-Type"))
	}
	for _, script := range regexp.MustCompile(`<script src="([^"]+)"`).FindAllStringSubmatch(b.get("/console").Body, -1) {
		testenv.Contains(t, "address of a script", script[1], "?v=")
	}
	for _, name := range regexp.MustCompile(`/console/assets/[a-z.]+\?v=[0-9a-f]+`).FindAllString(b.get("/console").Body, -1) {
		got := s.browser().get(name)
		if got.Status != http.StatusOK || got.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || got.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", name, got.Status, got.Header)
		}
	}
	b.get("/console/assets/none.css").WantText(t, http.StatusNotFound)
}

// TestDamagedFile checks the page for a fault of the service: it says nothing of the
// fault.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	b.upload(orderPage, "a.pdf", "content")
	testenv.NoError(s.T, s.Disk.Remove(t.Context(), order.InvoicePath("A-1", "a.pdf")))
	got := b.get(orderPage + "/files/a.pdf")
	got.WantText(t, http.StatusInternalServerError, "Something went wrong")
	checkPage(t, "a damaged file", got)
}
