package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"merchantorders/docs"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
	"merchantorders/openapi"
	"merchantorders/openapi/openapitest"
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

// operations is what a reference shows, once it does.
const operations = `[...document.querySelectorAll(".opblock")].map(block =>
	block.querySelector(".opblock-summary-method").innerText + " " +
	block.querySelector(".opblock-summary-path, .opblock-summary-path__deprecated").dataset.path).sort()`

// openEach opens one operation after the other and returns how many show their
// responses. What is folded away is rendered only when it is opened. It is folded away
// again, because what is open is rendered again at each change of the page.
const openEach = `(async () => {
	const until = async condition => {
		for (const end = Date.now() + 60_000; !condition() && Date.now() < end;)
			await new Promise(resolve => setTimeout(resolve, 5))
		return condition()
	}
	let opened = 0
	for (const block of document.querySelectorAll(".opblock")) {
		const control = block.querySelector(".opblock-summary-control")
		const open = () => block.querySelector(".responses-wrapper") !== null
		control.click()
		if (await until(open)) opened++
		control.click()
		await until(() => !open())
	}
	return opened
})()`

// TestReference opens the reference of every document and finds every operation
// on it, each with its description.
func TestReference(t *testing.T) {
	s := apptest.Start(t)
	for _, document := range openapi.Documents() {
		t.Run(document.Name, func(t *testing.T) {
			var want []string
			for _, operation := range openapitest.Published().Operations(document.Name) {
				want = append(want, operation.Method+" "+operation.Path)
			}
			if document.Name == "v2" {
				want = append(want, "POST event") // deliveries to webhooks
			}
			slices.Sort(want)
			page := open(t, s.BaseURL)
			page.run(t, chromedp.Navigate(s.BaseURL+"/docs/reference/"+document.Name), chromedp.WaitVisible(chromedp.CSS(".opblock")))
			got := value(t, page, chromedp.Evaluate[[]string](operations))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("operations (-described +shown):\n%s", diff)
			}
			page.picture(t, "reference-"+document.Name)
			opened := value(t, page, chromedp.Evaluate[int](openEach, chromedp.EvalAwaitPromise))
			if opened != len(want) {
				t.Errorf("%d of %d operations open", opened, len(want))
			}
		})
	}
}

// TestTryIt signs in on the page of version 2 and asks for a list.
func TestTryIt(t *testing.T) {
	s := apptest.Start(t, "--demo")
	page := open(t, s.BaseURL)
	const operation = "#operations-orders-listOrders "
	page.run(t,
		chromedp.EmulateViewport(1280, 1600),
		chromedp.Navigate(s.BaseURL+"/docs/reference/v2"),
		chromedp.Click(chromedp.CSS(".auth-wrapper .authorize")),
		chromedp.SendKeys(chromedp.CSS("#auth-bearer-value"), s.Token),
		chromedp.Click(chromedp.CSS(".auth-container .authorize")),
		chromedp.Click(chromedp.CSS(".modal-ux .btn-done")),
		chromedp.Click(chromedp.CSS(operation+".opblock-summary-control")),
		chromedp.Click(chromedp.CSS(operation+".try-out__btn")),
		chromedp.Click(chromedp.CSS(operation+".execute")),
		chromedp.WaitVisible(chromedp.CSS(operation+".live-responses-table")),
	)
	status := value(t, page, chromedp.Text(chromedp.CSS(operation+".live-responses-table tbody .response-col_status")))
	body := value(t, page, chromedp.Text(chromedp.CSS(operation+".live-responses-table .highlight-code")))
	sent := value(t, page, chromedp.Text(chromedp.CSS(operation+".request-url pre")))
	page.picture(t, "try-it")
	if strings.TrimSpace(status) != "200" || !strings.Contains(body, `"totalItems"`) {
		t.Errorf("status %q: %.300s", status, body)
	}
	if !strings.HasPrefix(strings.TrimSpace(sent), s.BaseURL+"/v2/orders?") {
		t.Errorf("the request went to %q", sent)
	}
}

// widest are a few elements that stick out of the page.
const widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".wide, pre, table"))
	.slice(0, 5).map(e => e.tagName + "." + e.className)`

// TestPhone opens every page as a phone does: nothing makes the page itself
// scroll sideways, and the text is there with scripts turned off.
func TestPhone(t *testing.T) {
	const width, height = 390, 844
	s := apptest.Start(t)
	paths := []string{"/docs"}
	for _, page := range docs.Pages() {
		paths = append(paths, "/docs/guide/"+page.Name())
	}
	for _, document := range openapi.Documents() {
		paths = append(paths, "/docs/reference/"+document.Name)
	}
	page := open(t, s.BaseURL)
	page.run(t, chromedp.EmulateViewport(width, height, chromedp.EmulateMobile))
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			wanted := "main h1"
			if strings.Contains(path, "/reference/") {
				wanted = ".opblock"
			}
			plain := !strings.Contains(path, "/reference/")
			command(t, page, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: plain})
			page.run(t, chromedp.Navigate(s.BaseURL+path), chromedp.WaitVisible(chromedp.CSS(wanted)))
			command(t, page, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
			wide := value(t, page, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
			culprits := value(t, page, chromedp.Evaluate[[]string](widest))
			page.picture(t, "phone"+strings.ReplaceAll(path, "/", "-"))
			if wide > width {
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
			page.run(t, chromedp.Navigate(s.BaseURL+"/docs/reference/v2"), chromedp.WaitVisible(chromedp.CSS(".opblock")))
			page.picture(t, "reference-"+scheme)
		})
	}
}
