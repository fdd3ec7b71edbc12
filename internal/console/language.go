package console

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	bcp47 "golang.org/x/text/language"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// languages are the codes of the languages, in the order of the columns of
// messages.tsv. The first one is the default.
var languages = []string{"en", "el"}

// matcher finds the best of languages for a list of preferences.
var matcher = bcp47.NewMatcher(web.Collect(languages, bcp47.MustParse))

// messagesTSV has a message a line: its key and its text in each language, separated
// by tabs. Verbs such as %s stand for values, and names in braces for limits.
//
//go:embed messages.tsv
var messagesTSV []byte

// messages returns the texts of each language by key.
var messages = sync.OnceValue(func() map[string]map[string]string {
	limits := strings.NewReplacer(
		"{invoices}", strconv.Itoa(order.MaxInvoices),
		"{invoice MB}", strconv.Itoa(order.MaxInvoiceSize/1_000_000),
		"{invoice files}", strconv.Itoa(maxInvoiceFiles),
		"{form MB}", strconv.Itoa(maxUploadForm/1_000_000))
	all := make(map[string]map[string]string)
	for _, code := range languages {
		all[code] = make(map[string]string)
	}
	for lines := bufio.NewScanner(bytes.NewReader(messagesTSV)); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		for i, code := range languages {
			if i+1 < len(fields) {
				all[code][fields[0]] = limits.Replace(fields[i+1])
			}
		}
	}
	return all
})

// language writes texts, amounts and times as people of a language do.
type language struct {
	code string
	// zone is the time zone of a store. nil: UTC, and that of the browser where scripts run.
	zone *time.Location
}

// text returns a message with its values. An unknown key is returned unchanged, which
// tests find.
func (l language) text(key string, values ...any) string {
	text, ok := messages()[l.code][key]
	if !ok {
		return key
	}
	if len(values) == 0 {
		return text
	}
	return fmt.Sprintf(text, values...)
}

// count returns the message for a number of things, which has a form for one and a
// form for all other numbers.
func (l language) count(key string, n int64) string {
	if n == 1 {
		return l.text(key + ".one")
	}
	return l.text(key+".many", l.number(n))
}

// number writes a whole number with separated thousands.
func (l language) number(n int64) string { return l.group(strconv.FormatInt(n, 10)) }

// group separates the thousands of a number that is plain digits.
func (l language) group(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + l.text("number.thousands") + digits[i:]
	}
	return digits
}

// symbols are the currencies that people write with a symbol.
var symbols = map[string]string{"EUR": "€", "USD": "$", "GBP": "£"}

// money writes an amount in minor units as people do: €1,234.50 in English, 1.234,50 €
// in Greek.
func (l language) money(amount int64, currency string) string {
	whole, fraction, hasFraction := strings.Cut(order.Decimal(amount, currency), ".")
	text := l.group(whole)
	if hasFraction {
		text += l.text("number.decimal") + fraction
	}
	symbol, ok := symbols[currency]
	switch {
	case l.code == "el" && ok:
		return text + "\u00a0" + symbol
	case l.code == "el":
		return text + "\u00a0" + currency
	case !ok:
		return currency + "\u00a0" + text
	case strings.HasPrefix(text, "-"):
		return "-" + symbol + text[1:]
	}
	return symbol + text
}

// size writes the size of a file in kB or MB, with one digit after the point at most.
func (l language) size(bytes int64) string {
	unit, divisor := "kB", int64(1000)
	if bytes >= 1_000_000 {
		unit, divisor = "MB", 1_000_000
	}
	tenths := (bytes*10 + divisor - 1) / divisor // never 0 for a file with content
	text := l.number(tenths / 10)
	if tenths%10 != 0 {
		text += l.text("number.decimal") + strconv.FormatInt(tenths%10, 10)
	}
	return text + "\u00a0" + unit
}

// dayMonth writes a day without its year: 22 Nov.
func (l language) dayMonth(t time.Time) string {
	return strconv.Itoa(t.Day()) + "\u00a0" + strings.Fields(l.text("date.months"))[t.Month()-1]
}

// day writes a day: 22 Nov 2026.
func (l language) day(t time.Time) string {
	return l.dayMonth(t) + "\u00a0" + strconv.Itoa(t.Year())
}

// dayOf writes the day of a moment.
func (l language) dayOf(t time.Time) string { return l.day(order.DayIn(t, l.zone).Start()) }

// clock writes a moment. The page says which time zone a store has.
func (l language) clock(t time.Time) string {
	if l.zone == nil || l.zone == time.UTC {
		return l.day(t) + ", " + t.Format("15:04") + "\u00a0UTC"
	}
	return l.dayOf(t) + ", " + t.In(l.zone).Format("15:04")
}

// inBrowser reports whether a script shows times in the time zone of the browser.
func (l language) inBrowser() bool { return l.zone == nil }

// left writes how long it is until a time, in the two largest units.
func (l language) left(d time.Duration) string {
	minutes := int64(d / time.Minute)
	switch {
	case minutes >= 24*60:
		return l.text("left.days", minutes/(24*60), minutes/60%24)
	case minutes >= 60:
		return l.text("left.hours", minutes/60, minutes%60)
	}
	return l.text("left.minutes", minutes)
}

const languageCookie = "language"

// languageOf returns the language of a request: that of the switch, else the one that
// the browser prefers.
func languageOf(r *http.Request) language {
	chosen := ""
	if cookie, err := r.Cookie(languageCookie); err == nil {
		chosen = cookie.Value
	}
	_, i := bcp47.MatchStrings(matcher, chosen, r.Header.Get("Accept-Language"))
	return language{code: languages[i]}
}

// setLanguage serves POST /language, the switch.
func (s *site) setLanguage(w http.ResponseWriter, r *web.Request) error {
	form, err := web.ReadForm(r, web.MaxBody)
	if err != nil {
		return err
	}
	if code := form.Get("language"); messages()[code] != nil {
		http.SetCookie(w, &http.Cookie{
			Name: languageCookie, Value: code, Path: "/", MaxAge: 365 * 24 * 60 * 60,
			Secure: s.secure(r.Request), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	}
	back := form.Get("back")
	if back != "/" {
		back = localPath(back)
	}
	return s.redirect(w, r, back)
}
