package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"merchantorders/internal/ingest/ingesttest"
)

// hostileTexts are what the texts of hostileOrder say in turn: what breaks out of a page
// that does not escape it, what templates compute, marks that turn the direction of text,
// and a text longer than any page.
var hostileTexts = []string{
	`</title></textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>`,
	"\u202e\u2066\u200fgnp.exe\u202b " + strings.Repeat("W", 9_980),
	`'"><svg onload=alert(1)>{{7*7}}${7*7}<%= 7*7 %>`,
}

// hostileOrder is the oldest registered order. All its texts are hostile.
func hostileOrder() []byte {
	return ingesttest.Document(consoleOrders+1, func(document map[string]any) {
		next := 0
		fill := func(object any, names ...string) {
			for _, name := range names {
				object.(map[string]any)[name] = hostileTexts[next%len(hostileTexts)]
				next++
			}
		}
		register(document, "H-1", consoleOrders+1)
		fill(document, "notes")
		fill(document["customer"], "lastName", "company", "firstName", "email", "phone")
		fill(document["shippingAddress"], "firstName", "street", "city", "phone")
		fill(document["billingAddress"], "street")
		fill(document["carrier"], "name", "trackingCodes", "comments", "method")
		fill(document["payment"], "name")
		for _, item := range document["lineItems"].([]any) {
			fill(item, "productName", "productUrl", "sku", "merchantSku")
		}
	})
}

// register makes a document a registered order, so many hours old.
func register(document map[string]any, reference string, hours int) {
	created := time.Now().UTC().Add(-time.Duration(hours) * time.Hour)
	document["reference"], document["state"] = reference, "registered"
	document["invoiceDetails"] = map[string]any{"vatNumber": "000000000"}
	document["createdAt"], document["expiresAt"] = created.Format(time.RFC3339), created.Add(48*time.Hour).Format(time.RFC3339)
}

// seeHostile opens pages with hostile texts on a phone. The tab reports a script that
// runs, also one that the policy stops.
func (p *staff) seeHostile(t *testing.T) {
	const width, height = 390, 844
	p.run(t, chromedp.EmulateViewport(width, height, chromedp.EmulateMobile))
	for _, path := range []string{"/console/orders?q=%3Cscript%3Ealert(1)%3C/script%3E", "/console", "/console/new", "/console/orders/H-1/print", "/console/orders/H-1"} {
		p.see(t, path, "h1", "")
		if wide := value(t, p.tab, chromedp.Evaluate[int](`document.documentElement.scrollWidth`)); wide > width {
			t.Errorf("%s is %d wide, by %q", path, wide, value(t, p.tab, chromedp.Evaluate[[]string](widest)))
		}
	}
	for _, text := range []string{"<script>alert(1)</script>", "{{7*7}}${7*7}"} {
		p.wait(t, "main", text) // as it was written
	}
	p.run(t, chromedp.EmulateReset())
}
