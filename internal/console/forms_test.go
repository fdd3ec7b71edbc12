package console_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// Wrong values by the kind of a field.
var (
	wrongIDs     = []string{"x", "-1", "0", "1.5", "1 2", "99999999999999999999", "<b>", "١"}
	wrongLines   = []string{"a\nb", "a\x00b", "\xff", "a\tb", strings.Repeat("Ω", 10_001)}
	wrongURLs    = []string{"", "x", "http://example.com", "javascript:alert(1)", "https://", "https://u:p@example.com", "https://localhost", "https://exa mple.com/", "//example.com", strings.Repeat("https://example.com/", 500)}
	wrongTimes   = []string{"x", "2026-13-01T00:00", "2026-01-01", "2026-01-01T25:00", "<b>"}
	wrongDays    = []string{"x", "2026-02-30", "01/02/2026", "<b>", "2026-1-1"}
	wrongTexts   = []string{strings.Repeat("Ω", 10_001), "a\x00b", "\xff"}
	wrongChoices = []string{"no such thing", "<b>", "\xff"}
	wrongZones   = []string{"Athens", "<b>", "\xff", "Local", "../UTC"}
	wrongQuery   = []string{strings.Repeat("Ω", 300), "\xff"}
	wrongRefs    = []string{"%", "a b", "../x", strings.Repeat("A", 300), "Ω", "a\x00"}
)

// formCase is a form with values that are accepted, and wrong values of each field.
type formCase struct {
	page, action string // the same for a filter, which is sent with GET
	valid        url.Values
	wrong        map[string][]string
	missing      []string // fields that must be filled in
}

// Values of the forms of a webhook.
var (
	newWebhook     = url.Values{"url": {"https://example.com"}, "description": {"A"}, "type": {"order.created"}, "include": {"order"}, "batch": {"100"}, "headers": {"X-Api-Key: a"}, "username": {"u"}, "password": {"p"}}
	changedWebhook = url.Values{"do": {"change"}, "url": {"https://example.com"}, "description": {"A"}, "type": {"order.created"}, "include": {"order"}, "batch": {"100"}, "headers": {"X-Api-Key: a"}, "username": {"u"}, "password": {"p"}}
	wrongWebhook   = map[string][]string{"url": wrongURLs, "description": wrongLines, "type": wrongChoices, "batch": {"0", "101", "x", "1.5"}}
)

