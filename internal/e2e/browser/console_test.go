package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestConsole goes through the console as a merchant's staff do: in Chromium on both databases
// and in both languages, in the other browsers on SQLite.
func TestConsole(t *testing.T) {
	startBrowser(t) // skips the test without one
	t.Run("sqlite", func(t *testing.T) { useChromium(t, apptest.Start(t), "en") })
	t.Run("postgres", func(t *testing.T) {
		useChromium(t, apptest.StartWith(t, []string{"--database", pgtest.Database(t), "--storage", "file://" + t.TempDir() + "/files"}), "el")
	})
	for _, name := range []string{"firefox", "webkit"} {
		t.Run(name, func(t *testing.T) {
			testenv.Release(t)
			s := apptest.Start(t)
			importConsole(t, s)
			p := engines[name](t, s, true)
			p.useConsole(t)
			p.signOut(t)
			t.Run("jobs", func(t *testing.T) {
				p.signInAs(t, jobMerchant)
				p.doJobs(t)
			})
			t.Run("operators", func(t *testing.T) {
				p.BaseURL = s.AdminURL()
				p.signIn(t, s.Folder.Token(t, "--operator"))
				p.findStore(t)
			})
			t.Run("no scripts", func(t *testing.T) { engines[name](t, s, false).useNoScripts(t) })
		})
	}
}

// importConsole imports the orders of two merchants.
func importConsole(t *testing.T, s *apptest.Server) {
	t.Helper()
	documents := append(consoleDocuments(), hostileOrder())
	s.Merchant(t, jobMerchant)
	for n := range jobOrders {
		documents = append(documents, jobOrder(n+1))
	}
	s.Import(t, append(documents, callerOrder())...)
}

// useChromium is TestConsole on one server, by people with Chromium who speak a language.
func useChromium(t *testing.T, s *apptest.Server, language string) {
	importConsole(t, s)
	person := func(t *testing.T) *staff {
		t.Helper()
		p := newPerson(t, s, s.BaseURL)
		p.speak(t, language)
		return p
	}
	p := person(t)
	p.useConsole(t)
	// Other browsers lose no connection, print no PDF and are no phone.
	p.loseConnection(t)
	p.printList(t)
	p.seeHostile(t)
	p.beNotified(t)
	p.signOut(t)
	t.Run("jobs", func(t *testing.T) {
		p := person(t)
		p.signInAs(t, jobMerchant)
		p.seeColumns(t)
		p.seeFirstOrder(t, "/console/new", "/console/orders")
		p.beFarAway(t)
		p.doJobs(t)
		p.seeFirstOrder(t, "/console/ship")
	})
	t.Run("keyboard", func(t *testing.T) { person(t).useKeyboard(t) })
	t.Run("no scripts", func(t *testing.T) {
		p := person(t)
		p.runScripts(t, false)
		p.useNoScripts(t)
	})
	t.Run("operators", func(t *testing.T) {
		operator := newPerson(t, s, s.AdminURL())
		operator.speak(t, language)
		operator.meetOperator(t)
	})
}

