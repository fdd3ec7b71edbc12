package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"
)

// TestConsole goes through the console as a merchant's staff do, on each database.
func TestConsole(t *testing.T) {
	for _, kind := range []string{"SQLite", "PostgreSQL"} {
		t.Run(kind, func(t *testing.T) {
			startBrowser(t) // skips the test without one
			var settings []string
			if kind == "PostgreSQL" {
				settings = []string{"--database", pgtest.Database(t), "--storage", "file://" + t.TempDir()}
			}
			s := apptest.StartWith(t, settings)
			var documents [][]byte
			for n := range 30 {
				documents = append(documents, consoleOrder(n+1))
			}
			s.Import(t, documents...)
			p := &staff{tab: open(t, s.BaseURL), Server: s}
			signIn(t, p.tab, s.BaseURL, s.Token)
			p.findOrders(t)
			p.answerOrders(t)
			p.addFiles(t, "/console/orders/C-1")
			p.seeChange(t)
			p.signOut(t)
		})
	}
}

// consoleOrder returns a registered order, the first ones the newest.
func consoleOrder(n int) []byte {
	return ingesttest.Document(n, func(document map[string]any) {
		created := time.Now().UTC().Add(-time.Duration(n) * time.Hour)
		document["reference"], document["state"] = fmt.Sprintf("C-%d", n), "registered"
		document["createdAt"], document["expiresAt"] = created.Format(time.RFC3339), created.Add(48*time.Hour).Format(time.RFC3339)
	})
}

// staff is a person at the console.
type staff struct {
	*tab
	*apptest.Server
}

// see opens a page and waits for an element that contains a text.
func (p *staff) see(t *testing.T, path, selector, text string) {
	t.Helper()
	p.run(t, chromedp.Navigate(p.BaseURL+path))
	p.wait(t, selector, text)
}

// wait waits for an element that contains a text.
func (p *staff) wait(t *testing.T, selector, text string) {
	t.Helper()
	condition := fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(%q)].some(e => e.innerText.includes(%q))`, selector, text)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	said := ""
	for {
		// An error means that the browser is between two pages.
		if found, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](condition)); err == nil && found {
			return
		}
		if text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`location.href + " " + document.body.innerText`)); err == nil {
			said = text
		}
		select {
		case <-poll.C:
		case <-p.ctx.Done():
			t.Fatalf("no %s with %q; the page says %.900q; faults so far: %q", selector, text, said, p.seen())
		}
	}
}

func (p *staff) click(t *testing.T, selector string) {
	t.Helper()
	p.run(t, chromedp.Click(chromedp.CSS(selector)))
}

func (p *staff) findOrders(t *testing.T) {
	p.see(t, "/console", "h2", "New orders")
	p.see(t, "/console/orders", "h2", "30 orders")
	p.run(t, chromedp.SendKeys(chromedp.CSS("#q"), "C-17"))
	p.click(t, ".filter button")
	p.wait(t, "tbody a", "C-17")
	p.click(t, "tbody a")
	p.wait(t, "h1", "C-17")
	p.see(t, "/console/orders?state=registered&page=2", ".where", "26–30 of 30")
}

func (p *staff) answerOrders(t *testing.T) {
	p.see(t, "/console/orders/C-1", "h2", "waits for your answer")
	p.click(t, ".answer .primary")
	p.wait(t, ".notice", "The order is accepted.")
	p.see(t, "/console/orders/C-2", "h2", "waits for your answer")
	p.click(t, ".reject summary")
	p.run(t, chromedp.SendKeys(chromedp.CSS("#reason"), "Damaged"))
	p.click(t, ".reject form button")
	p.wait(t, ".notice", "The order is rejected.")
	p.wait(t, ".history", "Damaged")
}

// choose chooses files, names and contents in turn, and sends them.
func (p *staff) choose(t *testing.T, files ...string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("(() => { const chosen = new DataTransfer();")
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(&script, "chosen.items.add(new File([%s], %q));", files[i+1], files[i])
	}
	script.WriteString(`const input = document.querySelector("#file"); input.files = chosen.files; input.dispatchEvent(new Event("change")); return true })()`)
	value(t, p.tab, chromedp.Evaluate[bool](script.String()))
	p.click(t, ".upload button")
}

func (p *staff) addFiles(t *testing.T, path string) {
	p.see(t, path, "#file-help", "3 more files")
	p.choose(t, "a.exe", `"x"`)
	p.wait(t, "[data-problem]", "not a PDF")
	p.choose(t, "big.pdf", `new Uint8Array(4000001)`)
	p.wait(t, "[data-problem]", "larger than 4 MB")
	p.choose(t, "1.pdf", `"x"`, "2.pdf", `"x"`, "3.pdf", `"x"`, "4.pdf", `"x"`)
	p.wait(t, "[data-problem]", "at most 3 files")
	p.choose(t, "1.pdf", `"x"`, "2.png", `"x"`, "3.jpg", `"x"`)
	p.wait(t, ".notice", "The files are stored.")
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

// seeChange sees a change that is made through the interface.
func (p *staff) seeChange(t *testing.T) {
	p.see(t, "/console/orders/C-3", "h2", "waits for your answer")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, p.BaseURL+"/v2/orders/C-3/accept", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	p.wait(t, ".title", "In processing")
}

func (p *staff) signOut(t *testing.T) {
	p.see(t, "/console", ".account", "Sign out")
	p.click(t, `form[action="/console/sign-out"] button`)
	p.wait(t, "h1", "Sign in")
	p.see(t, "/console/orders/C-1", "h1", "Sign in")
	if result := p.Run(t, "", "token", "revoke", p.Token); result.Code != 0 {
		t.Fatal(result.Stderr)
	}
	p.run(t, chromedp.SendKeys(chromedp.CSS("#token"), p.Token))
	p.click(t, "main button")
	p.wait(t, ".field-problem", "not valid")
	p.forgive("status of 403")
}
