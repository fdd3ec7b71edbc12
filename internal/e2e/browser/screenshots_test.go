package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
)

// device is how a picture of a page is taken.
type device struct {
	name          string
	width, height int64
	scheme        string // light or dark
	language      string
}

// devices are all of them.
var devices = []device{
	{"desktop-light-en", 1280, 900, "light", "en"},
	{"desktop-dark-el", 1280, 900, "dark", "el"},
	{"phone-light-el", 390, 844, "light", "el"},
	{"phone-dark-en", 390, 844, "dark", "en"},
}

// consolePages are the pages of a store with the demo's orders, by the name of the
// picture.
var consolePages = map[string]string{
	"overview": "/console", "orders": "/console/orders?page=2", "orders-wrong": "/console/orders?from=2026-13-01",
	"order-new": "/console/orders/DEMO-0060", "order-a39": "/console/orders/DEMO-0002",
	"order-shipped": "/console/orders/DEMO-0030", "order-extreme": "/console/orders/EXTREME-" + strings.Repeat("1", 50), "notfound": "/console/orders/NONE",
}

// TestScreenshots takes pictures of every page of the console, to be looked at. See
// scripts/screenshots.
func TestScreenshots(t *testing.T) {
	if pictures == "" {
		t.Skip("set MERCHANT_ORDERS_TEST_PICTURES to a folder: see scripts/screenshots")
	}
	full := apptest.Start(t, "--demo")
	full.Import(t, extremeOrder())
	empty := apptest.Start(t)
	for _, d := range devices {
		t.Run(d.name, func(t *testing.T) {
			page := open(t, full.BaseURL)
			d.apply(t, page)
			d.picture(t, page, full.BaseURL+"/", "signin")
			d.picture(t, page, full.BaseURL+"/console/login/x", "login")
			signIn(t, page, full.BaseURL, full.Token)
			for name, path := range consolePages {
				d.picture(t, page, full.BaseURL+path, name)
			}
			page = open(t, empty.BaseURL)
			d.apply(t, page)
			signIn(t, page, empty.BaseURL, empty.Token)
			d.picture(t, page, empty.BaseURL+"/console", "overview-empty")
			d.picture(t, page, empty.BaseURL+"/console/orders", "orders-empty")
		})
	}
}

// extremeOrder is an order whose texts are longer than any page expects.
func extremeOrder() []byte {
	long := strings.Repeat("Ατελείωτη ", 12) + strings.Repeat("x", 120)
	return ingesttest.Document(1, func(document map[string]any) {
		document["reference"] = "EXTREME-" + strings.Repeat("1", 50)
		document["state"] = "registered"
		document["notes"] = strings.Repeat(long+"\n", 20)
		for _, name := range []string{"firstName", "lastName", "company", "email"} {
			document["customer"].(map[string]any)[name] = long
		}
		for _, item := range document["lineItems"].([]any) {
			item.(map[string]any)["productName"] = long
			item.(map[string]any)["merchantSku"] = strings.Repeat("Y", 200)
		}
		document["shippingAddress"].(map[string]any)["street"] = long
	})
}

// apply makes the browser be a device.
func (d device) apply(t *testing.T, page *tab) {
	t.Helper()
	command(t, page, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: d.scheme}},
	})
	command(t, page, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": d.language}})
	page.run(t, chromedp.EmulateViewport(d.width, d.height))
}

// picture takes a picture of an address.
func (d device) picture(t *testing.T, page *tab, address, name string) {
	t.Helper()
	page.run(t, chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("main h1")))
	d.shoot(t, page, name)
}

// shoot takes a picture of the page that is open.
func (d device) shoot(t *testing.T, page *tab, name string) {
	t.Helper()
	page.forgive("status of 40") // pages that say what is wrong
	page.forgive("status of 422")
	page.forgive("does not conform to the required format")
	png := value(t, page, chromedp.FullScreenshot(100))
	file := filepath.Join(pictures, fmt.Sprintf("%s-%s.png", name, d.name))
	if err := os.WriteFile(file, png, 0o600); err != nil {
		t.Fatal(err)
	}
	if wide := value(t, page, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > d.width {
		t.Errorf("%s is %d wide, by %q", name, wide, value(t, page, chromedp.Evaluate[[]string](widest)))
	}
}

// signIn signs in with a token.
func signIn(t *testing.T, page *tab, base, token string) {
	t.Helper()
	page.run(t, chromedp.Navigate(base+"/"),
		chromedp.SetValue(chromedp.CSS("#token"), token),
		chromedp.Click(chromedp.CSS("main button")),
		chromedp.WaitVisible(chromedp.CSS(".tabs")))
}
