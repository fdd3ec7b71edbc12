package browser

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// useTokens creates a token in the settings, uses it, revokes it, and is refused.
func (p *user) useTokens(t *testing.T) {
	p.see(t, "/console", ".tabs", "Settings")
	p.click(t, `.tabs a[href="/console/tokens"]`)
	p.wait(t, "h2", "Create a token")
	p.set(t, "#label", "<img src=x onerror=alert(1)>")
	p.click(t, `input[name=scope][value="orders:read"]`)
	p.clickTwice(t, "form.wide .primary")
	p.wait(t, ".notice.good", "Copy the new token now.")
	text := strings.TrimSpace(evaluate[string](t, p, `document.querySelector(".secret").innerText`))
	p.click(t, ".notice .copy")
	p.wait(t, ".notice .copied", "Copied")
	const row = `[...document.querySelectorAll("tbody tr")].filter(row => row.innerText.includes("onerror=alert(1)"))`
	if rows := evaluate[int](t, p, row+".length"); rows != 1 {
		t.Errorf("a double click has created %d tokens", rows)
	}
	testenv.Send(t, text, http.MethodGet, p.BaseURL+"/v2/orders/C-1", "").WantStatus(t, http.StatusOK)
	testenv.Send(t, text, http.MethodPatch, p.BaseURL+"/v2/orders/C-8/accept", "").WantStatus(t, http.StatusForbidden)
	p.do(t, row+`[0].querySelector("a.danger").click()`)
	p.wait(t, "h1", "Revoke this token?")
	p.click(t, "main button.danger")
	p.wait(t, ".notice.good", "The token is revoked.")
	testenv.Send(t, text, http.MethodGet, p.BaseURL+"/v2/orders/C-1", "").WantStatus(t, http.StatusUnauthorized)
}
