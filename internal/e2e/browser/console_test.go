package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestConsole goes through the console as a merchant's staff do, on both databases and in
// both languages.
func TestConsole(t *testing.T) {
	startBrowser(t) // skips the test without one
	t.Run("sqlite", func(t *testing.T) { useConsole(t, apptest.Start(t), "en") })
	t.Run("postgres", func(t *testing.T) {
		useConsole(t, apptest.StartWith(t, []string{"--database", pgtest.Database(t), "--storage", "file://" + t.TempDir() + "/files"}), "el")
	})
}

// useConsole is TestConsole on one server, by people who speak a language.
func useConsole(t *testing.T, s *apptest.Server, language string) {
	documents := [][]byte{hostileOrder()}
	for n := range consoleOrders {
		documents = append(documents, consoleOrder(n+1))
	}
	s.Merchant(t, jobMerchant)
	for n := range jobOrders {
		documents = append(documents, jobOrder(n+1))
	}
	s.Import(t, documents...)
	person := func(t *testing.T) *staff {
		t.Helper()
		p := newStaff(t, s)
		p.speak(t, language)
		return p
	}
	p := person(t)
	p.signIn(t, s.Folder.Token(t, "--merchant", "355", "--scopes", allScopes))
	p.findOrders(t)
	p.answerOrders(t)
	p.addFiles(t, "/console/orders/C-1")
	p.seeChange(t)
	p.beSecond(t)
	p.answerSeveral(t)
	p.addInvoices(t)
	p.addPicture(t)
	p.loseConnection(t)
	p.printList(t)
	p.export(t, "?state=in-processing", "C-1", "C-3", "C-4", "C-5", "C-6", "C-7") // the newest first
	p.seeHostile(t)
	p.useTokens(t)
	p.beNotified(t)
	p.signOut(t)
	t.Run("jobs", func(t *testing.T) { person(t).doJobs(t) })
	t.Run("keyboard", func(t *testing.T) { person(t).useKeyboard(t) })
	t.Run("no scripts", func(t *testing.T) { person(t).useNoScripts(t) })
	t.Run("operators", func(t *testing.T) {
		operator := newOperator(t, s)
		operator.speak(t, language)
		operator.meetOperator(t)
	})
	t.Run("strangers", func(t *testing.T) { meetStrangers(t, s) })
}

// consoleOrders is how many orders consoleOrder adds; more than a page of a list has.
const consoleOrders = 30

// allScopes are all scopes of a merchant's token.
const allScopes = "orders:read,orders:write,invoices:write,tokens,webhooks"

// consoleOrder returns a registered order, the first ones the newest.
func consoleOrder(n int) []byte {
	return ingesttest.Document(n, func(document map[string]any) {
		register(document, fmt.Sprintf("C-%d", n), n)
	})
}

// staff is a person at the console.
type staff struct {
	*tab
	*apptest.Server
	BaseURL  string // of the port that the person uses
	language string // of the pages; empty: English
	token    string // that the person signed in with
	clicks   int    // so far; choosing files in the dialog of the browser counts two
}

// newStaff returns a person with a tab, who is not signed in.
func newStaff(t *testing.T, s *apptest.Server) *staff {
	t.Helper()
	return newPerson(t, s, s.BaseURL)
}

// newOperator is newStaff for an operator.
func newOperator(t *testing.T, s *apptest.Server) *staff {
	t.Helper()
	return newPerson(t, s, s.AdminURL())
}

func newPerson(t *testing.T, s *apptest.Server, baseURL string) *staff {
	t.Helper()
	p := &staff{tab: open(t, baseURL), Server: s, BaseURL: baseURL}
	command(t, p.tab, network.ClearBrowserCookies, cdp.Empty{})
	return p
}

