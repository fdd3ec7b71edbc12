package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// useTokens creates a token in the settings, uses it, revokes it, and is refused.
func (p *staff) useTokens(t *testing.T) {
	p.see(t, "/console", ".tabs", "Settings")
	p.click(t, `.tabs a[href="/console/tokens"]`)
	p.wait(t, "h2", "Create a token")
	p.run(t, chromedp.SetValue(chromedp.CSS("#label"), "<img src=x onerror=alert(1)>"))
	p.click(t, `input[name=scope][value="orders:read"]`)
	p.clickTwice(t, "form.wide .primary")
	p.wait(t, ".notice.good", "Copy the new token now.")
	text := strings.TrimSpace(value(t, p.tab, chromedp.Text(chromedp.CSS(".secret"))))
	const row = `[...document.querySelectorAll("tbody tr")].filter(row => row.innerText.includes("onerror=alert(1)"))`
	if rows := value(t, p.tab, chromedp.Evaluate[int](row+".length")); rows != 1 {
		t.Errorf("a double click has created %d tokens", rows)
	}
	if status, body := p.api(t, text, http.MethodGet, "/v2/orders/C-1"); status != http.StatusOK {
		t.Errorf("the new token: %d %s", status, body)
	}
	if status, _ := p.api(t, text, http.MethodPatch, "/v2/orders/C-8/accept"); status != http.StatusForbidden {
		t.Errorf("the new token may accept orders: %d", status)
	}
	value(t, p.tab, chromedp.Evaluate[bool](row+`[0].querySelector("a.danger").click(), true`))
	p.wait(t, "h1", "Revoke this token?")
	p.click(t, "main button.danger")
	p.wait(t, ".notice.good", "The token is revoked.")
	if status, _ := p.api(t, text, http.MethodGet, "/v2/orders/C-1"); status != http.StatusUnauthorized {
		t.Errorf("the revoked token: %d", status)
	}
}
