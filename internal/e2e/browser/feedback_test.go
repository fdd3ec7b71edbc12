package browser

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	chromium "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// connect ends the connection of the tab, or makes it again.
func (p *staff) connect(t *testing.T, offline bool) {
	t.Helper()
	command(t, p.tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	command(t, p.tab, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1})
}

// loseConnection types a note, and sends it twice: without a connection and with one.
func (p *staff) loseConnection(t *testing.T) {
	p.see(t, "/console/orders/C-12", "h1", "C-12")
	p.run(t, chromedp.Click(chromedp.CSS("#own-data summary")), chromedp.SetValue(chromedp.CSS("[name=merchantNote]"), "call first"))
	const save = "form[action$='/own'] button"
	p.connect(t, true)
	p.wait(t, "[data-offline]:not([hidden])", "Offline: nothing is sent.")
	p.click(t, save)
	p.wait(t, "[data-offline]:not([hidden]):focus", "")
	p.connect(t, false)
	p.wait(t, "[data-offline][hidden]", "")
	p.forgive("ERR_INTERNET_DISCONNECTED")
	busy := value(t, p.tab, chromedp.Evaluate[string](fmt.Sprintf(`(() => {
		const button = document.querySelector(%q), stay = event => event.preventDefault();
		addEventListener("submit", stay);
		button.click();
		removeEventListener("submit", stay);
		delete button.form.dataset.sent;
		return button.ariaBusy + " " + getComputedStyle(button, "::after").animationName;
	})()`, save)))
	testenv.Equal(t, "a button that works", "true turn", busy)
	p.click(t, save)
	p.wait(t, ".notice.good", "Your number and note are saved.")
	if note := value(t, p.tab, chromedp.Evaluate[string](`document.querySelector("[name=merchantNote]").value`)); note != "call first" {
		t.Errorf("the note is %q", note)
	}
}

// TestSendAgain sends a form whose answer does not come: whoever stops it sends it again, and whoever goes
// back from the error of the browser finds what was typed. Before, a page that was open for long says how
// much time is left.
func TestSendAgain(t *testing.T) {
	startBrowser(t)
	s := apptest.Start(t)
	s.Import(t, consoleOrder(1))
	p := newPerson(t, s, s.BaseURL)
	p.signInAs(t, 355)
	p.see(t, "/console/orders/C-1", ".left", "")
	p.do(t, `const real = Date.now; Date.now = () => real() + 3600000
		document.querySelector(".left").textContent = "stale"; `+stopUpdates+`
		setTimeout(() => document.dispatchEvent(new Event("visibilitychange")))`)
	p.wait(t, "[data-status]:empty", "")
	p.is(t, `!document.querySelector(".left").textContent.includes("stale")`)

	paused := make(chan fetch.RequestID, 2)
	testenv.NoError(t, chromedp.Listen(p.ctx, func(event any) {
		if event, ok := event.(*fetch.EventRequestPaused); ok {
			paused <- event.RequestID
		}
	}))
	command(t, p.tab, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "*/own*"}}})
	const save = "form[action$='/own'] button"
	p.click(t, "#own-data summary")
	p.click(t, "#merchantNote")
	p.press(t, "call first")
	p.do(t, `navigation.addEventListener("navigate", () => setTimeout(stop, 100), { once: true })`)
	p.click(t, save)
	<-paused
	p.is(t, `!document.querySelector("#own").dataset.sent && !document.querySelector("[aria-busy]")`)
	p.click(t, save)
	command(t, p.tab, fetch.FailRequest, fetch.FailRequestParams{RequestID: <-paused, ErrorReason: network.ErrorReasonConnectionReset})
	p.is(t, `location.protocol === "chrome-error:"`)
	command(t, p.tab, fetch.Disable, cdp.Empty{})
	p.do(t, "setTimeout(() => history.back(), 100)") // the answer comes before the page has ended
	p.is(t, `document.querySelector("#own-data[open] #merchantNote")?.value === "call first"`)
	p.click(t, save)
	p.wait(t, ".notice.good", "Your number and note are saved.")
	p.do(t, "history.back()")
	p.wait(t, "body:not(:has(.notice.good)) h1", "C-1")
	p.forgive("ERR_CONNECTION_RESET")
}

// arrivingOrder returns an order that is no part of the other journeys.
func arrivingOrder(n int) []byte {
	return ingesttest.Document(consoleOrders+jobOrders+1+n, func(document map[string]any) { register(document, fmt.Sprintf("N-%d", n), 0) })
}