// speak makes the browser ask for pages in a language.
func (p *staff) speak(t *testing.T, language string) {
	t.Helper()
	p.language = language
	command(t, p.tab, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": language}})
}

// jobOrder returns an order of jobMerchant, which has nothing to do with the other journeys.
func jobOrder(n int) []byte {
	return ingesttest.Document(consoleOrders+1+n, func(document map[string]any) {
		register(document, fmt.Sprintf("J-%03d", n), 1)
		document["merchantId"] = jobMerchant
	})
}

const (
	jobMerchant = 500
	jobOrders   = 353
)

// signIn signs in with a token.
func (p *staff) signIn(t *testing.T, token string) {
	t.Helper()
	p.run(t, chromedp.Navigate(p.BaseURL+"/"),
		chromedp.SetValue(chromedp.CSS("#token"), token),
		chromedp.Click(chromedp.CSS("form:has(#token) button")),
		chromedp.WaitVisible(chromedp.CSS(".tabs")))
	p.token = token
}

// see opens a page and waits for an element that contains a text.
func (p *staff) see(t *testing.T, path, selector, text string) {
	t.Helper()
	p.run(t, chromedp.Navigate(p.BaseURL+path))
	p.wait(t, selector, text)
}

// wait waits for an element that contains an English text, in the language of the person.
func (p *staff) wait(t *testing.T, selector, text string) {
	t.Helper()
	said := testenv.Of(json.Marshal(p.said(t, text))).Must(t)
	condition := fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(%q)].some(e => %s.every(said => new RegExp(said).test(e.innerText)))`, selector, said)
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	shown := ""
	for n := 0; ; n++ {
		// An error means that the browser is between two pages.
		if found, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](condition)); err == nil && found {
			return
		}
		if n%100 == 99 {
			if text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + " " + document.body.innerText.slice(0, 900)`)); err == nil {
				shown = text
			}
		}
		select {
		case <-poll.C:
		case <-p.ctx.Done():
			t.Fatalf("no %s with %q; the page says %s; faults so far: %q", selector, text, shown, p.seen())
		}
	}
}

func (p *staff) click(t *testing.T, selector string) {
	t.Helper()
	p.clicks++
	p.run(t, chromedp.Click(chromedp.CSS(selector)))
}

func (p *staff) findOrders(t *testing.T) {
	p.see(t, "/console", "h2", "New orders")
	p.see(t, "/console/orders", "h2", fmt.Sprintf("%d orders", consoleOrders+1))
	p.run(t, chromedp.SendKeys(chromedp.CSS("#q"), "C-17"))
	p.press(t, kb.Enter)
	p.wait(t, `#q[value="C-17"]`, "") // the page before has the order, too
	p.wait(t, "tbody a", "C-17")
	p.click(t, "tbody a")
	p.wait(t, "h1", "C-17")
	p.see(t, "/console/new", "h2", fmt.Sprintf("%d orders", consoleOrders+1))
	p.click(t, "[rel=next]")
	p.wait(t, ".ref", "C-1")
}

// clickTwice clicks a button, and again while the browser waits for the next page. The
// second click cannot hit that page, as one with the mouse can.
func (p *staff) clickTwice(t *testing.T, selector string) {
	t.Helper()
	const script = `(() => { const button = document.querySelector(%q); button.click(); setTimeout(() => button.click(), 1); return true })()`
	value(t, p.tab, chromedp.Evaluate[bool](fmt.Sprintf(script, selector)))
}

// wantEvents checks how many events of a type an order has.
func (p *staff) wantEvents(t *testing.T, reference, event string, want int) {
	t.Helper()
	events := testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders/"+reference+"/events", "")
	if got := strings.Count(events.Body, `"type":"`+event+`"`); events.Status != http.StatusOK || got != want {
		t.Errorf("%s has %d events %s, want %d: %+v", reference, got, event, want, events)
	}
}

func (p *staff) answerOrders(t *testing.T) {
	p.see(t, "/console/orders/C-1", "h2", "is waiting for your answer")
	p.clickTwice(t, ".answer .primary")
	p.wait(t, ".notice", "The order is accepted.")
	p.wantEvents(t, "C-1", "order.state_changed", 1)
	p.see(t, "/console/orders/C-2", "h2", "is waiting for your answer")
	p.click(t, ".reject summary")
	p.run(t, chromedp.SetValue(chromedp.CSS("#reason"), "damaged"))
	p.clickTwice(t, ".reject button.danger")
	p.wait(t, ".notice", "The order is rejected.")
	p.wait(t, ".history", "Damaged")
	p.wantEvents(t, "C-2", "order.state_changed", 1)
}

// fill chooses files, names and contents in turn.
func (p *staff) fill(t *testing.T, files ...string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("(() => { const chosen = new DataTransfer();")
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(&script, "chosen.items.add(new File([%s], %q));", files[i+1], files[i])
	}
	script.WriteString(`const input = document.querySelector("#file"); input.files = chosen.files; input.dispatchEvent(new Event("change")); return true })()`)
	value(t, p.tab, chromedp.Evaluate[bool](script.String()))
}

