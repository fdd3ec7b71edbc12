package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"merchantorders/internal/testenv"
)

// meetOperator invites an operator, who reads Greek, cancels an order on a phone and is
// signed out by a third one.
func (p *staff) meetOperator(t *testing.T) {
	const people = "/console/operator/tokens/people"
	p.signIn(t, p.Folder.Token(t, "--operator", "--label", "Ελένη"))
	p.see(t, people, "th", "Ελένη")
	p.wantOneRow(t)
	p.set(t, "#name", "Νίκος <b>")
	p.click(t, `[name="scope"][value="orders:transition"]`)
	p.click(t, `section .primary`)
	p.wait(t, ".notice", "Give this link to")
	p.wait(t, ".notice", "Νίκος <b>")
	link := value(t, p.tab, chromedp.Evaluate[string](`document.querySelector(".secret").textContent`))
	if !strings.HasPrefix(link, p.BaseURL+"/console/login/") {
		t.Fatalf("the link is %q", link)
	}

	t.Run("on a phone", func(t *testing.T) {
		phone := newPerson(t, p.Server, p.BaseURL)
		device{width: 390, height: 844, scheme: "light", language: "el"}.apply(t, phone.tab)
		phone.run(t, chromedp.Navigate(link))
		phone.click(t, "main button")
		phone.wait(t, "h1", "Εκκρεμότητες")
		phone.see(t, "/console/operator/orders/355/C-30", ".account", "Νίκος <b>")
		phone.wantOneRow(t)
		phone.set(t, "#reason", "payment-failed")
		phone.click(t, `form[action$="/state"] .danger`)
		phone.wait(t, "h1", "Ακύρωση της παραγγελίας;")
		phone.click(t, "main .danger")
		phone.wait(t, ".notice", "Η κατάσταση άλλαξε.")
		phone.wait(t, ".said-line", "Ακυρώθηκε από εσάς")
		value(t, phone.tab, chromedp.Evaluate[bool](`(history.back(), true)`)) // not to the question
		phone.wait(t, "body:not(:has(main > .notice.good)) h1", "C-30")
		phone.run(t, chromedp.EmulateViewport(320, 568, chromedp.EmulateMobile))
		phone.see(t, "/console/operator/orders", "tbody .state", "")
		if wide := value(t, phone.tab, chromedp.Evaluate[int64](`(document.querySelector("tbody .state").append(" για αποστολή"), document.documentElement.scrollWidth)`)); wide > 320 {
			t.Errorf("a list with a long state is %d wide", wide)
		}
	})

	third := newPerson(t, p.Server, p.BaseURL)
	third.speak(t, p.language)
	third.signIn(t, p.Folder.Token(t, "--operator", "--label", "Μαρία"))
	third.beFarAway(t)
	third.findStore(t)
	third.see(t, "/console/operator/orders/355/C-30", "main", "Νίκος <b>")
	third.see(t, people, "th", "Νίκος <b>")
	value(t, third.tab, chromedp.Evaluate[bool](`[...document.querySelectorAll("tbody tr")].find(row => row.innerText.includes("Νίκος")).querySelector(".danger").click() ?? true`))
	third.wait(t, ".notice", "has ended")
	testenv.Send(t, "", "POST", link, "").WantText(t, 403, "was used")
}

// findStore finds a store by a part of its name, also in a field for one.
func (p *user) findStore(t *testing.T) {
	t.Helper()
	p.job(t, "store by name", 2, "/console/operator", func() {
		p.click(t, "#q")
		p.press(t, "tore 355")
		p.wait(t, ".find dialog a", "Store 355")
		p.click(t, ".find dialog a")
		p.wait(t, "h1", "355")
	})
	p.see(t, "/console/operator/customers", "h1", "Erase personal data")
	p.click(t, "#merchant")
	p.press(t, "tore 355")
	p.wait(t, "datalist", "355")
}

// wantOneRow reports a navigation that needs more than one row.
func (p *staff) wantOneRow(t *testing.T) {
	t.Helper()
	if rows := value(t, p.tab, chromedp.Evaluate[int](`new Set([...document.querySelectorAll(".tabs a")].map(a => a.offsetTop)).size`)); rows != 1 {
		t.Errorf("the navigation has %d rows", rows)
	}
}
