package browser

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestAccidents does what people do without a thought, with scripts and without: nothing is
// done to an order that nobody asked for.
func TestAccidents(t *testing.T) {
	startBrowser(t)
	s := apptest.Start(t)
	var documents [][]byte
	for n := range consoleOrders {
		documents = append(documents, consoleOrder(n+1))
	}
	s.Import(t, documents...)
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %t", scripts), func(t *testing.T) {
			p := newStaff(t, s)
			p.speak(t, "en")
			command(t, p.tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
			command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !scripts})
			defer command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
			p.signIn(t, p.Token)
			p.pressEnter(t)
			p.typeLetters(t)
			p.goBack(t)
		})
	}
	p := newStaff(t, s)
	p.speak(t, "en")
	p.signIn(t, p.Token)
	p.keepNote(t)
	p.losePointer(t)
}

// unanswered returns how many orders wait for an answer.
func (p *staff) unanswered(t *testing.T) (n int) {
	t.Helper()
	var list struct{ Params struct{ TotalItems int } }
	testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders?state=registered", "").Decode(t, &list)
	return list.Params.TotalItems
}

// unchanged runs what must not answer an order.
func (p *staff) unchanged(t *testing.T, what string, do func()) {
	t.Helper()
	before := p.unanswered(t)
	do()
	// A form that is being sent ends the navigation.
	testenv.Eventually(t, "the next page", func() bool { return chromedp.Do(p.tab.ctx, chromedp.Navigate(p.BaseURL+"/console")) == nil })
	p.wait(t, "h1", "")
	if after := p.unanswered(t); after != before {
		t.Errorf("%s: %d orders wait, %d before", what, after, before)
	}
}

// focus gives an element the focus, also without scripts of the page.
func (p *staff) focus(t *testing.T, selector string) {
	t.Helper()
	p.run(t, chromedp.Focus(chromedp.CSS(selector)))
}

// pressEnter presses Enter in the boxes of the queue, after a reason was chosen and before.
func (p *staff) pressEnter(t *testing.T) {
	p.unchanged(t, "Enter after a reason", func() {
		p.see(t, "/console/new", "h2", "orders")
		p.click(t, "tbody input[type=checkbox]")
		p.click(t, "#reject summary")
		p.click(t, "input[value=damaged]")
		p.press(t, kb.Enter)
	})
	p.unchanged(t, "Enter on a row", func() {
		p.see(t, "/console/new", "h2", "orders")
		p.click(t, "tbody input[type=checkbox]")
		p.focus(t, "tbody input[type=checkbox]")
		p.press(t, kb.Enter)
	})
	p.unchanged(t, "Enter in the own number", func() {
		p.see(t, "/console/orders/C-20", "h2", "is waiting for your answer")
		p.focus(t, "#merchantReference")
		p.press(t, "20"+kb.Enter)
		p.wait(t, ".notice.good", "Your number and note are saved.")
	})
}

// typeLetters types names where no field has the focus.
func (p *staff) typeLetters(t *testing.T) {
	for _, name := range []string{"maria", "anna", "ANNA", "άρτα", "ra"} {
		p.unchanged(t, name, func() {
			p.see(t, "/console/orders/C-21", "h2", "is waiting for your answer")
			p.press(t, name)
		})
	}
}

// ticked are the references of the selected orders.
const ticked = `[...document.querySelectorAll("tbody input:checked")].map(box => box.value).join(" ")`

// goBack accepts two orders and goes back: no other ones are selected. A browser may show
// the page as it was left.
func (p *staff) goBack(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	for n := range 2 {
		p.click(t, fmt.Sprintf("tbody tr:nth-child(%d) input[type=checkbox]", n+1))
	}
	chosen := value(t, p.tab, chromedp.Evaluate[string](ticked))
	p.click(t, ".actionbar .primary")
	p.wait(t, ".notice.good", "2 orders were accepted.")
	value(t, p.tab, chromedp.Evaluate[bool](`history.back(), true`))
	p.wait(t, "body:not(:has(.notice.good)) tbody tr", "")
	if after := value(t, p.tab, chromedp.Evaluate[string](ticked)); after != "" && after != chosen {
		t.Errorf("%s are selected after a step back; %s were accepted", after, chosen)
	}
}

// keepNote types a note and accepts the order: the note is stored. A colleague has answered
// another order that is open: it offers no answer any more.
func (p *staff) keepNote(t *testing.T) {
	p.see(t, "/console/orders/C-22", "h2", "is waiting for your answer")
	p.run(t, chromedp.SendKeys(chromedp.CSS("#merchantNote"), "Call first"))
	p.run(t, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.wait(t, ".notice.good", "The order is accepted.")
	var stored struct{ Order struct{ MerchantNote string } }
	testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders/C-22", "").Decode(t, &stored)
	testenv.Equal(t, "note", "Call first", stored.Order.MerchantNote)
	p.see(t, "/console/orders/C-23", "h2", "is waiting for your answer")
	p.accept(t, "C-23")
	p.wait(t, "body:not(:has(.answer)) [data-live-notice][hidden]", "")
}

// losePointer points at the list while a colleague answers an order of it: its row stays
// where it is until the pointer has left.
func (p *staff) losePointer(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	p.run(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 400, 400))
	p.accept(t, "C-24")
	p.wait(t, "#order-C-24.gone .said", "")
	p.run(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 5, 5))
	p.wait(t, "body:not(:has(#order-C-24)) tbody", "")
}
