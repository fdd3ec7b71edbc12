package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestKeep clicks in the header with something selected, asked or typed: it is there afterwards, and
// nobody is asked for it.
func TestKeep(t *testing.T) {
	startBrowser(t)
	s := apptest.Start(t)
	s.Import(t, consoleOrder(1), consoleOrder(2), consoleOrder(3))
	p := newPerson(t, s, s.BaseURL)
	p.signInAs(t, 355)
	const language = "form.language button"
	begun := func(word string) {
		t.Helper()
		p.wait(t, "output", word)
		p.wait(t, "form:has(#order-C-1 :checked):has(#order-C-3 :checked) #reject[open]:has([value=damaged]:checked)", "")
	}

	p.see(t, "/console/new", "output", "Nothing selected")
	for _, selector := range []string{`[value="C-1"]`, `[value="C-3"]`, "#reject summary", "[value=damaged]", language} {
		p.click(t, selector)
	}
	begun("2 επιλεγμένες")
	p.click(t, "#reject button")
	p.wait(t, "h1", "Απόρριψη 2 παραγγελιών;")
	p.click(t, language)
	p.wait(t, "h1", "Reject 2 orders?")
	p.click(t, "main a.button")
	begun("2 selected")
	p.search(t, "C-2\r")
	p.wait(t, "h2", "1 order found")
	p.do(t, "history.back()")
	begun("2 selected")
	// By the navigation nothing comes back.
	p.click(t, `.tabs [href="/console"]`)
	p.wait(t, "h1", "Overview")
	p.click(t, `.tabs [href="/console/new"]`)
	p.wait(t, "form:has(#reject:not([open])):not(:has([type=radio]:checked)) output", "Nothing selected")
	// At 200 % zoom the reasons are below their button.
	p.click(t, `[value="C-1"]`)
	p.run(t, chromedp.EmulateViewport(640, 400))
	p.click(t, "#reject summary")
	p.is(t, `document.querySelector(".panel").getBoundingClientRect().top >= document.querySelector("#reject summary").getBoundingClientRect().bottom`)
	p.run(t, chromedp.EmulateReset())

	p.see(t, "/console/orders/C-2?from=%2Fconsole%2Fnew", "h1", "C-2")
	p.click(t, "#own-data summary")
	p.click(t, "#merchantNote")
	p.press(t, "call first")
	p.clickTwice(t, language)
	p.wait(t, "h2", "Η παραγγελία περιμένει")
	p.is(t, `document.querySelector("#own-data[open] [name=merchantNote]").value === "call first"`)
	p.click(t, "form[action^='/console/orders/C-2/own'] button")
	p.wait(t, ".notice.good", "Ο αριθμός και η σημείωσή σας αποθηκεύτηκαν.")
	p.click(t, language)
	p.wait(t, "h2", "This order is waiting")

	// A secret that is shown once cannot be kept: the browser asks.
	p.see(t, "/console/tokens", "h2", "Create a token")
	p.click(t, "form.wide [name=scope]")
	p.click(t, "form.wide .primary")
	p.wait(t, ".notice.good", "Copy the new token now.")
	testenv.Equal(t, "asked", true, evaluate[bool](t, p.user, `(() => {
		const leave = new Event("beforeunload", { cancelable: true });
		sent = document.querySelector("form.language");
		dispatchEvent(leave);
		settle(); // as soon comes too late for who leaves now
		return leave.defaultPrevented;
	})()`))
	// Whoever signs in next does not see what was typed.
	p.see(t, "/console/store", "h1", "Store")
	p.click(t, "[name=slipName]")
	p.press(t, "Ours")
	p.click(t, `form[action="/console/sign-out"] button`)
	p.wait(t, "h1", "Sign in")
	p.typeToken(t, p.token)
	p.wait(t, "h1", "Overview")
	p.click(t, `.tabs [href="/console/tokens"]`)
	p.wait(t, "h1", "Tokens")
	p.click(t, `.sub [href="/console/store"]`)
	p.wait(t, "h1", "Store")
	p.is(t, `document.querySelector("[name=slipName]").value === ""`)
}
