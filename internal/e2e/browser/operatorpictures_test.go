package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
)

// settingsPictures and operatorPictures are the addresses of pages by the name of the
// picture.
var (
	settingsPictures = map[string]string{
		"tokens": "/console/tokens", "tokens-revoked": "/console/tokens?state=revoked", "token-rotate": "/console/tokens/1/rotate",
		"webhooks": "/console/webhooks", "webhook": "/console/webhooks/1", "webhook-remove": "/console/webhooks/1/remove",
	}
	operatorPictures = map[string]string{
		"op-orders": "/console/operator/orders", "op-orders-wrong": "/console/operator/orders?merchant=x&from=2026-13-01", "op-order": "/console/operator/orders/355/DEMO-0060",
		"op-order-extreme": "/console/operator/orders/355/EXTREME-" + strings.Repeat("1", 50),
		"op-imports":       "/console/operator/imports", "op-merchants": "/console/operator/merchants", "op-merchant": "/console/operator/merchants/355",
		"op-tokens": "/console/operator/tokens?merchant=x", "op-webhooks": "/console/operator/webhooks?state=active", "op-webhooks-empty": "/console/operator/webhooks",
		"op-webhook": "/console/operator/webhooks/355/1", "op-audit": "/console/operator/audit", "op-audit-wrong": "/console/operator/audit?token=x&reference=%25", "op-erase": "/console/operator/customers",
	}
)

// chooseFile chooses a file with refused lines in the form that imports orders, and
// sends it.
const chooseFile = `(() => {
	const input = document.querySelector("#orders-file"), files = new DataTransfer();
	const lines = ['{"reference":"BAD-1","total":"x"}', "not an order", '{"' + "x".repeat(300) + '":1}'];
	files.items.add(new File([lines.join("\n")], "orders.jsonl"));
	input.files = files.files;
	input.form.requestSubmit();
	return true;
})()`

// TestSettingsScreenshots takes pictures of the settings and of the operators' pages; see
// TestScreenshots.
func TestSettingsScreenshots(t *testing.T) {
	if pictures == "" {
		t.Skip("set MERCHANT_ORDERS_TEST_PICTURES to a folder: see scripts/screenshots")
	}
	s := apptest.Start(t, "--demo")
	s.Import(t, extremeOrder())
	settings := s.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read,tokens,webhooks", "--label", "Till "+strings.Repeat("x", 80))
	s.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read", "--expires", "72h")
	post := func(path string, body any) {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+path, strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+settings)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode >= 300 {
			t.Fatalf("%s: status %d", path, response.StatusCode)
		}
	}
	post("/v2/webhooks", map[string]any{"url": "https://hooks.example.com/orders?" + strings.Repeat("a=1&", 60), "description": strings.Repeat("Αποθήκη ", 12)})
	post("/v2/webhooks/1/test", map[string]any{})
	post("/v2/webhooks/1/redeliver", map[string]any{"event": 1})
	operator := s.Folder.Token(t, "--operator")
	for _, d := range devices() {
		t.Run(d.name, func(t *testing.T) {
			page := open(t, s.BaseURL)
			d.apply(t, page)
			signIn(t, page, s.BaseURL, settings)
			for name, path := range settingsPictures {
				d.picture(t, page, s.BaseURL+path, name)
			}
			page.run(t, chromedp.Navigate(s.BaseURL+"/console/tokens"), chromedp.Click(chromedp.CSS("form[data-once] button.primary")),
				chromedp.WaitVisible(chromedp.CSS(".field-problem")))
			d.shoot(t, page, "tokens-wrong")
			page = open(t, s.BaseURL)
			d.apply(t, page)
			signIn(t, page, s.BaseURL, operator)
			for name, path := range operatorPictures {
				d.picture(t, page, s.BaseURL+path, name)
			}
			page.run(t, chromedp.Navigate(s.BaseURL+"/console/operator/imports"))
			value(t, page, chromedp.Evaluate[bool](chooseFile))
			page.run(t, chromedp.WaitVisible(chromedp.CSS("#result-heading")))
			d.shoot(t, page, "op-imports-refused")
			page.run(t, chromedp.Navigate(s.BaseURL+"/console/operator/orders/355/DEMO-0060"), chromedp.Click(chromedp.CSS("summary")))
			d.shoot(t, page, "op-order-correct")
		})
	}
}
