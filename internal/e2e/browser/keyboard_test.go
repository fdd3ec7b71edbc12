package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"merchantorders/internal/testenv"
)

// stop is the element that has the focus.
type stop struct {
	Name    string // for messages
	Found   bool   // the wanted element
	Visible bool   // in the window, with an outline
	InOrder bool   // after the stop before, or the first of the page
}

// stopScript returns the stop and remembers it for the next one. An input for a day has
// several stops, whose focus the browser shows.
const stopScript = `(() => {
	const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect(), last = window.lastStop;
	window.lastStop = e;
	return {
		Name: e.tagName + " " + (e.id || e.name || e.innerText.slice(0, 40)),
		Found: e.matches(%s),
		Visible: e === last || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && box.width > 0 && box.height > 0
			&& box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
		InOrder: !last || e === last || !last.isConnected || !!(last.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING),
	};
})()`

// maxStops is more than the stops of any page.
const maxStops = 120

// tabTo presses Tab until an element has the focus. Each stop on the way is visible,
// and they follow the page.
func (p *staff) tabTo(t *testing.T, selector string) {
	t.Helper()
	for range maxStops {
		p.press(t, kb.Tab)
		at := value(t, p.tab, chromedp.Evaluate[stop](fmt.Sprintf(stopScript, strconv.Quote(selector))))
		if !at.Visible || !at.InOrder {
			t.Errorf("the focus on %q: visible %t, after the stop before %t", at.Name, at.Visible, at.InOrder)
		}
		if at.Found {
			return
		}
	}
	t.Fatalf("Tab does not reach %s", selector)
}

// useKeyboard works with the keyboard alone.
func (p *staff) useKeyboard(t *testing.T) {
	p.see(t, "/?next=%2Fconsole%2Forders%3Fq%3DC-13", "h1", "Sign in")
	p.press(t, p.Token) // the page has put the focus there
	p.tabTo(t, "main button")
	p.press(t, " ")
	p.wait(t, "h2", "found")
	p.useShortcuts(t)
	p.see(t, "/console/orders?q=C-13", "h2", "found")
	p.tabTo(t, ".skip")
	p.press(t, kb.Enter)
	p.tabTo(t, ".filters summary")
	p.press(t, kb.Enter)
	p.tabTo(t, "#state")
	p.press(t, kb.ArrowDown+kb.Enter)
	p.wait(t, "option:checked", "New")
	p.tabTo(t, `main a[href^="/console/orders/C-13?"]`)
	p.press(t, kb.Enter)
	p.wait(t, "h1", "C-13")
	p.tabTo(t, ".answer .primary")
	p.press(t, kb.Enter)
	p.wait(t, ".notice.good", "The order is accepted.")
	p.uploadByKeyboard(t)
	p.tabTo(t, `form[action="/console/sign-out"] button`)
	p.press(t, kb.Enter)
	p.wait(t, "h1", "Sign in")
}

// useShortcuts goes from the queue to its orders, the soonest deadline first, and answers one.
func (p *staff) useShortcuts(t *testing.T) {
	t.Helper()
	p.see(t, "/console", ".ref", "C-30")
	p.press(t, "jx") // nothing can be selected
	p.see(t, "/console/new", "output", "Nothing selected")
	p.press(t, "jjxr")
	p.wait(t, "output", "1 selected")
	p.wait(t, "#reject[open] input:focus", "")
	p.press(t, "j"+kb.Escape) // not a shortcut among the reasons
	p.wait(t, "#reject:not([open]) summary:focus", "")
	p.press(t, "jj")
	p.press(t, "?")
	p.wait(t, "dialog h2", "Keyboard shortcuts")
	p.press(t, kb.Escape+kb.Enter)
	p.wait(t, "h1", "C-30")
	p.press(t, "j")
	p.wait(t, "h1", "C-29")
	p.press(t, "aA") // letters answer nothing
	testenv.NoError(t, p.strike(true, kb.Enter))
	p.wait(t, "h1", "C-28")
	p.wait(t, ".notice.good", "C-29: The order is accepted.")
	p.search(t, "C-17")
	p.wait(t, ".find dialog[open] a strong", "C-17")
	p.press(t, kb.ArrowDown+kb.ArrowUp+kb.ArrowDown)
	p.wait(t, ".find dialog a:focus", "")
	p.press(t, kb.Enter)
	p.wait(t, "h1", "C-17")
}

// uploadByKeyboard opens the dialog for files, chooses one and sends it.
func (p *staff) uploadByKeyboard(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keyboard.pdf")
	testenv.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	p.tabTo(t, "#file")
	command(t, p.tab, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: true})
	value(t, p.tab, chromedp.WaitEvent(page.FileChooserOpened, nil, chromedp.KeyEvent(kb.Enter)))
	command(t, p.tab, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{})
	p.run(t, chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	p.tabTo(t, ".upload button")
	p.press(t, kb.Enter)
	p.wait(t, ".notice.good", "The files are stored.")
}
