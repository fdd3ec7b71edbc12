package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// user is a person at the console with any browser.
type user struct {
	engine
	*apptest.Server
	BaseURL  string // of the port that the person uses
	language string // of the pages; empty: English
	token    string // that the person signed in with
	clicks   int    // so far; choosing files in the dialog of the browser counts two
}

// is waits until an expression is true. Between two pages there is an error.
func (p *user) is(t *testing.T, condition string) {
	t.Helper()
	met := false
	defer func() {
		if !met {
			shown, err := p.script(`location.href + " " + document.body.innerText.slice(0, 900)`)
			t.Log("the page says", shown, err)
		}
	}()
	testenv.Eventually(t, condition, func() bool {
		got, err := p.script("String(" + condition + ")")
		met = err == nil && got == "true"
		return met
	})
}

// wait waits for an element that contains an English text, in the language of the person, on a
// page that is complete.
func (p *user) wait(t *testing.T, selector, text string) {
	t.Helper()
	said := testenv.Of(json.Marshal(p.said(t, text))).Must(t)
	p.is(t, fmt.Sprintf(`document.readyState === "complete" && [...document.querySelectorAll(%q)].some(e => %s.every(said => new RegExp(said).test(e.innerText)))`, selector, said))
}

// see opens a page and waits for an element that contains a text.
func (p *user) see(t *testing.T, path, selector, text string) {
	t.Helper()
	// A form that is being sent ends the navigation.
	testenv.Eventually(t, path, func() bool { return p.visit(p.BaseURL+path) == nil })
	p.wait(t, selector, text)
}

// evaluate returns what an expression gives.
func evaluate[T any](t *testing.T, p *user, expression string) (got T) {
	t.Helper()
	text := testenv.Of(p.script("JSON.stringify(" + expression + ")")).Must(t)
	testenv.NoError(t, json.Unmarshal([]byte(text), &got))
	return got
}

// do runs a statement on the page.
func (p *user) do(t *testing.T, statement string) {
	t.Helper()
	testenv.Of(p.script("(() => { " + statement + `; return "" })()`)).Must(t)
}

// set gives a field a value.
func (p *user) set(t *testing.T, selector, value string) {
	t.Helper()
	p.do(t, fmt.Sprintf(`const field = document.querySelector(%q); field.value = %q; field.dispatchEvent(new Event("change", { bubbles: true }))`, selector, value))
}

// focus gives an element the focus.
func (p *user) focus(t *testing.T, selector string) {
	t.Helper()
	p.do(t, fmt.Sprintf("document.querySelector(%q).focus()", selector))
}

// press presses keys where the focus is.
func (p *user) press(t *testing.T, keys string) {
	t.Helper()
	testenv.NoError(t, p.strike(false, keys))
}

// search types a text into the search, to which / leads.
func (p *user) search(t *testing.T, text string) {
	t.Helper()
	p.press(t, "/")
	p.wait(t, "#q:focus", "")
	p.press(t, text)
}

// click clicks an element with the mouse.
func (p *user) click(t *testing.T, selector string) {
	t.Helper()
	p.clicks++
	p.is(t, fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, selector))
	place := evaluate[[2]int](t, p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({ block: "center", behavior: "instant" }); const box = e.getBoundingClientRect(); return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)] })()`, selector))
	testenv.NoError(t, p.point(place[0], place[1], true))
}

// clickTwice clicks a button, and again while the browser waits for the next page. The
// second click cannot hit that page, as one with the mouse can.
func (p *user) clickTwice(t *testing.T, selector string) {
	t.Helper()
	p.do(t, fmt.Sprintf(`const button = document.querySelector(%q); button.click(); setTimeout(() => button.click(), 1)`, selector))
}

// fill chooses files, names and contents in turn.
func (p *user) fill(t *testing.T, files ...string) {
	t.Helper()
	var script strings.Builder
	script.WriteString("const chosen = new DataTransfer();")
	for i := 0; i < len(files); i += 2 {
		fmt.Fprintf(&script, "chosen.items.add(new File([%s], %q));", files[i+1], files[i])
	}
	p.do(t, script.String()+`const input = document.querySelector("#file"); input.files = chosen.files; input.dispatchEvent(new Event("change"))`)
}

// choose chooses files and sends them.
func (p *user) choose(t *testing.T, files ...string) {
	t.Helper()
	p.fill(t, files...)
	p.click(t, ".upload button")
}

// signIn signs in with a token.
func (p *user) signIn(t *testing.T, token string) {
	t.Helper()
	p.see(t, "/", "#token", "")
	p.typeToken(t, token)
	p.wait(t, ".tabs", "")
	p.token = token
}

// signInAs signs in with a new token of a merchant, which may do everything.
func (p *user) signInAs(t *testing.T, merchant int) {
	t.Helper()
	p.signIn(t, p.Folder.Token(t, "--merchant", strconv.Itoa(merchant), "--scopes", allScopes))
}

// typeToken signs in on the page that is open.
func (p *user) typeToken(t *testing.T, token string) {
	t.Helper()
	p.set(t, "#token", token)
	p.click(t, "form:has(#token) button")
}

// wantEvents checks how many events of a type an order has.
func (p *user) wantEvents(t *testing.T, reference, event string, want int) {
	t.Helper()
	events := testenv.Send(t, p.Token, http.MethodGet, p.BaseURL+"/v2/orders/"+reference+"/events", "")
	if got := strings.Count(events.Body, `"type":"`+event+`"`); events.Status != http.StatusOK || got != want {
		t.Errorf("%s has %d events %s, want %d: %+v", reference, got, event, want, events)
	}
}

// accept accepts an order through the interface.
func (p *user) accept(t *testing.T, reference string) {
	t.Helper()
	testenv.Send(t, p.Token, http.MethodPatch, p.BaseURL+"/v2/orders/"+reference+"/accept", "").WantStatus(t, http.StatusOK)
}

// downloaded waits until the browser has stored a file, and returns its content. The
// file has another name until it is whole.
func (p *user) downloaded(t *testing.T, pattern string) (content []byte) {
	t.Helper()
	testenv.Eventually(t, pattern, func() bool {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			return false
		}
		content, err = os.ReadFile(found[0])
		return err == nil && len(content) > 0 && os.Remove(found[0]) == nil
	})
	return content
}

// job does a job that takes a number of clicks, from a page on.
func (p *user) job(t *testing.T, name string, want int, path string, do func()) {
	t.Helper()
	p.see(t, path, "h1", "")
	p.clicks = 0
	begin := time.Now()
	do()
	t.Logf("%s: %d clicks, %.1f s", name, p.clicks, time.Since(begin).Seconds())
	if p.clicks > want {
		t.Errorf("%s takes %d clicks, want %d", name, p.clicks, want)
	}
}
