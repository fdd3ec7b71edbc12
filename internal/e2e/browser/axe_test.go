package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"merchantorders/internal/testenv"
)

// TestAccessibility lets axe-core look for violations on every page of the console and below
// /docs.
func TestAccessibility(t *testing.T) {
	testenv.Release(t)
	axe := installAxe(t)
	s, all := prepareConsole(t)
	docPages := docPaths()
	for _, visit := range []struct {
		token string
		pages []consolePage
	}{{"", publicPages}, {all, merchantPages}, {s.Folder.Token(t, "--operator"), operatorPages}} {
		// Other colors, and another layout.
		for _, d := range []device{{"", 1280, 900, "light", "en"}, {" on a dark phone", 390, 844, "dark", "el"}} {
			p := newPerson(t, s, s.BaseURL)
			if strings.HasPrefix(visit.token, "mop_") {
				p = newPerson(t, s, s.AdminURL())
			}
			d.apply(t, p.tab)
			if visit.token != "" {
				p.signIn(t, visit.token)
			}
			for _, page := range visit.pages {
				page.visit(t, p.tab, p.BaseURL)
				axe.check(t, p.tab, page.name+d.name)
			}
			if visit.token == "" {
				p = newPerson(t, s, s.AdminURL()) // has more pages
				d.apply(t, p.tab)
				for _, path := range docPages {
					p.run(t, chromedp.Navigate(p.BaseURL+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
					axe.check(t, p.tab, path+d.name)
				}
			}
		}
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
		text := testenv.Of(os.ReadFile(filepath.Join("axe", name))).Must(t)
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("install axe-core: %v: %s", err, output)
	}
	text := testenv.Of(os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))).Must(t)
	return axeScript(text)
}

// axeRun starts the checks. The result has a line for each element that violates a rule. What
// the browser has not laid out yet, as it is off the screen, has no place to be measured.
const axeRun = `window.axeResult = null;
document.styleSheets[0].insertRule("* { content-visibility: visible !important }");
axe.run({ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }).then(result => {
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
