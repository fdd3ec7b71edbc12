package browser

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestAccidents does what people do without a thought, in each browser, with scripts and
// without: nothing is done to an order that nobody asked for.
func TestAccidents(t *testing.T) {
	startBrowser(t)
	for name, start := range engines {
		t.Run(name, func(t *testing.T) {
			if name != "chromium" {
				testenv.Release(t)
			}
			s := apptest.Start(t)
			var documents [][]byte
			for n := range consoleOrders {
				documents = append(documents, consoleOrder(n+1))
			}
			s.Import(t, documents...)
			for _, scripts := range []bool{false, true} {
				t.Run(fmt.Sprintf("scripts %t", scripts), func(t *testing.T) {
					u := user{start(t, s, scripts), s, t}
					u.signIn()
					u.see("/console/new", "h2", "orders")
					// The page disables it until something is selected.
					u.is(fmt.Sprintf(`document.querySelector(".actionbar .primary").disabled === %t`, scripts))
					u.pressEnter()
					u.typeLetters()
					u.goBack()
					u.rejectMany()
					u.fileInvoices(scripts)
					if scripts {
						u.returnToQuestion()
						u.keepNote()
						u.losePointer()
						u.answerElsewhere()
						u.leaveFile()
					}
				})
			}
		})
	}
}

// user is a person at the console with any browser.
type user struct {
	engine
	server *apptest.Server
	*testing.T
}

// is waits until an expression is true. Between two pages there is an error.
func (u user) is(condition string) {
	u.Helper()
	testenv.Eventually(u, condition, func() bool {
		got, err := u.script("String(" + condition + ")")
		return err == nil && got == "true"
	})
}

// wait waits for an element that contains a text, on a page that is complete.
func (u user) wait(selector, text string) {
	u.Helper()
	u.is(fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(%q)].some(e => e.innerText.includes(%q))`, selector, text))
}

// see opens a page and waits for an element that contains a text.
func (u user) see(path, selector, text string) {
	u.Helper()
	// A form that is being sent ends the navigation.
	testenv.Eventually(u, path, func() bool { return u.visit(u.server.BaseURL+path) == nil })
	u.wait(selector, text)
}

// evaluate returns the text that an expression gives.
func (u user) evaluate(expression string) string {
	u.Helper()
	got := testenv.Of(u.script(expression)).Must(u)
	return got
}

// click clicks an element with the mouse.
func (u user) click(selector string) {
	u.Helper()
	u.is(fmt.Sprintf(`!!document.querySelector(%q)`, selector))
	place := u.evaluate(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "center", behavior: "instant" }); const box = e.getBoundingClientRect(); return Math.round(box.x + box.width / 2) + " " + Math.round(box.y + box.height / 2) })()`, selector))
	x, y, _ := strings.Cut(place, " ")
	left := testenv.Of(strconv.Atoi(x)).Must(u)
	top := testenv.Of(strconv.Atoi(y)).Must(u)
	testenv.NoError(u, u.point(left, top, true))
}

// do runs a statement on the page.
func (u user) do(statement string) {
	u.Helper()
	u.evaluate("(() => { " + statement + `; return "" })()`)
}

