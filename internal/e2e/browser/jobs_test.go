package browser

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/testenv"
)

// printed says how many papers were printed, without a dialog.
const printed = `window.print = () => { document.documentElement.dataset.printed = document.querySelectorAll("main > .sheet").length }`

// wantPrinted waits for a page of papers, of which a number is printed. WebKit's driver replaces no
// function before a page calls it.
func (p *user) wantPrinted(t *testing.T, papers int, title string) {
	t.Helper()
	p.wait(t, "h1", title)
	p.is(t, fmt.Sprintf(`String(print).includes("[native code]") || document.documentElement.dataset.printed === "%d"`, papers))
}

// beFarAway puts the person 150 ms away, which other browsers cannot.
func (p *staff) beFarAway(t *testing.T) {
	t.Helper()
	command(t, p.tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Latency: 150, DownloadThroughput: -1, UploadThroughput: -1}},
	})
}

// belowScreen is what of an order is below the first screen of a desktop of 1440 × 900.
const belowScreen = `[".title", ".answer", ".items", ".sums", "[data-live=history]", ".facts > :last-child", "#own-data", "[data-live=files]"].filter(part => document.querySelector(part)?.getBoundingClientRect().bottom + scrollY > 900)`

// doJobs does what staff do every day, and counts the clicks from the page on that a person
// works with.
func (p *user) doJobs(t *testing.T) {
	const queue = "/console/new"
	row := func(n int) string { return fmt.Sprintf("tbody tr:nth-child(%d) input[name=order]", n) }
	p.job(t, "caller by surname", 2, queue, func() {
		p.search(t, "καραγιαννη")
		p.wait(t, ".find dialog a", "S-1")
		p.click(t, ".find dialog a")
		p.wait(t, "h1", "S-1")
		testenv.Equal(t, "parts of an order below the screen", []string{}, evaluate[[]string](t, p, belowScreen))
	})
	p.job(t, "caller by reference, and answer", 2, queue, func() {
		p.search(t, "J-023")
		p.press(t, "\r")
		p.wait(t, "h2", "1 order found")
		p.click(t, "tbody a")
		p.wait(t, "h1", "J-023")
		testenv.Equal(t, "parts of a new order below the screen", []string{}, evaluate[[]string](t, p, belowScreen))
		p.click(t, ".answer .primary")
		p.wait(t, ".notice.good", "The order is accepted.")
	})
	p.job(t, "reject two with one reason", 6, queue, func() {
		p.click(t, row(1))
		p.click(t, row(2))
		p.click(t, "#reject summary")
		p.click(t, "[value=damaged]")
		p.wait(t, "#reject button", "Reject 2 orders")
		p.click(t, "#reject button")
		p.wait(t, "h1", "Reject 2 orders?")
		p.click(t, "main .danger")
		p.wait(t, ".notice.good", "2 orders were rejected.")
	})
	var references []string
	p.job(t, "accept 20 of 350 and print their slips", 4, queue, func() {
		p.wait(t, "h2", "350 orders")
		p.click(t, row(1))
		p.clicks++
		p.do(t, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true, cancelable: true }))`, row(20)))
		p.wait(t, "output", "20 selected")
		p.click(t, ".actionbar .primary")
		p.wait(t, "h1", "Accept 20 orders?")
		p.click(t, "main [name=then]")
		p.wantPrinted(t, 20, "20 packing slips")
		references = evaluate[[]string](t, p, `[...document.querySelectorAll(".sheet > h2")].map(title => title.innerText.trim())`)
	})
	p.job(t, "pick list of the 21 to ship", 2, "/console/ship", func() {
		p.click(t, "[data-select-all] input")
		p.wait(t, "output", "21 selected")
		p.click(t, `.actionbar [formaction$="/pick"]`)
		p.wantPrinted(t, 1, "Pick list")
	})
	p.job(t, "slips of all 330 of a view", 2, "/console/orders?state=registered", func() {
		p.click(t, "[data-all]")
		p.wait(t, "output", "330 selected")
		p.click(t, `.actionbar [formaction$="/print"]`)
		p.wantPrinted(t, 330, "330 packing slips")
	})
	p.job(t, "ten invoices", 4, queue, func() {
		p.click(t, ".title a")
		p.wait(t, "h1", "Add invoices")
		var files []string
		for _, reference := range references[:10] {
			files = append(files, reference+".pdf", `"x"`)
		}
		p.fill(t, files...)
		p.clicks += 2
		p.wait(t, "[data-match] tr:nth-child(10) td", "Ready")
		p.click(t, ".upload button")
		p.wait(t, ".notice.good", "10 invoices are stored.")
	})
	p.job(t, "reject all 330 for one reason", 5, queue, func() {
		p.click(t, "[data-all]")
		p.click(t, "#reject summary")
		p.click(t, "[value=damaged]")
		p.click(t, "#reject button")
		p.wait(t, "h1", "Reject 330 orders?")
		p.click(t, "main .danger")
		p.wait(t, ".notice.good", "330 orders were rejected.")
	})
	p.job(t, "last month for the accountant", 2, queue, func() {
		p.click(t, `.tabs a[href="/console/orders"]`)
		p.wait(t, ".exports", "Excel")
		folder := p.downloads(t)
		p.click(t, `.exports a[href*=".xlsx?from="]`)
		testenv.Sheet(t, p.downloaded(t, filepath.Join(folder, "*.xlsx")), "1")
	})
}

// cutCells gives the first order of a list the longest state and time left, and returns the
// cells that are cut, by how many pixels; customer and items may be.
const cutCells = `(() => {
	const row = document.querySelector("tbody tr");
	for (const state of row.querySelectorAll(".state")) state.textContent = "Σε σημείο παραλαβής";
	for (const left of row.querySelectorAll(".left")) [left.textContent, left.className] = ["Εκπρόθεσμη", "left late"];
	row.querySelector("th a").textContent = "SF-2026-000123";
	return [...row.querySelectorAll(".ref, .how, .when")].filter(cell => cell.scrollWidth > cell.clientWidth)
		.map(cell => cell.innerText + " by " + (cell.scrollWidth - cell.clientWidth)).join(", ");
})()`

// longNames gives the header two long names and the first order a long reference, and returns
// what is too narrow then.
const longNames = `(() => {
	const reference = document.querySelector("tbody .ref");
	reference.querySelector("a").textContent = "SF-2026-0000103";
	if (reference.scrollWidth > reference.clientWidth) return "reference";
	if (document.documentElement.scrollWidth > innerWidth) return "page";
	const names = document.querySelector(".merchant"), search = document.querySelector(".find input");
	names.innerHTML = "<span>Καταστήματα Παπαδοπούλου και Υιοί</span> <bdi>Αικατερίνη Παπακωνσταντίνου</bdi>";
	return [search, ...names.children].filter((e, i) => e.clientWidth < (i ? 80 : 145) || document.querySelector(".bar").clientHeight > 70).map(e => e.tagName + " " + e.clientWidth).join(", ");
})()`

// hiddenCells are the classes of the cells that the first order of a list does not show.
const hiddenCells = `[...document.querySelectorAll("tbody tr:first-child td")].filter(cell => !cell.checkVisibility()).map(cell => cell.className).join(", ")`

// seeFirstOrder checks that the lists show their first order without scrolling on a phone, on a
// tablet, and on a desktop of 1280 × 800, also at 200 %, are not wider than the screen, and hide
// no column but on the phone.
func (p *staff) seeFirstOrder(t *testing.T, lists ...string) {
	t.Helper()
	for _, screen := range [][2]int64{{390, 844}, {320, 844}, {768, 1024}, {640, 400}, {961, 600}} {
		p.run(t, chromedp.EmulateViewport(screen[0], screen[1]))
		for _, path := range lists {
			p.see(t, path, "tbody th", "J-")
			if bottom := value(t, p.tab, chromedp.Evaluate[float64](`document.querySelector("tbody tr").getBoundingClientRect().bottom`)); bottom > float64(screen[1]) {
				t.Errorf("the first order of %s ends at %g of %d pixels", path, bottom, screen[1])
			}
			if wide := value(t, p.tab, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > screen[0] {
				t.Errorf("%s is %d wide on a screen of %d", path, wide, screen[0])
			}
			if cut := value(t, p.tab, chromedp.Evaluate[string](cutCells)); cut != "" {
				t.Errorf("%s cuts %s on a screen of %d", path, cut, screen[0])
			}
			if hidden := value(t, p.tab, chromedp.Evaluate[string](hiddenCells)); hidden != "" && screen[0] >= 600 {
				t.Errorf("%s hides %s on a screen of %d", path, hidden, screen[0])
			}
			if high := value(t, p.tab, chromedp.Evaluate[int64](`((document.querySelector("[data-all]") ?? document.querySelector("[data-select-all] input")).click(), document.querySelector(".actionbar").offsetHeight)`)); high > 120 { // two lines
				t.Errorf("the bar of %s is %d high on a screen of %d", path, high, screen[0])
			}
		}
	}
	p.run(t, chromedp.EmulateViewport(1440, 900))
}

// seeColumns checks the height of an order on a phone, and the columns of lists.
func (p *staff) seeColumns(t *testing.T) {
	t.Helper()
	for _, language := range []string{"en", "el"} {
		p.speak(t, language)
		p.run(t, chromedp.EmulateViewport(390, 844))
		p.see(t, "/console/orders/J-001", "h1", "J-001")
		if height := value(t, p.tab, chromedp.Evaluate[float64](`document.documentElement.scrollHeight / 844`)); height > 1.5 {
			t.Errorf("%s: an order takes %.2f screens of a phone", language, height)
		}
		p.see(t, "/console/pick?order=J-001", "tbody th", "")
		if wide := value(t, p.tab, chromedp.Evaluate[int64](`document.querySelector("tbody th").clientWidth`)); wide < 200 {
			t.Errorf("%s: a product of a pick list is %d wide on a phone", language, wide)
		}
		for _, width := range []int64{1440, 1280} {
			p.run(t, chromedp.EmulateViewport(width, 900))
			for _, path := range []string{"/console/new", "/console/orders"} {
				p.see(t, path, "tbody th", "J-")
				if cut := value(t, p.tab, chromedp.Evaluate[string](longNames)); cut != "" {
					t.Errorf("%s: two long names at %d: %s", language, width, cut)
				}
			}
		}
	}
}
