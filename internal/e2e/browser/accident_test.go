package browser

import (
	"fmt"
	"net/http"
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
			s.Import(t, consoleDocuments()...)
			for _, scripts := range []bool{false, true} {
				t.Run(fmt.Sprintf("scripts %t", scripts), func(t *testing.T) {
					p := start(t, s, scripts)
					// What is refused, as an empty file, is an error of the browser's log, and so is a page
					// that is left with chosen files before anybody has touched it.
					t.Cleanup(func() { p.forgive("status of 4"); p.forgive("beforeunload") })
					p.signIn(t, p.Token)
					p.see(t, "/console/new", "h2", "orders")
					// The page disables it until something is selected.
					p.is(t, fmt.Sprintf(`document.querySelector(".actionbar .primary").disabled === %t`, scripts))
					p.pressEnter(t)
					p.typeLetters(t)
					p.goBack(t)
					p.rejectMany(t)
					p.fileInvoices(t, scripts)
					if scripts {
						p.returnToQuestion(t)
						p.stopSending(t)
						p.keepNote(t)
						p.comeBack(t)
						p.losePointer(t)
						p.answerElsewhere(t)
						p.leaveFile(t)
					}
				})
			}
		})
	}
}

// unanswered returns how many orders wait for an answer.
func (p *user) unanswered(t *testing.T) (n int) {
	t.Helper()
	var list struct{ Params struct{ TotalItems int } }
	testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders?state=registered", "").Decode(t, &list)
	return list.Params.TotalItems
}

// unchanged runs what must not answer an order.
func (p *user) unchanged(t *testing.T, what string, do func()) {
	t.Helper()
	before := p.unanswered(t)
	do()
	p.see(t, "/console", "h1", "")
	if after := p.unanswered(t); after != before {
		t.Errorf("%s: %d orders wait, %d before", what, after, before)
	}
}

// pressEnter presses Enter in the boxes of the queue, after a reason was chosen and before.
func (p *user) pressEnter(t *testing.T) {
	p.unchanged(t, "Enter after a reason", func() {
		p.see(t, "/console/new", "h2", "orders")
		p.click(t, "tbody input[type=checkbox]")
		p.click(t, "#reject summary")
		p.click(t, "input[value=damaged]")
		p.press(t, "\r")
	})
	p.unchanged(t, "Enter on a row", func() {
		p.see(t, "/console/new", "h2", "orders")
		p.click(t, "tbody input[type=checkbox]")
		p.focus(t, "tbody input[type=checkbox]")
		p.press(t, "\r")
	})
	p.unchanged(t, "Enter in the own number", func() {
		p.see(t, "/console/orders/C-20", "h2", "is waiting for your answer")
		p.do(t, `document.querySelector("#own-data").open = true`)
		p.focus(t, "#merchantReference")
		p.press(t, "20\r")
		p.wait(t, ".notice.good", "Your number and note are saved.")
	})
}