var operatorForms = []formCase{
	{"/operator/merchants", "/operator/merchants", url.Values{"id": {"9"}, "name": {"Nine"}}, map[string][]string{"id": wrongIDs, "name": wrongLines}, []string{"id", "name"}},
	{"/operator/merchants/355", "/operator/merchants/355/rename", url.Values{"name": {"A"}}, map[string][]string{"name": wrongLines}, []string{"name"}},
	{"/operator/merchants/355", "/operator/merchants/355/time-zone", url.Values{"zone": {"Europe/Athens"}}, map[string][]string{"zone": wrongZones}, nil},
	{
		"/operator/merchants/355", "/operator/merchants/355/limit", url.Values{"requests": {"5"}, "burst": {"20"}},
		map[string][]string{"requests": append([]string{"500001"}, wrongIDs...), "burst": append([]string{"1000001"}, wrongIDs...)}, []string{"requests"},
	},
	{"/operator/merchants/355", "/operator/merchants/355/suspend", url.Values{"reason": {"A"}}, map[string][]string{"reason": wrongLines}, []string{"reason"}},
	{
		"/operator/tokens", "/operator/tokens", url.Values{"merchant": {"355"}, "label": {"A"}, "scope": {"orders:read"}, "days": {"30"}},
		map[string][]string{"merchant": wrongIDs, "label": wrongLines, "scope": wrongChoices, "days": append([]string{"3651"}, wrongIDs...)}, []string{"scope"},
	},
	{"/operator/webhooks/355/1", "/operator/webhooks/355/1", changedWebhook, wrongWebhook, []string{"url"}},
	{
		"/operator/orders/355/FIRST", "/operator/orders/355/FIRST/state", url.Values{"state": {"in-processing"}, "other": {"customer-request"}},
		map[string][]string{"state": wrongChoices, "other": append([]string{"Δύο λέξεις"}, wrongLines...)}, []string{"state"},
	},
	{
		"/operator/orders/355/FIRST", "/operator/orders/355/FIRST/correct",
		url.Values{"expiresAt": {"2026-12-01T10:00"}, "dispatchUntil": {"2026-12-02T10:00:30"}, "customer.phone": {"210"}, "carrier.name": {"C"}, "carrier.shipmentIds": {"1, 2"}, "carrier.comments": {"a\r\nb"}},
		map[string][]string{
			"expiresAt": wrongTimes, "dispatchUntil": wrongTimes, "customer.phone": wrongTexts, "carrier.name": wrongTexts, "carrier.comments": wrongTexts,
			"carrier.shipmentIds": {"x", "1;2", "99999999999999999999"}, "carrier.deliveryToCourierEstimationDate": wrongTexts,
		}, nil,
	},
	{"/operator/customers", "/operator/customers", url.Values{"email": {"a@example.com"}}, map[string][]string{"email": {"x", "a\x00@b", "\xff@b"}}, []string{"email"}},
	{
		"/operator/customers", "/operator/customers", url.Values{"merchant": {"355"}, "reference": {"FIRST"}},
		map[string][]string{"merchant": wrongIDs, "reference": append([]string{"NONE"}, wrongRefs...)}, []string{"merchant", "reference"},
	},
	{
		"/operator/audit", "", url.Values{"merchant": {"355"}, "reference": {"FIRST"}, "token": {"1"}, "from": {"2026-01-01"}, "to": {"2026-01-02"}, "action": {"order.created"}},
		map[string][]string{"merchant": wrongIDs[:2], "reference": wrongRefs, "token": wrongIDs, "from": wrongDays, "to": append([]string{"2025-01-01"}, wrongDays...), "action": wrongLines[:3]}, nil,
	},
	{
		"/operator/orders", "", url.Values{"q": {"x"}, "merchant": {"355"}, "state": {"canceled"}, "from": {"2026-01-01"}, "to": {"2026-01-02"}},
		map[string][]string{"q": wrongQuery, "merchant": wrongIDs, "state": wrongChoices, "from": wrongDays, "to": wrongDays}, nil,
	},
	{"/operator/tokens", "", url.Values{"merchant": {"355"}}, map[string][]string{"merchant": wrongIDs}, nil},
	{"/operator/merchants", "", url.Values{"name": {"A"}}, map[string][]string{"name": {"a\x00b", "\xff"}}, nil},
}

var merchantForms = []formCase{
	{
		"/store", "/store", url.Values{"zone": {"Europe/Athens"}, "slipName": {"Ά"}, "returnAddress": {"a\r\nb"}, "trackingLink": {"https://example.com/{code}"}},
		map[string][]string{
			"zone": wrongZones, "slipName": wrongLines, "returnAddress": append([]string{strings.Repeat("Ω", 1001)}, wrongTexts...),
			"trackingLink": append([]string{"https://example.com/", "https://{code}.example.com/", "http://example.com/{code}", "https://u:p@example.com/{code}"}, wrongURLs[1:]...),
		}, nil,
	},
	{
		"/tokens", "/tokens", url.Values{"label": {"A"}, "scope": {"orders:read"}, "days": {"30"}},
		map[string][]string{"label": wrongLines, "scope": append([]string{"audit"}, wrongChoices...), "days": wrongIDs}, []string{"scope"},
	},
	{"/tokens/1/rotate", "/tokens/1/rotate", url.Values{"overlap": {"1"}}, map[string][]string{"overlap": {"x", "-1", "169", "99999999999999999999"}}, []string{"overlap"}},
	{"/webhooks", "/webhooks", newWebhook, wrongWebhook, []string{"url"}},
	{"/webhooks/1", "/webhooks/1", changedWebhook, wrongWebhook, []string{"url"}},
	{
		"/mail", "/mail", url.Values{"do": {"add"}, "email": {"a@example.com"}, "what": {"new"}, "every": {"15"}, "language": {"el"}},
		map[string][]string{"email": {"a", "a@b", "A <a@example.com>", "a@example.com,b@example.com", "<b>@x"}, "what": wrongChoices, "every": {"x", "0", "7", "-5"}, "language": {"de", "x"}}, []string{"email", "what", "every", "language"},
	},
	{"/orders/FIRST", "/orders/FIRST/reject", url.Values{"reason": {"out-of-stock"}}, map[string][]string{"reason": wrongChoices}, []string{"reason"}},
	{
		"/orders/FIRST", "/orders/FIRST/own", url.Values{"merchantReference": {"A/1"}, "merchantNote": {"a\r\nb"}},
		map[string][]string{"merchantReference": append([]string{strings.Repeat("Ω", 65)}, wrongLines...), "merchantNote": append([]string{strings.Repeat("Ω", 1001)}, wrongTexts...)}, nil,
	},
	{
		"/orders", "", url.Values{"q": {"x"}, "state": {"canceled"}, "from": {"2026-01-01"}, "to": {"2026-01-02"}},
		map[string][]string{"q": wrongQuery, "state": wrongChoices, "from": wrongDays, "to": wrongDays}, nil,
	},
}