// choose chooses files and sends them.
func (p *staff) choose(t *testing.T, files ...string) {
	t.Helper()
	p.fill(t, files...)
	p.click(t, ".upload button")
}

func (p *staff) addFiles(t *testing.T, path string) {
	p.see(t, path, "#file-help", "3 more files")
	p.choose(t, "<img src=x onerror=alert(1)>.exe", `"x"`)
	p.wait(t, "[data-problem]", "<img src=x onerror=alert(1)>.exe: The file is not a PDF")
	p.choose(t, "big.pdf", `new Uint8Array(4000001)`)
	p.wait(t, "[data-problem]", "larger than 4 MB")
	p.choose(t, "1.pdf", `"x"`, "2.pdf", `"x"`, "3.pdf", `"x"`, "4.pdf", `"x"`)
	p.wait(t, "[data-problem]", "at most 3 files")
	p.fill(t, "1.pdf", `"x"`, "2.png", `"x"`, "3.jpg", `"x"`)
	p.clickTwice(t, ".upload button")
	p.wait(t, ".notice", "The files are stored.")
	p.wantEvents(t, "C-1", "invoice.uploaded", 3)
	p.wait(t, ".card .help", "which is the maximum")
	p.click(t, ".files .button")
	p.wait(t, "h1", "Withdraw this file?")
	p.click(t, "main .danger")
	p.wait(t, ".notice", "The file is withdrawn.")
	// Without scripts the server refuses what the page would have.
	command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.run(t, chromedp.Navigate(p.BaseURL+path), chromedp.WaitVisible(chromedp.CSS("#file")))
	p.choose(t, "1.pdf", `"x"`, "x.html", `"x"`)
	p.run(t, chromedp.WaitVisible(chromedp.CSS(".notice.bad")))
	command(t, p.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	p.wait(t, ".notice.bad", "x.html: The file is not a PDF, PNG or JPEG.")
	p.forgive("status of 400")
}

// accept accepts an order through the interface.
func (p *staff) accept(t *testing.T, reference string) {
	t.Helper()
	testenv.Send(t, p.Token, http.MethodPatch, p.BaseURL+"/v2/orders/"+reference+"/accept", "").WantStatus(t, http.StatusOK)
}

// seeChange sees a change that is made through the interface.
func (p *staff) seeChange(t *testing.T) {
	p.see(t, "/console/orders/C-3", "h2", "is waiting for your answer")
	p.accept(t, "C-3")
	p.wait(t, ".title", "In processing")
}

// stopUpdates stops the live updates of the page, as a network that fails does.
func (p *staff) stopUpdates(t *testing.T) {
	t.Helper()
	value(t, p.tab, chromedp.Evaluate[bool](`dispatchEvent(new Event("pagehide"))`))
}

// beSecond accepts an order that somebody else has accepted meanwhile.
func (p *staff) beSecond(t *testing.T) {
	p.see(t, "/console/orders/C-4", "h2", "is waiting for your answer")
	p.stopUpdates(t)
	p.accept(t, "C-4")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice.bad", "Nothing was done")
	p.wait(t, ".notice.bad", "token 1")
	p.forgive("status of 409")
}

// answerSeveral works on the queue: it accepts three orders, one of which somebody else has
// accepted, opens their packing slips, and rejects two orders with one reason.
func (p *staff) answerSeveral(t *testing.T) {
	p.see(t, "/console/new?limit=50", "output", "Nothing selected")
	p.stopUpdates(t)
	if !value(t, p.tab, chromedp.Evaluate[bool](`[...document.querySelectorAll(".actionbar > button")].every(button => button.disabled)`)) {
		t.Error("the buttons are enabled although nothing is selected")
	}
	for _, reference := range []string{"C-5", "C-6", "C-7"} {
		p.click(t, `input[value="`+reference+`"]`)
	}
	p.wait(t, "output", "3 selected")
	p.accept(t, "C-6")
	p.clickTwice(t, ".actionbar .primary")
	p.wait(t, ".notice.good", "2 orders were accepted.")
	p.wait(t, ".notice.bad", "1 order was not accepted:")
	p.wait(t, ".notice.bad li", "C-6: Someone else got there first.")
	p.wait(t, ".notice.bad li", "token 1")
	p.wantEvents(t, "C-5", "order.state_changed", 1)
	p.click(t, ".notice.good a")
	p.wait(t, "h1", "2 packing slips")
	p.click(t, ".crumb a")
	orders := fmt.Sprintf("%d orders", consoleOrders-7+1)
	p.wait(t, "h2", orders)
	value(t, p.tab, chromedp.Evaluate[bool](`history.go(-2), true`))
	p.wait(t, ".notice.good", "2 orders were accepted.")
	p.see(t, "/console/new?limit=50", "h2", orders)
	p.click(t, `input[value="C-10"]`)
	p.click(t, `input[value="C-11"]`)
	p.click(t, "#reject summary")
	p.click(t, "[value=damaged]")
	p.wait(t, "#reject button", "Reject 2 orders")
	p.click(t, "#reject button")
	p.wait(t, "h1", "Reject 2 orders?")
	p.click(t, "main .danger")
	p.wait(t, ".notice.good", "2 orders were rejected.")
	p.wantEvents(t, "C-11", "order.state_changed", 1)
}

// nextMatch makes the next request for the orders of files get a response, which is an
// expression. Meanwhile others, as those of live.js, are as always.
func (p *staff) nextMatch(t *testing.T, response string) {
	t.Helper()
	value(t, p.tab, chromedp.Evaluate[bool](`(() => {
		const send = fetch;
		fetch = async (...request) => {
			if (!String(request[0]).includes("file=")) return send(...request);
			fetch = send;
			return `+response+`;
		};
		return true;
	})()`))
}

// lateResponse is a response whose text comes when arrive is called.
const lateResponse = `({ ok: true, text: () => new Promise((done) => { arrive = () => done("<p data-match>late</p>") }) })`

// addInvoices adds invoices to two orders, which the names of the files say. A third file is
// for no order.
func (p *staff) addInvoices(t *testing.T) {
	p.see(t, "/console/invoices?limit=100", ".ref", "C-3")
	p.nextMatch(t, "{ ok: false }")
	p.fill(t, "C-3.pdf", `"x"`)
	p.wait(t, "[data-problem]", "could not be looked up")
	p.nextMatch(t, lateResponse)
	p.fill(t, "C-3.pdf", `"x"`)
	p.wait(t, "[data-problem][hidden]", "")
	p.fill(t, "C-3.pdf", `"x"`, "C-5.pdf", `"x"`, "NONE.pdf", `"x"`)
	p.wait(t, "[data-match] td", "No order has this number.")
	p.wait(t, "[data-match] td", "Ready")
	if text := value(t, p.tab, chromedp.Evaluate[string](`new Promise((done) => { arrive(); setTimeout(() => done(document.querySelector("[data-match]").innerText)) })`, chromedp.EvalAwaitPromise)); !strings.Contains(text, "C-3.pdf") {
		t.Errorf("the orders of an earlier choice replace those of the files: %s", text)
	}
	p.clickTwice(t, ".upload button")
	p.wait(t, ".notice.good", "2 invoices are stored.")
	p.wait(t, "[data-match] td", "No order has this number.")
	p.wantEvents(t, "C-3", "invoice.uploaded", 1)
	p.forgive("status of 422")
}

// signOut signs out in the middle of a session that has ended, and at the end of one.
func (p *staff) signOut(t *testing.T) {
	p.see(t, "/console/orders/C-9", "h2", "is waiting for your answer")
	if result := p.Run(t, "", "token", "revoke", p.token); result.Code != 0 {
		t.Fatal(result.Stderr)
	}
	// The page learns of it by itself.
	p.wait(t, "h1", "Sign in")
	p.typeToken(t, p.token)
	p.wait(t, ".field-problem", "not valid")
	p.forgive("status of 403")
	p.typeToken(t, p.Token)
	p.wait(t, "h1", "C-9")
	p.click(t, `form[action="/console/sign-out"] button`)
	p.wait(t, "h1", "Sign in")
	p.see(t, "/console/orders/C-1", "h1", "Sign in")
}

// typeToken signs in on the page that is open.
func (p *staff) typeToken(t *testing.T, token string) {
	t.Helper()
	p.run(t, chromedp.SetValue(chromedp.CSS("#token"), token))
	p.click(t, "form:has(#token) button")
}
