package console

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var verbs = regexp.MustCompile(`%[a-z]`)

// TestMessages checks that each message has a text in every language, with the same
// values, and that each key of a template or of the code has a message.
func TestMessages(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(string(messagesTSV)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 1+len(languages) || slices.Contains(fields, "") {
			t.Errorf("not a key and %d texts: %q", len(languages), line)
			continue
		}
		for _, text := range fields[2:] {
			testenv.Equal(t, "values of "+fields[0], verbs.FindAllString(fields[1], -1), verbs.FindAllString(text, -1))
		}
	}
	testenv.Equal(t, "keys", len(messages()["en"]), strings.Count(string(messagesTSV), "\n"))
	keys := []string{"event.order.created", "event.order.updated", "event.invoice.uploaded", "event.invoice.deleted"}
	for _, state := range order.States() {
		keys = append(keys, "state."+state.String())
	}
	for _, reason := range slices.Concat(order.Reasons, usualReasons) {
		if !reason.ValidFor(order.Canceled) {
			t.Errorf("%s is no reason", reason)
		}
		keys = append(keys, "reason."+string(reason))
	}
	for _, group := range groups {
		keys = append(keys, "chart."+group.name)
	}
	for _, name := range webhook.Errors {
		keys = append(keys, "delivery."+name)
	}
	for _, action := range AuditActions {
		e := order.AuditEntry{Action: order.AuditAction(action), SubjectID: 1}
		if kind, _, _ := strings.Cut(action, "."); kind == "order" || kind == "invoice" || kind == "customer" {
			e.Reference = "A-1"
		}
		if said := (language{code: "el"}).said(e); said.Before == action {
			t.Errorf("no words say what %s does", action)
		} else if said.Object != "" {
			keys = append(keys, said.Object)
		}
	}
	used := regexp.MustCompile(`\{\{[^}]*?\b(t|count) "([a-z0-9.-]+)"`)
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatal("no templates", err)
	}
	for _, file := range files {
		text := testenv.Of(os.ReadFile(file)).Must(t)
		for _, found := range used.FindAllStringSubmatch(string(text), -1) {
			switch key := found[2]; {
			case found[1] == "count":
				keys = append(keys, key+".one", key+".many")
			case !strings.HasSuffix(key, "."): // else completed by a value
				keys = append(keys, key)
			}
		}
	}
	for _, key := range keys {
		if _, ok := messages()["en"][key]; !ok {
			t.Errorf("there is no message %q", key)
		}
	}
}

// TestGreekGuide checks that the page for staff names buttons and pages as the console does.
func TestGreekGuide(t *testing.T) {
	t.Parallel()
	guide := testenv.Of(os.ReadFile("../../docs/guide/console-el.md")).Must(t)
	for _, name := range regexp.MustCompile(`«(.*?)»`).FindAllStringSubmatch(string(guide), -1) {
		if !slices.Contains(slices.Collect(maps.Values(messages()["el"])), name[1]) {
			t.Errorf("the console has no %q", name[1])
		}
	}
}

// TestTimeZones checks that stores may choose each zone of the list.
func TestTimeZones(t *testing.T) {
	t.Parallel()
	for _, group := range zoneGroups() {
		for _, name := range group.Zones {
			testenv.Equal(t, name, "", order.TimeZoneProblem(group.Name+"/"+name))
		}
	}
}

func TestLanguageOf(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "en", "el": "el", "EL-gr": "el", "de,el;q=0.5": "el", "en,el;q=0.9": "en", "en;q=0.1, el;q=0.2": "el", "fr": "en", "el;q=0": "en", "el;q=x": "en", ",;": "en",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", header)
		testenv.Equal(t, header, want, languageOf(r).code)
		r.AddCookie(&http.Cookie{Name: languageCookie, Value: "el"})
		testenv.Equal(t, fmt.Sprintf("%q with the switch", header), "el", languageOf(r).code)
	}
}

