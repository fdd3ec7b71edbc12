package browser

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"merchantorders/internal/testenv"
)

// doJobs does what staff do every day, in Greek, and counts the clicks from the page of new
// orders on.
func (p *staff) doJobs(t *testing.T) {
	command(t, p.tab, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	p.speak(t, "el")
	p.signIn(t, p.Folder.Token(t, "--merchant", strconv.Itoa(jobMerchant), "--scopes", allScopes))

	p.seeFirstOrder(t)
	p.job(t, "find and answer a caller", 2, func() {
		p.search(t, "J-23")
		p.press(t, kb.Enter)
		p.wait(t, "h2", "Βρέθηκε 1 παραγγελία")
		p.click(t, "tbody a")
		p.wait(t, "h1", "J-23")
		p.click(t, ".answer .primary")
		p.wait(t, ".notice.good", "Η παραγγελία έγινε αποδεκτή.")
	})
	p.job(t, "reject two with one reason", 6, func() {
		p.click(t, `input[value="J-1"]`)
		p.click(t, `input[value="J-2"]`)
		p.click(t, "#reject summary")
		p.click(t, "[value=damaged]")
		p.click(t, "#reject button")
		p.wait(t, "h1", "Απόρριψη 2 παραγγελιών;")
		p.click(t, "main .danger")
		p.wait(t, ".notice.good", "Απορρίφθηκαν 2 παραγγελίες.")
	})
	p.job(t, "accept 20 and print their slips", 5, func() {
		p.click(t, "[data-select-all] input")
		p.wait(t, "output", "20 επιλεγμένες")
		p.click(t, ".actionbar .primary")
		p.wait(t, "h1", "Αποδοχή 20 παραγγελιών;")
		p.click(t, "main .primary")
		p.wait(t, ".notice.good", "Έγινε αποδοχή 20 παραγγελιών.")
		p.click(t, ".notice.good .primary")
		p.wait(t, "h1", "20 δελτία συσκευασίας")
		value(t, p.tab, chromedp.Evaluate[bool](`window.print = () => { document.title = "printed" }; true`))
		p.click(t, "[data-print]")
		if !value(t, p.tab, chromedp.Evaluate[bool](`document.title === "printed" && document.querySelectorAll(".sheet").length === 20`)) {
			t.Error("20 slips are not printed")
		}
	})
	p.job(t, "ten invoices", 4, func() {
		p.click(t, ".title a")
		p.wait(t, ".ref", "J-20")
		var files []string
		for n := range 10 {
			files = append(files, fmt.Sprintf("J-%d.pdf", n+3), `"x"`)
		}
		p.fill(t, files...)
		p.clicks += 2
		p.wait(t, "[data-match] tr:nth-child(10) td", "Έτοιμο")
		p.click(t, ".upload button")
		p.wait(t, ".notice.good", "Αποθηκεύτηκαν 10 τιμολόγια.")
	})
	folder := p.downloads(t)
	p.job(t, "last month for the accountant", 3, func() {
		p.click(t, `.tabs a[href="/console/orders"]`)
		p.wait(t, ".exports", "Excel")
		p.click(t, ".exports a:nth-of-type(2)")
		p.wait(t, `.exports [aria-current="true"]`, "Προηγούμενος μήνας")
		p.click(t, `.exports a[href*=".xlsx"]`)
	})
	if sheet := testenv.Sheet(t, p.downloaded(t, filepath.Join(folder, "παραγγελίες *.xlsx")), "1"); sheet[0][0] != "Παραγγελία" {
		t.Errorf("the workbook begins with %q", sheet[0])
	}
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

// hiddenCells are the classes of the cells that the first order of a list does not show.
const hiddenCells = `[...document.querySelectorAll("tbody tr:first-child td")].filter(cell => !cell.checkVisibility()).map(cell => cell.className).join(", ")`

// seeFirstOrder checks that the lists show their first order without scrolling on a phone, on a
// tablet, and on a desktop of 1280 × 800, also at 200 %, are not wider than the screen, and hide
// no column but on the phone.
func (p *staff) seeFirstOrder(t *testing.T) {
	t.Helper()
	for _, screen := range [][2]int64{{390, 844}, {768, 1024}, {640, 400}, {961, 600}} {
		p.run(t, chromedp.EmulateViewport(screen[0], screen[1]))
		for _, path := range []string{"/console/new", "/console/orders"} {
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
		}
	}
	p.run(t, chromedp.EmulateViewport(390, 844))
	p.see(t, "/console/orders/J-1", "h1", "J-1")
	if height := value(t, p.tab, chromedp.Evaluate[float64](`document.documentElement.scrollHeight / 844`)); height > 1.6 {
		t.Errorf("an order takes %.2f screens of a phone", height)
	}
	p.run(t, chromedp.EmulateViewport(1280, 900))
}

// job does a job that takes a number of clicks.
func (p *staff) job(t *testing.T, name string, want int, do func()) {
	t.Helper()
	p.see(t, "/console/new", "h1", "Νέες παραγγελίες")
	p.clicks = 0
	do()
	t.Logf("%s: %d clicks", name, p.clicks)
	if p.clicks > want {
		t.Errorf("%s takes %d clicks, want %d", name, p.clicks, want)
	}
}
