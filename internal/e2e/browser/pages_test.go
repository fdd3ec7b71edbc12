package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"merchantorders/docs"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
	"merchantorders/openapi"
)

// pictures is a folder for pictures of what the browser saw; empty: none are
// taken. For looking at, not for comparing.
var pictures = os.Getenv("MERCHANT_ORDERS_TEST_PICTURES")

// picture keeps a picture of the page, the whole of it if it is long.
func (w *tab) picture(t *testing.T, name string) {
	t.Helper()
	if pictures == "" {
		return
	}
	png := value(t, w, chromedp.FullScreenshot(100))
	testenv.NoError(t, os.WriteFile(filepath.Join(pictures, name+".png"), png, 0o600))
}

// TestReading copies an example, searches, and follows the first result.
func TestReading(t *testing.T) {
	s := apptest.Start(t)
	page := open(t, s.BaseURL)
	page.run(t,
		chromedp.Navigate(s.BaseURL+"/docs/guide/first-call"),
		chromedp.Click(chromedp.CSS(".example button")),
		chromedp.WaitVisible(chromedp.CSS(".example button.copied")),
		chromedp.SendKeys(chromedp.CSS("header input"), "Retry-After rate"+kb.Enter),
		chromedp.WaitVisible(chromedp.CSS(".results mark")),
	)
	page.picture(t, "search")
	page.run(t, chromedp.Click(chromedp.CSS(".results a")), chromedp.WaitVisible(chromedp.CSS(".contents [aria-current]")))
	if text := value(t, page, chromedp.Text(chromedp.CSS("main"))); !strings.Contains(text, "Retry-After") {
		t.Errorf("the first result has no Retry-After: %.200s", text)
	}
}

// TestWhereOneIs opens the last of the documents on a low screen: the contents at the side
// show it.
func TestWhereOneIs(t *testing.T) {
	s := apptest.Start(t)
	page := open(t, s.BaseURL)
	page.run(t, chromedp.EmulateViewport(1280, 400), chromedp.Navigate(s.BaseURL+"/docs/guide/decisions"), chromedp.WaitVisible(chromedp.CSS("main h1")))
	if bottom := value(t, page, chromedp.Evaluate[float64](`document.querySelector(".contents [aria-current]").getBoundingClientRect().bottom`)); bottom > 400 {
		t.Errorf("the page is listed %v below the top of a window of 400", bottom)
	}
}

// widest are a few elements that stick out of the page.
const widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide, pre, table"))
	.slice(0, 5).map(e => e.tagName + "." + e.className)`

// docPaths are the paths of all pages below /docs.
func docPaths() []string {
	paths := []string{"/docs", "/docs/clients", "/docs/search?q=invoice"}
	for _, page := range docs.Pages() {
		paths = append(paths, "/docs/guide/"+page.Name())
	}
	for _, document := range openapi.Documents() {
		paths = append(paths, "/docs/reference/"+document.Name)
	}
	return paths
}

// TestPhone opens every page as a phone does: nothing makes the page itself
// scroll sideways, and the text is there with scripts turned off.
func TestPhone(t *testing.T) {
	const width, height = 390, 844
	s := apptest.Start(t)
	base := s.AdminURL() // which serves the operators' pages too
	page := open(t, base)
	page.run(t, chromedp.EmulateViewport(width, height, chromedp.EmulateMobile))
	for _, path := range docPaths() {
		t.Run(path, func(t *testing.T) {
			page.runScripts(t, false)
			page.run(t, chromedp.Navigate(base+path), chromedp.WaitVisible(chromedp.CSS("main h1")))
			page.runScripts(t, true)
			wide := value(t, page, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
			culprits := value(t, page, chromedp.Evaluate[[]string](widest))
			if !strings.Contains(path, "/reference/") { // too long for the browser
				page.picture(t, "phone"+strings.NewReplacer("/", "-", "?", "-").Replace(path))
			}
			if wide > width || len(culprits) > 0 {
				t.Errorf("the page is %d wide, by %q", wide, culprits)
			}
		})
	}
}

// TestDark opens pages where the reader likes it dark, and sees dark paper.
func TestDark(t *testing.T) {
	s := apptest.Start(t)
	for scheme, dark := range map[string]bool{"light": false, "dark": true} {
		t.Run(scheme, func(t *testing.T) {
			page := open(t, s.BaseURL)
			command(t, page, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			page.run(t, chromedp.Navigate(s.BaseURL+"/docs/guide/accepting"), chromedp.WaitVisible(chromedp.CSS("main h1")))
			paper := value(t, page, chromedp.Evaluate[int](`Number(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0])`))
			page.picture(t, "accepting-"+scheme)
			if paper < 128 != dark {
				t.Errorf("the paper's red is %d", paper)
			}
		})
	}
}