// focus gives an element the focus.
func (u user) focus(selector string) {
	u.Helper()
	u.do(fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

func (u user) signIn() {
	u.see("/", "h1", "Sign in")
	u.do(fmt.Sprintf("document.querySelector('#token').value = %q", u.server.Token))
	u.click("main button")
	u.wait(".tabs", "")
}

// unanswered returns how many orders wait for an answer.
func (u user) unanswered() (n int) {
	u.Helper()
	var list struct{ Params struct{ TotalItems int } }
	testenv.Send(u, u.server.Token, http.MethodGet, u.server.BaseURL+"/v2/orders?state=registered", "").Decode(u.T, &list)
	return list.Params.TotalItems
}

// unchanged runs what must not answer an order.
func (u user) unchanged(what string, do func()) {
	u.Helper()
	before := u.unanswered()
	do()
	u.see("/console", "h1", "")
	if after := u.unanswered(); after != before {
		u.Errorf("%s: %d orders wait, %d before", what, after, before)
	}
}

// keys presses keys where the focus is.
func (u user) keys(keys string) {
	u.Helper()
	testenv.NoError(u, u.press(false, keys))
}

// pressEnter presses Enter in the boxes of the queue, after a reason was chosen and before.
func (u user) pressEnter() {
	u.unchanged("Enter after a reason", func() {
		u.see("/console/new", "h2", "orders")
		u.click("tbody input[type=checkbox]")
		u.click("#reject summary")
		u.click("input[value=damaged]")
		u.keys("\r")
	})
	u.unchanged("Enter on a row", func() {
		u.see("/console/new", "h2", "orders")
		u.click("tbody input[type=checkbox]")
		u.focus("tbody input[type=checkbox]")
		u.keys("\r")
	})
	u.unchanged("Enter in the own number", func() {
		u.see("/console/orders/C-20", "h2", "is waiting for your answer")
		u.do(`document.querySelector("#own-data").open = true`)
		u.focus("#merchantReference")
		u.keys("20\r")
		u.wait(".notice.good", "Your number and note are saved.")
	})
}

// typeLetters types names where no field has the focus.
func (u user) typeLetters() {
	for _, name := range []string{"maria", "anna", "ANNA", "άρτα", "ra"} {
		u.unchanged(name, func() {
			u.see("/console/orders/C-21", "h2", "is waiting for your answer")
			u.keys(name)
		})
	}
}

// ticked are the references of the selected orders.
const ticked = `[...document.querySelectorAll("tbody input:checked")].map(box => box.value).join(" ")`

// goBack accepts two orders and goes back: no other ones are selected. A browser may show
// the page as it was left.
func (u user) goBack() {
	u.see("/console/new", "h2", "orders")
	for n := range 2 {
		u.click(fmt.Sprintf("tbody tr:nth-child(%d) input[type=checkbox]", n+1))
	}
	chosen := u.evaluate(ticked)
	u.click(".actionbar .primary")
	u.wait(".notice.good", "2 orders were accepted.")
	u.do("history.back()")
	u.wait("body:not(:has(.notice.good)) tbody tr", "")
	if after := u.evaluate(ticked); after != "" && after != chosen {
		u.Errorf("%s are selected after a step back; %s were accepted", after, chosen)
	}
}

// rejectMany rejects two orders: the question says how many and which ones. Their packing
// slip says that they are canceled.
func (u user) rejectMany() {
	u.see("/console/new", "h2", "orders")
	for n := range 2 {
		u.click(fmt.Sprintf("tbody tr:nth-child(%d) input[type=checkbox]", n+1))
	}
	chosen := strings.Fields(u.evaluate(ticked))
	u.click("#reject summary")
	u.click("input[value=damaged]")
	before := u.unanswered()
	u.click("#reject button")
	u.wait("h1", "Reject 2 orders?")
	for _, reference := range chosen {
		u.wait("main li", reference)
	}
	testenv.Equal(u, "orders that wait at the question", before, u.unanswered())
	u.click("main .danger")
	u.wait(".notice.good", "2 orders were rejected.")
	u.see("/console/orders/"+chosen[0]+"/print", "body", "Rejected")
}

// fileInvoices sends an empty file for the order with the own number 20, and one whose name
// is only the beginning of that number: neither is stored.
func (u user) fileInvoices(scripts bool) {
	var order struct{ Order struct{ Invoices []any } }
	for name, content := range map[string]string{"20.pdf": "", "2.pdf": "x"} {
		u.see("/console/invoices", "h1", "")
		u.do(fmt.Sprintf(`const chosen = new DataTransfer(), input = document.querySelector("#file"); chosen.items.add(new File([%q], %q)); input.files = chosen.files; input.dispatchEvent(new Event("change"))`, content, name))
		if !scripts {
			u.click(".upload button")
		}
		u.wait(".problem, [data-problem], .notice.bad", "")
	}
	testenv.Send(u, u.server.Token, http.MethodGet, u.server.BaseURL+"/v2/orders/C-20", "").Decode(u.T, &order)
	if len(order.Order.Invoices) > 0 {
		u.Errorf("files are stored that are empty or of no order: %v", order.Order.Invoices)
	}
}

// returnToQuestion rejects an order and goes back: an answered question is not asked again. Before,
// clicks with Shift select four rows, and take all but the first out again.
func (u user) returnToQuestion() {
	u.see("/console/new", "h2", "orders")
	u.do(`const boxes = document.querySelectorAll("tbody input[type=checkbox]");
		for (const [n, shiftKey] of [[0, false], [3, true], [1, true]]) boxes[n].dispatchEvent(new MouseEvent("click", { shiftKey, bubbles: true, cancelable: true }))`)
	u.wait("output", "1 selected")
	u.click("#reject summary")
	u.click("input[value=damaged]")
	u.click("#reject button")
	u.wait("h1", "Reject 1 order?")
	u.click("main .danger")
	u.wait(".notice.good", "1 order was rejected.")
	u.do("history.back()")
	u.wait("body:not(:has(.notice.good)) h1", "New orders")
}

// keepNote types a note and accepts the order: the note is stored. A colleague has answered
// another order that is open: it offers no answer any more.
func (u user) keepNote() {
	u.see("/console/orders/C-12", "h2", "is waiting for your answer")
	u.do(`document.querySelector("#own-data").open = true`)
	u.focus("#merchantNote")
	u.keys("Call first")
	testenv.NoError(u, u.press(true, "\r"))
	u.wait(".notice.good", "The order is accepted.")
	var stored struct{ Order struct{ MerchantNote string } }
	testenv.Send(u, u.server.Token, http.MethodGet, u.server.BaseURL+"/v2/orders/C-12", "").Decode(u.T, &stored)
	testenv.Equal(u, "note", "Call first", stored.Order.MerchantNote)
	u.see("/console/orders/C-13", "h2", "is waiting for your answer")
	u.accept("C-13")
	u.wait("body:not(:has(.answer)) [data-live-notice][hidden]", "")
}

// accept accepts an order through the interface.
func (u user) accept(reference string) {
	testenv.Send(u, u.server.Token, http.MethodPatch, u.server.BaseURL+"/v2/orders/"+reference+"/accept", "").WantStatus(u.T, http.StatusOK)
}

// losePointer points at the list while a colleague answers an order of it: its row stays
// where it is until the pointer has left.
func (u user) losePointer() {
	u.see("/console/new", "h2", "orders")
	testenv.NoError(u, u.point(400, 400, false))
	u.accept("C-14")
	u.wait("#order-C-14.gone .said", "")
	u.do(`document.querySelector("[data-select-all] input").click()`)
	u.is(`document.querySelector("output").value === document.querySelectorAll("tbody tr:not(.gone)").length + " selected"`)
	testenv.NoError(u, u.point(5, 5, false))
	u.wait("body:not(:has(#order-C-14)) tbody", "")
}

// answerElsewhere presses Ctrl+Enter in fields of other forms and among the reasons of a rejection,
// and clicks twice: the second click is on the page of the next order.
func (u user) answerElsewhere() {
	for _, field := range []string{"#q", "#number", "#reason"} {
		u.unchanged("Ctrl+Enter in "+field, func() {
			u.see("/console/orders/C-10", "h2", "is waiting for your answer")
			u.do(fmt.Sprintf(`const field = document.querySelector(%q); field.closest("details")?.setAttribute("open", ""); field.focus()`, field))
			testenv.NoError(u, u.press(true, "\r"))
		})
	}
	u.see("/console/orders/C-10?from=%2Fconsole%2Fnew", "h2", "is waiting for your answer")
	u.click(".answer .primary")
	u.wait(".notice.good", "C-10: The order is accepted.")
	u.unchanged("the second click of a double click", func() {
		u.do(`const click = (event) => document.querySelector(".answer .primary").dispatchEvent(event), how = { bubbles: true, cancelable: true };
			click(new MouseEvent("click", { detail: 2, ...how }));
			click(Object.defineProperty(new MouseEvent("click", how), "timeStamp", { value: 0 }))`)
	})
}

// leaveFile chooses a file: whoever leaves is asked, and one that is dropped beside the form does not
// replace the page.
func (u user) leaveFile() {
	u.see("/console/orders/C-1", "h1", "C-1")
	u.do(`const chosen = new DataTransfer(), leave = new Event("beforeunload", { cancelable: true });
		chosen.items.add(new File(["x"], "1.pdf"));
		document.querySelector("#file").files = chosen.files;
		const drop = new DragEvent("drop", { dataTransfer: chosen, bubbles: true, cancelable: true });
		document.body.dispatchEvent(drop);
		dispatchEvent(leave);
		document.body.dataset.kept = drop.defaultPrevented + " " + leave.defaultPrevented;
		document.querySelector("#file").value = ""`)
	u.is(`document.body.dataset.kept === "true true"`)
}