// TestFormats checks how people write amounts, sizes and times.
func TestFormats(t *testing.T) {
	t.Parallel()
	en, el := language{code: "en"}, language{code: "el"}
	noon := time.Date(2026, 5, 3, 12, 4, 0, 0, time.UTC)
	for _, row := range [][2]string{
		{en.money(123456789, "EUR"), "€1,234,567.89"},
		{en.money(-5, "EUR"), "-€0.05"},
		{en.money(1790, "JPY"), "JPY_1,790"},
		{en.money(-100, "SEK"), "SEK_-1.00"},
		{en.number(999), "999"},
		{en.number(-1000), "-1,000"},
		{en.size(4_000_000), "4_MB"},
		{en.size(1), "0.1_kB"},
		{en.size(2_345_678), "2.4_MB"},
		{en.clock(noon), "3_May_2026, 12:04_UTC"},
		{en.left(49 * time.Hour), "2 d 1 h"},
		{en.left(61 * time.Minute), "1 h 1 min"},
		{en.left(59 * time.Second), "0 min"},
		{en.count("orders.count", 1), "1 order"},
		{en.count("orders.count", 1234), "1,234 orders"},
	} {
		testenv.Equal(t, "number", row[1], strings.ReplaceAll(row[0], "\u00a0", "_"))
	}
	for _, row := range [][2]string{
		{el.money(123456789, "EUR"), "1.234.567,89_€"}, {el.money(-5, "EUR"), "-0,05_€"}, {el.money(1790, "JPY"), "1.790_JPY"},
		{el.size(2_345_678), "2,4_MB"}, {el.clock(noon), "3_Μαΐ_2026, 12:04_UTC"}, {el.count("orders.count", 1234), "1.234 παραγγελίες"},
	} {
		testenv.Equal(t, "decimal", row[1], strings.ReplaceAll(row[0], "\u00a0", "_"))
	}
}

// TestSaid checks who did something, as a sentence says it.
func TestSaid(t *testing.T) {
	t.Parallel()
	n := names{own: 7, staff: true, labels: map[int64]string{8: "Ελένη", 10: "Νίκος"}}
	for _, row := range []struct {
		by   order.Caller
		want [2]string // in English and Greek
	}{
		{order.Caller{Actor: order.ActorMerchant, TokenID: 7}, [2]string{"by you", "από εσάς"}},
		{order.Caller{Actor: order.ActorMerchant, TokenID: 8}, [2]string{"by Ελένη", "από: Ελένη"}},
		{order.Caller{Actor: order.ActorMerchant, TokenID: 9}, [2]string{"by your store, token 9", "από το κατάστημά σας, κλειδί 9"}},
		{order.Caller{Actor: order.ActorOperator, TokenID: 10}, [2]string{"by the marketplace, Νίκος", "από το marketplace, Νίκος"}},
		{order.Caller{Actor: order.ActorSystem}, [2]string{}},
	} {
		for i, code := range languages {
			l := language{code: code}
			view := l.event(order.EventRecord{Event: order.Event{Type: order.OrderStateChanged, To: order.Canceled, By: row.by}}, n)
			said := ""
			if view.By != "" {
				said = l.text(view.By)
			}
			if view.Named() {
				said += " " + view.Who
			}
			testenv.Equal(t, "said", row.want[i], said)
		}
	}
}

// TestChart checks the bars of a chart.
func TestChart(t *testing.T) {
	t.Parallel()
	today := order.DayOf(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	c := newChart([]order.DayCount{
		{Day: today - 1, State: order.Registered, Orders: 3}, {Day: today - 1, State: order.Canceled, Orders: 4},
		{Day: today, State: order.InProcessing, Orders: 1}, {Day: today, State: order.ReadyForShipment, Orders: 1},
	}, today)
	last, before := c.Days[chartDays-1], c.Days[chartDays-2]
	if c.Total != 9 || last.Orders != 2 || len(last.Bars) != 1 || before.Orders != 7 || len(before.Bars) != 2 {
		t.Errorf("total %d, today %+v, the day before %+v", c.Total, last, before)
	}
	base, sum := float64(chartHeight-chartBottom), 0.0
	for _, bar := range before.Bars {
		sum += bar.Height
		if bar.Y+bar.Height > base+0.01 || bar.Y < chartTop {
			t.Errorf("the bar %+v is outside", bar)
		}
	}
	if want := (base - chartTop) * 7 / 8; sum < want-0.01 || sum > want+0.01 {
		t.Errorf("the bars are %f high, want %f", sum, want)
	}
	for n, want := range map[int64]int64{0: 2, 1: 2, 3: 4, 7: 8, 9: 10, 11: 20, 61: 80, 100: 100, 1_000_001: 2_000_000} {
		testenv.Equal(t, fmt.Sprintf("niceCeiling(%d)", n), want, niceCeiling(n))
	}
}

func TestWebURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://shop.example/p?a=1": "https://shop.example/p?a=1", "http://x": "http://x", "": "", "javascript:alert(1)": "", "//x": "", "/p": "",
		"HTTPS://X/": "https://X/", "data:text/html,x": "", " https://x": "", "https://": "", "ftp://x": "", "https://x\n": "",
	} {
		testenv.Equal(t, text, want, webURL(text))
	}
}
