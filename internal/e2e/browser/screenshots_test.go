package browser

import (
	"fmt"
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

// devices returns all of them.
func devices() []device {
	var all []device
	for _, screen := range []device{{name: "desktop", width: 1280, height: 900}, {name: "phone", width: 390, height: 844}} {
		for _, scheme := range []string{"light", "dark"} {
			for _, language := range []string{"en", "el"} {
				all = append(all, device{screen.name + "-" + scheme + "-" + language, screen.width, screen.height, scheme, language})
			}
		}
	}
	return all
}

// TestScreenshots takes pictures of every page of the console, to be looked at. See
// scripts/screenshots.
func TestScreenshots(t *testing.T) {
	if pictures == "" {
		t.Skip("set MERCHANT_ORDERS_TEST_PICTURES to a folder: see scripts/screenshots")
	}
	full, all := prepareConsole(t)
	operator := full.Folder.Token(t, "--operator")
	empty := apptest.Start(t)
	nothing := empty.Folder.Token(t, "--merchant", "355", "--scopes", allScopes)
	for _, d := range devices() {
		t.Run(d.name, func(t *testing.T) {
			d.pictures(t, full, "", "", publicPages)
			d.pictures(t, full, all, "", merchantPages)
			d.pictures(t, full, operator, "", operatorPages)
			d.pictures(t, empty, nothing, "-empty", emptyPages)
		})
	}
}

// pictures takes pictures of pages as the holder of a token sees them; empty: nobody.
func (d device) pictures(t *testing.T, s *apptest.Server, token, suffix string, pages []consolePage) {
	t.Helper()
	p := newPerson(t, s, s.BaseURL)
	if strings.HasPrefix(token, "mop_") {
		p = newPerson(t, s, s.AdminURL())
	}
	d.apply(t, p.tab)
	if token != "" {
		p.signIn(t, token)
	}
	for _, c := range pages {
		c.visit(t, p.tab, p.BaseURL)
		p.picture(t, fmt.Sprintf("%s%s-%s", c.name, suffix, d.name))
		if wide := value(t, p.tab, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > d.width {
			t.Errorf("%s is %d wide, by %q", c.name, wide, value(t, p.tab, chromedp.Evaluate[[]string](widest)))
		}
	}
}

// extremeOrder is an order whose texts are longer than any page expects.
func extremeOrder() []byte {
	long := strings.Repeat("Ατελείωτη ", 12) + strings.Repeat("x", 120)
	return ingesttest.Document(1, func(document map[string]any) {
		document["reference"] = extremeReference
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
	// A scrollbar would be cut off from the picture, with the edge of the page.
	command(t, page, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	page.run(t, chromedp.EmulateViewport(d.width, d.height))
}