// TestFormsComeBack sends each form with each wrong value: the page of the form comes
// back with everything that was typed and a sentence at the field.
func TestFormsComeBack(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	testenv.Of(s.Webhooks.Add(t.Context(), order.CommandFor(ours), ours, webhook.Change{URL: new("https://example.com/hook")}, nil, order.Options[webhook.Endpoint]{})).Must(s.T)
	key := strings.Repeat("A", 26)
	send := func(b *browser, c formCase, field, value string) {
		t.Helper()
		values := url.Values{"key": {key}, "revision": {"1"}}
		for name, valid := range c.valid {
			values[name] = valid
		}
		values[field] = []string{value}
		var got page
		if c.action == "" {
			got = b.get("/console" + c.page + "?" + values.Encode())
		} else {
			got = b.post("/console"+c.action, values)
		}
		if got.Status != http.StatusUnprocessableEntity && got.Status != http.StatusBadRequest || !strings.Contains(got.Body, `class="field-problem"`) {
			t.Errorf("%s with %s %.40q: status %d without a sentence at the field: %s", c.page+c.action, field, value, got.Status, title(got))
			return
		}
		text := html.UnescapeString(got.Body)
		for name, typed := range values {
			// A check box or a choice that is not offered cannot be shown, and no page
			// can have bytes that are no text.
			if name == "key" || name == "revision" || name == field && c.chosen(name) || !utf8.ValidString(typed[0]) || strings.ContainsRune(typed[0], 0) {
				continue
			}
			if want := strings.ReplaceAll(typed[0], "\r\n", "\n"); !strings.Contains(text, `value="`+want+`"`) && !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), ">\n"+want+"</textarea>") {
				t.Errorf("%s with %s %.40q: %s %.40q is lost", c.page+c.action, field, value, name, want)
			}
		}
		checkPage(t, c.page, got)
	}
	all := func(b *browser, forms []formCase) {
		for _, c := range forms {
			for field, values := range c.wrong {
				for _, value := range values {
					send(b, c, field, value)
				}
			}
			for _, field := range c.missing {
				send(b, c, field, "")
			}
		}
	}
	all(s.operator(order.OperatorScopes), operatorForms)
	all(s.signedIn(s.token), merchantForms)
}

// chosen reports whether a field is a choice among values that the page offers.
func (c formCase) chosen(field string) bool {
	return field == "zone" || field == "scope" || field == "what" || field == "every" || field == "language" || field == "do" || field == "type" || field == "state" || field == "overlap" || field == "reason" && strings.HasSuffix(c.action, "/reject")
}

// title returns the first heading of a page.
func title(p page) string {
	_, rest, _ := strings.Cut(p.Body, "<h1>")
	rest, _, _ = strings.Cut(rest, "</h1>")
	return rest
}
