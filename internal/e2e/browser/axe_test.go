package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// merchantPages and operatorPages are the pages that axe checks. Those with a problem
// have forms that came back.
var (
	merchantPages = []string{
		"/console", "/console/orders", "/console/orders?from=x", "/console/orders/DEMO-0060",
		"/console/orders/DEMO-0060/print", "/console/orders/NONE", "/console/webhooks", "/console/tokens", "/console/tokens/1/revoke", "/console/tokens/1/rotate",
	}
	operatorPages = []string{
		"/console/operator/orders?merchant=x", "/console/operator/orders/355/DEMO-0060", "/console/operator/merchants", "/console/operator/imports",
		"/console/operator/merchants/355", "/console/operator/webhooks", "/console/operator/tokens", "/console/operator/audit", "/console/operator/audit?from=x", "/console/operator/customers",
	}
)

// TestAccessibility lets axe-core look for violations on every page of the console.
func TestAccessibility(t *testing.T) {
	testenv.Release(t)
	axe := installAxe(t)
	s := apptest.Start(t, "--demo")
	all := s.Folder.Token(t, "--merchant", "355", "--scopes", "orders:read,orders:write,invoices:write,tokens,webhooks")
	page := open(t, s.BaseURL)
	check := func(path string) {
		t.Helper()
		page.run(t, chromedp.Navigate(s.BaseURL+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
		page.forgive("status of 40")     // pages that say what is wrong
		page.forgive("does not conform") // a day that no browser sends
		axe.check(t, page, path)
	}
	check("/")
	signIn(t, page, s.BaseURL, all)
	for _, path := range merchantPages {
		check(path)
	}
	// Other colors, and another layout.
	command(t, page, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	})
	page.run(t, chromedp.EmulateViewport(390, 844))
	for _, path := range []string{"/console", "/console/orders/DEMO-0060"} {
		check(path)
	}

	page.run(t, chromedp.Click(chromedp.CSS(`form[action="/console/sign-out"] button`)), chromedp.WaitVisible(chromedp.CSS("#token")))
	signIn(t, page, s.BaseURL, s.Folder.Token(t, "--operator"))
	for _, path := range operatorPages {
		check(path)
	}
}

// axeScript is the text of axe-core.
type axeScript string

// installAxe installs axe-core into a temporary folder.
func installAxe(t *testing.T) axeScript {
	t.Helper()
	npm := testenv.Program(t, "npm", "npm")
	startBrowser(t)
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("axe", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install axe-core: %v: %s", err, output)
	}
	text, err := os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	return axeScript(text)
}

// axeRun starts the checks. The result has a line for each element that violates a rule.
const axeRun = `window.axeResult = null;
axe.run({ resultTypes: ["violations"] }).then(result => {
	window.axeResult = { lines: result.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary)) };
}); true`

// check reports the violations on the page that is open.
func (axe axeScript) check(t *testing.T, page *tab, name string) {
	t.Helper()
	value(t, page, chromedp.Evaluate[bool](string(axe)+";"+axeRun))
	result := value(t, page, chromedp.Poll[struct{ Lines []string }]("window.axeResult"))
	slices.Sort(result.Lines)
	for _, line := range result.Lines {
		t.Error(fmt.Sprintf("%s: %s", name, strings.ReplaceAll(line, "\n", " ")))
	}
}