// beNotified asks for notifications and leaves the page to itself. New orders arrive.
func (p *staff) beNotified(t *testing.T) {
	testenv.Of(chromedp.CallBrowser(p.ctx, chromium.SetPermission, chromium.SetPermissionParams{
		Permission: &chromium.PermissionDescriptor{Name: "notifications"}, Setting: chromium.PermissionSettingGranted, Origin: p.BaseURL,
	})).Must(t)
	p.see(t, "/console/new", "[data-notify]", "Notifications")
	before := value(t, p.tab, chromedp.Evaluate[int](`Number(document.body.dataset.new)`))
	p.waitTitle(t, before)
	value(t, p.tab, chromedp.Evaluate[bool](`(() => {
		const told = document.createElement("p"), real = Notification;
		told.id = "told";
		document.body.append(told);
		window.Notification = class extends real {
			constructor(text, options) {
				super(text, options);
				told.textContent = text;
				window.last = this;
			}
		};
		return true;
	})()`))
	p.click(t, "[data-notify]")
	p.wait(t, "#told", "You will be notified of new orders")
	// Nobody looks at the page, which goes on.
	value(t, p.tab, chromedp.Evaluate[bool](`Object.defineProperty(document, "hidden", {value: true}), document.dispatchEvent(new Event("visibilitychange"))`))
	p.Import(t, arrivingOrder(1))
	p.wait(t, "#told", "1 new order")
	p.waitTitle(t, before+1)
	p.Import(t, arrivingOrder(2))
	p.wait(t, "#told", "2 new orders")
	p.see(t, "/console/orders", "h1", "Orders")
	p.see(t, "/console/new", `[data-notify][aria-pressed="true"]`, "") // remembered
	p.click(t, "[data-notify]")
	p.wait(t, `[data-notify][aria-pressed="false"]`, "")
}

// waitTitle waits until the title has the number of new orders.
func (p *staff) waitTitle(t *testing.T, orders int) {
	t.Helper()
	p.run(t, chromedp.WaitReady(chromedp.CSS("title")))
	title := strings.Join(p.said(t, "New orders"), "")
	value(t, p.tab, chromedp.Poll[bool](fmt.Sprintf(`new RegExp(%q).test(document.title)`, fmt.Sprintf(`^\(%d\) (%s) · Merchant Orders$`, orders, title))))
}

// narrowed are the columns of a list, and of a slip, that are too narrow to read.
const narrowed = `[...document.querySelectorAll("tbody tr:first-child > *")].filter(cell => cell.clientWidth < cell.scrollWidth || cell.matches(".what, .packing th") && cell.clientWidth < 100 || cell.matches(".ref, .how") && cell.offsetHeight > 60).map(cell => cell.className || cell.tagName)`

// printList checks that a list is printed without what is around it, and that its columns, and
// those of a slip on a label, have room.
func (p *staff) printList(t *testing.T) {
	p.see(t, "/console/orders", "tbody .ref", "C-")
	command(t, p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	shown := value(t, p.tab, chromedp.Evaluate[[]string](
		`["table", ".bar", ".filter", ".actionbar", ".pages a", ".pick"].filter(part => document.querySelector(part).getClientRects().length > 0)`))
	testenv.Equal(t, "printed", []string{"table"}, shown)
	// An order has a second line where a name is long: 25 of them fill more than a page. A list that
	// does not begin on the first page needs one more.
	for _, paper := range []struct {
		path          string
		width, height float64 // in millimetres
		pages         int     // at most
	}{{"/console/orders", 210, 297, 2}, {"/console/orders/C-8/print", 210, 297, 1}, {"/console/orders/C-8/print", 100, 150, 1}, {"/console/orders/C-8/print", 80, 200, 1}} {
		p.see(t, paper.path, "tbody th", "")
		p.run(t, chromedp.EmulateViewport(int64(paper.width*3.2), 1000)) // without the margins
		testenv.Equal(t, fmt.Sprintf("narrow on %g mm of %s", paper.width, paper.path), []string{}, value(t, p.tab, chromedp.Evaluate[[]string](narrowed)))
		printed := testenv.Of(chromedp.Call(p.ctx, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: paper.width / 25.4, PaperHeight: paper.height / 25.4})).Must(t)
		if pages := bytes.Count(printed.Data, []byte("/Type /Page\n")); pages == 0 || pages > paper.pages {
			t.Errorf("%s takes %d pages of %g × %g mm", paper.path, pages, paper.width, paper.height)
		}
	}
	p.run(t, chromedp.EmulateReset())
	command(t, p.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// addPicture adds a picture over the limit, which the browser makes smaller.
func (p *user) addPicture(t *testing.T) {
	p.see(t, "/console/orders/C-5", "#file-help", "2 more files")
	p.do(t, `const canvas = Object.assign(document.createElement("canvas"), {width: 1300, height: 1300}), paper = canvas.getContext("2d");
		const noise = paper.createImageData(1300, 1300);
		for (let i = 0; i < noise.data.length; i += 65000) crypto.getRandomValues(noise.data.subarray(i, i + 65000));
		paper.putImageData(noise, 0, 0);
		canvas.toBlob(blob => {
			const chosen = new DataTransfer(), input = document.querySelector("#file");
			chosen.items.add(new File([blob], "photo.png"));
			input.files = chosen.files;
			input.dispatchEvent(new Event("change"));
		})`)
	p.wait(t, "[data-smaller]", "photo.png: made smaller, from ")
	p.click(t, ".upload button")
	p.wait(t, ".files a", "photo.jpg")
	// The size: live.js may show the file before the page of the form comes.
	p.wait(t, ".files li:last-child .help:not(:empty)", "")
}