// useConsole does what staff do with orders and files.
func (p *user) useConsole(t *testing.T) {
	p.signInAs(t, 355)
	p.findOrders(t)
	p.answerOrders(t)
	p.addFiles(t)
	p.seeChange(t)
	p.beSecond(t)
	p.answerSeveral(t)
	p.addInvoices(t)
	p.addPicture(t)
	p.useTokens(t)
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

// consoleDocuments returns the consoleOrders.
func consoleDocuments() (documents [][]byte) {
	for n := range consoleOrders {
		documents = append(documents, consoleOrder(n+1))
	}
	return documents
}

// staff is a person with Chromium.
type staff struct {
	*user
	*tab
}

// newPerson returns a person with a tab, who is not signed in, and works on a port.
func newPerson(t *testing.T, s *apptest.Server, baseURL string) *staff {
	t.Helper()
	w := open(t, baseURL)
	command(t, w, network.ClearBrowserCookies, cdp.Empty{})
	command(t, w, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	command(t, w, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: printed})
	return &staff{&user{engine: w, Server: s, BaseURL: baseURL}, w}
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

// callerOrder returns the order of a customer who asks where it is.
func callerOrder() []byte {
	return ingesttest.Document(600, func(document map[string]any) {
		register(document, "S-1", 40)
		document["merchantId"], document["state"] = jobMerchant, "picked-by-courier"
		document["customer"].(map[string]any)["lastName"] = "Καραγιάννη"
		document["carrier"].(map[string]any)["trackingCodes"] = "7012345678"
	})
}

func (p *user) findOrders(t *testing.T) {
	p.see(t, "/console", "h2", "New orders")
	p.see(t, "/console/orders", "h2", fmt.Sprintf("%d orders", consoleOrders+1))
	p.click(t, "#q")
	p.press(t, "C-17\r")
	p.wait(t, `#q[value="C-17"]`, "") // the page before has the order, too
	p.wait(t, "tbody a", "C-17")
	p.click(t, "tbody a")
	p.wait(t, "h1", "C-17")
	p.see(t, "/console/new", "h2", fmt.Sprintf("%d orders", consoleOrders+1))
	p.click(t, "[rel=next]")
	p.wait(t, ".ref", "C-1")
}

func (p *user) answerOrders(t *testing.T) {
	p.see(t, "/console/orders/C-1", "h2", "is waiting for your answer")
	p.clickTwice(t, ".answer .primary")
	p.wait(t, ".notice", "The order is accepted.")
	p.wantEvents(t, "C-1", "order.state_changed", 1)
	p.see(t, "/console/orders/C-2", "h2", "is waiting for your answer")
	p.click(t, ".reject summary")
	p.set(t, "#reason", "damaged")
	p.clickTwice(t, ".reject button.danger")
	p.wait(t, ".notice", "The order is rejected.")
	p.wait(t, ".history", "Damaged")
	p.wantEvents(t, "C-2", "order.state_changed", 1)
}

func (p *user) addFiles(t *testing.T) {
	p.see(t, "/console/orders/C-1", "#file-help", "3 more files")
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
}

// seeChange sees a change that is made through the interface.
func (p *user) seeChange(t *testing.T) {
	p.see(t, "/console/orders/C-3", "h2", "is waiting for your answer")
	p.accept(t, "C-3")
	p.wait(t, ".title", "In processing")
}

// beSecond accepts an order that somebody else has accepted meanwhile.
func (p *user) beSecond(t *testing.T) {
	p.see(t, "/console/orders/C-4", "h2", "is waiting for your answer")
	p.do(t, stopUpdates)
	p.accept(t, "C-4")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice.bad", "Nothing was done")
	p.wait(t, ".notice.bad", "token 1")
	p.forgive("status of 409")
}

// answerSeveral works on the queue: it accepts three orders, one of which somebody else has
// accepted, opens their packing slips, and goes back to the result.
func (p *user) answerSeveral(t *testing.T) {
	p.see(t, "/console/new?limit=50", "output", "Nothing selected")
	p.do(t, stopUpdates)
	p.is(t, `[...document.querySelectorAll(".actionbar > button")].every(button => button.disabled)`)
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
	p.wait(t, "h2", fmt.Sprintf("%d orders", consoleOrders-7+1))
	p.do(t, "history.go(-2)")
	p.wait(t, ".notice.good", "2 orders were accepted.")
}

// stopUpdates stops the live updates of the page, as a network that fails does.
const stopUpdates = `dispatchEvent(new Event("pagehide"))`

// nextMatch makes the next request for the orders of files get a response, which is an
// expression. Meanwhile others, as those of live.js, are as always.
func (p *user) nextMatch(t *testing.T, response string) {
	t.Helper()
	p.do(t, `const send = fetch;
		fetch = async (...request) => {
			if (!String(request[0]).includes("file=")) return send(...request);
			fetch = send;
			return `+response+`;
		}`)
}

// lateResponse is a response whose text comes when arrive is called.
const lateResponse = `({ ok: true, text: () => new Promise((done) => { arrive = () => done("<p data-match>late</p>") }) })`

// addInvoices adds invoices to two orders, which the names of the files say. A third file is
// for no order.
func (p *user) addInvoices(t *testing.T) {
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
	// The orders of an earlier choice do not replace those of the files.
	p.do(t, `arrive(); setTimeout(() => { document.body.dataset.arrived = "" })`)
	p.wait(t, "[data-arrived] [data-match]", "C-3.pdf")
	p.clickTwice(t, ".upload button")
	p.wait(t, ".notice.good", "2 invoices are stored.")
	p.wait(t, "[data-match] td", "No order has this number.")
	p.wantEvents(t, "C-3", "invoice.uploaded", 1)
	p.forgive("status of 422")
}

// signOut signs out in the middle of a session that has ended, and at the end of one.
func (p *user) signOut(t *testing.T) {
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