// typeLetters types names where no field has the focus.
func (p *user) typeLetters(t *testing.T) {
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
func (p *user) goBack(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	for n := range 2 {
		p.click(t, fmt.Sprintf("tbody tr:nth-child(%d) input[type=checkbox]", n+1))
	}
	chosen := evaluate[string](t, p, ticked)
	p.click(t, ".actionbar .primary")
	p.wait(t, ".notice.good", "2 orders were accepted.")
	p.do(t, "history.back()")
	p.wait(t, "body:not(:has(.notice.good)) tbody tr", "")
	if after := evaluate[string](t, p, ticked); after != "" && after != chosen {
		t.Errorf("%s are selected after a step back; %s were accepted", after, chosen)
	}
}

// rejectMany rejects two orders: the question says how many and which ones. Their packing
// slip says that they are canceled.
func (p *user) rejectMany(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	for n := range 2 {
		p.click(t, fmt.Sprintf("tbody tr:nth-child(%d) input[type=checkbox]", n+1))
	}
	chosen := strings.Fields(evaluate[string](t, p, ticked))
	p.click(t, "#reject summary")
	p.click(t, "input[value=damaged]")
	before := p.unanswered(t)
	p.click(t, "#reject button")
	p.wait(t, "h1", "Reject 2 orders?")
	for _, reference := range chosen {
		p.wait(t, "main li", reference)
	}
	testenv.Equal(t, "orders that wait at the question", before, p.unanswered(t))
	p.click(t, "main .danger")
	p.wait(t, ".notice.good", "2 orders were rejected.")
	p.see(t, "/console/orders/"+chosen[0]+"/print", "body", "Rejected")
}

// fileInvoices sends an empty file for the order with the own number 20, and one whose name
// is only the beginning of that number: neither is stored.
func (p *user) fileInvoices(t *testing.T, scripts bool) {
	var order struct{ Order struct{ Invoices []any } }
	for name, content := range map[string]string{"20.pdf": `""`, "2.pdf": `"x"`} {
		p.see(t, "/console/invoices", "h1", "")
		p.fill(t, name, content)
		if !scripts {
			p.click(t, ".upload button")
		}
		p.wait(t, ".problem, [data-problem], .notice.bad", "")
	}
	testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders/C-20", "").Decode(t, &order)
	if len(order.Order.Invoices) > 0 {
		t.Errorf("files are stored that are empty or of no order: %v", order.Order.Invoices)
	}
}

// returnToQuestion rejects an order and goes back: an answered question is not asked again. Before,
// clicks with Shift select four rows, and take all but the first out again.
func (p *user) returnToQuestion(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	p.do(t, `const boxes = document.querySelectorAll("tbody input[type=checkbox]");
		for (const [n, shiftKey] of [[0, false], [3, true], [1, true]]) boxes[n].dispatchEvent(new MouseEvent("click", { shiftKey, bubbles: true, cancelable: true }))`)
	p.wait(t, "output", "1 selected")
	p.click(t, "#reject summary")
	p.click(t, "input[value=damaged]")
	p.click(t, "#reject button")
	p.wait(t, "h1", "Reject 1 order?")
	p.click(t, "main .danger")
	p.wait(t, ".notice.good", "1 order was rejected.")
	p.do(t, "history.back()")
	p.wait(t, "body:not(:has(.notice.good)) h1", "New orders")
}

// stopSending presses Stop while a form is sent, and sends it again. Nobody is told that the connection is
// lost. While files are sent, no others are chosen.
func (p *user) stopSending(t *testing.T) {
	p.see(t, "/console/orders/C-2", "h1", "C-2")
	p.do(t, `const later = setTimeout, page = document.body.dataset;
		setTimeout = (then, pause) => later(then, pause / 20);
		document.addEventListener("connection", (event) => { if (event.detail.lost) page.stopped = "yes"; });
		document.querySelector("#own-data").open = true;
		document.querySelector("#merchantNote").value = "call first";
		document.querySelector("#own button").click();
		const halt = () => {
			if (page.stopped) return;
			stop();
			later(halt, 100);
		};
		halt()`)
	p.is(t, `document.body.dataset.stopped && document.querySelector("[data-offline]").hidden && !document.querySelector("[aria-busy]")`)
	p.click(t, "#own button")
	p.wait(t, ".notice.good", "Your number and note are saved.")
	p.do(t, `const form = document.querySelector("[data-upload]"), page = document.body.dataset;
		const choose = () => {
			addEventListener("click", (event) => {
				page.chosen = (page.chosen ?? "") + !event.defaultPrevented;
				event.preventDefault();
			}, { once: true });
			document.querySelector("#file").click();
		};
		choose();
		form.dataset.sent = "yes";
		choose();
		delete form.dataset.sent`)
	p.is(t, `document.body.dataset.chosen === "truefalse"`)
}

// keepNote types a note and accepts the order: the note is stored. A colleague has answered
// another order that is open: it offers no answer any more.
func (p *user) keepNote(t *testing.T) {
	p.see(t, "/console/orders/C-12", "h2", "is waiting for your answer")
	p.do(t, `document.querySelector("#own-data").open = true`)
	p.focus(t, "#merchantNote")
	p.press(t, "Call first")
	testenv.NoError(t, p.strike(true, "\r"))
	p.wait(t, ".notice.good", "The order is accepted.")
	var stored struct{ Order struct{ MerchantNote string } }
	testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders/C-12", "").Decode(t, &stored)
	testenv.Equal(t, "note", "Call first", stored.Order.MerchantNote)
	p.see(t, "/console/orders/C-13", "h2", "is waiting for your answer")
	p.accept(t, "C-13")
	p.wait(t, "body:not(:has(.answer)) [data-live-notice][hidden]", "")
}

// comeBack leaves an order, which a colleague answers, and comes back: also a page that the browser has kept
// shows it at once, and says nothing of a lost connection.
func (p *user) comeBack(t *testing.T) {
	p.see(t, "/console/orders/C-19", "h2", "is waiting for your answer")
	p.do(t, `const later = setTimeout;
		setTimeout = (then, pause) => pause < 2000 && later(then, pause);
		later(() => location.assign("/console/orders"), 500)`)
	p.wait(t, "h1", "Orders")
	p.accept(t, "C-19")
	p.do(t, "history.back()")
	p.wait(t, "body:not(:has(.answer)) h1", "C-19")
	p.is(t, `document.querySelector("[data-offline]").hidden`)
}

// losePointer points at the list while a colleague answers an order of it: its row stays
// where it is until the pointer has left.
func (p *user) losePointer(t *testing.T) {
	p.see(t, "/console/new", "h2", "orders")
	testenv.NoError(t, p.point(400, 400, false))
	p.accept(t, "C-14")
	p.wait(t, "#order-C-14.gone .said", "")
	p.do(t, `document.querySelector("[data-select-all] input").click()`)
	p.is(t, `document.querySelector("output").value === document.querySelectorAll("tbody tr:not(.gone)").length + " selected"`)
	testenv.NoError(t, p.point(5, 5, false))
	p.wait(t, "body:not(:has(#order-C-14)) tbody", "")
}

// answerElsewhere presses Ctrl+Enter in fields of other forms and among the reasons of a rejection,
// and clicks twice: the second click is on the page of the next order.
func (p *user) answerElsewhere(t *testing.T) {
	for _, field := range []string{"#q", "#number", "#reason"} {
		p.unchanged(t, "Ctrl+Enter in "+field, func() {
			p.see(t, "/console/orders/C-10", "h2", "is waiting for your answer")
			p.do(t, fmt.Sprintf(`const field = document.querySelector(%q); field.closest("details")?.setAttribute("open", ""); field.focus()`, field))
			testenv.NoError(t, p.strike(true, "\r"))
		})
	}
	p.see(t, "/console/orders/C-10?from=%2Fconsole%2Fnew", "h2", "is waiting for your answer")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice.good", "C-10: The order is accepted.")
	p.unchanged(t, "the second click of a double click", func() {
		p.do(t, `const click = (event) => document.querySelector(".answer .primary").dispatchEvent(event), how = { bubbles: true, cancelable: true };
			click(new MouseEvent("click", { detail: 2, ...how }));
			click(Object.defineProperty(new MouseEvent("click", how), "timeStamp", { value: 0 }))`)
	})
}

// leaveFile chooses a file: whoever leaves is asked, and one that is dropped beside the form does not
// replace the page.
func (p *user) leaveFile(t *testing.T) {
	p.see(t, "/console/orders/C-1", "h1", "C-1")
	p.do(t, `const chosen = new DataTransfer(), leave = new Event("beforeunload", { cancelable: true });
		chosen.items.add(new File(["x"], "1.pdf"));
		document.querySelector("#file").files = chosen.files;
		const drop = new DragEvent("drop", { dataTransfer: chosen, bubbles: true, cancelable: true });
		document.body.dispatchEvent(drop);
		dispatchEvent(leave);
		document.body.dataset.kept = drop.defaultPrevented + " " + leave.defaultPrevented;
		document.querySelector("#file").value = ""`)
	p.is(t, `document.body.dataset.kept === "true true"`)
}
