package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestRoundTrips counts how often a request waits for the database: where that is in
// another room, this is the time that it takes. Each number is the least of some requests,
// because jobs use the database too, and statements that are new to a connection take more.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	proxy := testenv.Of(pgtest.StartProxy(pgtest.Database(t), 0)).Must(t)
	t.Cleanup(proxy.Close)
	trips := &proxy.Trips
	s := apptest.StartWith(t, []string{"--database", proxy.URL, "--storage", "file://" + t.TempDir() + "/files"})
	const repeats = 8
	next := apptest.Sample(0)
	c := apptest.NewClient(t, s.BaseURL, s.Token)
	operator := apptest.NewClient(t, s.BaseURL, s.Folder.Token(t, "--operator", "--scopes", "orders:read,orders:ingest,orders:transition,tokens"))
	// add imports orders and returns the first.
	add := func(count int) apptest.Sample {
		first := next
		next += apptest.Sample(count)
		s.Import(t, apptest.Registered(apptest.MerchantID, first, count))
		return first
	}
	keys := 0
	withKey := func(c apptest.Client) apptest.Client {
		keys++
		return c.With("Idempotency-Key", fmt.Sprint("key-", keys))
	}
	accepted := func(n apptest.Sample) apptest.Sample {
		c.Ask(t, http.MethodPatch, n.V2()+"/accept", "")
		return n
	}
	b, link := newBrowser(t, s.BaseURL), ""
	reject := `{"status":"D","reason":"out-of-stock"}`
	pdf := apptest.UploadBody("invoice.pdf", []byte("%PDF-1.4\n%%EOF\n"))
	for _, test := range []struct {
		name    string
		most    int64
		status  int
		prepare func(n apptest.Sample)
		send    func(n apptest.Sample) (int, string)
	}{
		{"one order", 2, 200, nil, ask(t, c, http.MethodGet, "", "")},
		{"one order, cached", 1, 200, func(n apptest.Sample) {
			for range 3 {
				c.Ask(t, http.MethodGet, n.V2(), "")
			}
		}, ask(t, c, http.MethodGet, "", "")},
		{"list", 2, 200, func(n apptest.Sample) { accepted(n) }, func(apptest.Sample) (int, string) {
			got := c.Ask(t, http.MethodGet, "/v2/orders?itemsPerPage=3", "")
			return got.Status, got.Body
		}},
		{"orders without an invoice", 2, 200, nil, func(apptest.Sample) (int, string) {
			got := c.Ask(t, http.MethodGet, "/v2/orders/without-invoice", "")
			return got.Status, got.Body
		}},
		{"by the merchant's own number", 3, 200, nil, func(apptest.Sample) (int, string) {
			got := c.Ask(t, http.MethodGet, "/v2/orders/by-merchant-reference/none", "")
			return got.Status, got.Body
		}},
		{"accept", 4, 200, nil, ask(t, c, http.MethodPatch, "/accept", "")},
		{"accept with key", 5, 200, nil, func(n apptest.Sample) (int, string) { return ask(t, withKey(c), http.MethodPatch, "/accept", "")(n) }},
		{"reject, refused", 3, 400, func(n apptest.Sample) { accepted(n) }, ask(t, c, http.MethodPatch, "/reject", reject)},
		{"reject", 4, 200, nil, ask(t, c, http.MethodPatch, "/reject", reject)},
		{"transition", 4, 200, nil, func(n apptest.Sample) (int, string) {
			got := operator.Ask(t, http.MethodPost, "/operator/merchants/355/orders/"+n.Reference()+"/state", `{"state":"canceled"}`)
			return got.Status, got.Body
		}},
		{"upload", 9, 200, func(n apptest.Sample) { accepted(n) }, ask(t, c, http.MethodPost, "/invoices", pdf)},
		{"upload with key", 10, 200, func(n apptest.Sample) { accepted(n) }, func(n apptest.Sample) (int, string) {
			return ask(t, withKey(c), http.MethodPost, "/invoices", pdf)(n)
		}},
		{"delete invoice", 5, 200, func(n apptest.Sample) { c.Ask(t, http.MethodPost, accepted(n).V2()+"/invoices", pdf) }, func(n apptest.Sample) (int, string) {
			var shown struct {
				Order struct{ Invoices []apptest.File }
			}
			c.Read(t, n.V2(), &shown)
			trips.Store(0)
			return ask(t, c, http.MethodDelete, fmt.Sprint("/invoices/", shown.Order.Invoices[0].ID), "")(n)
		}},
		{"100 answers", 15, 200, nil, func(n apptest.Sample) (int, string) {
			first := add(100)
			var body strings.Builder
			for i := range 100 {
				fmt.Fprintf(&body, "{\"orderReference\":%q,\"answer\":\"accept\"}\n", (first + apptest.Sample(i)).Reference())
			}
			trips.Store(0)
			got := c.With("Content-Type", "application/x-ndjson").Ask(t, http.MethodPost, "/v2/orders/answers", body.String())
			return got.Status, got.Body
		}},
		// How many lines a transaction has depends on how fast they arrive.
		{"import of 1,000", 40, 200, nil, func(apptest.Sample) (int, string) {
			first := next
			next += 1000
			body := apptest.Registered(apptest.MerchantID, first, 1000)
			got := operator.With("Content-Type", "application/x-ndjson").Ask(t, http.MethodPost, "/operator/orders/import", string(body))
			return got.Status, got.Body
		}},
		{"operator: search", 8, 200, nil, get(t, operator, "/operator/orders?q=SF-2026")},
		{"operator: newest orders", 3, 200, nil, get(t, operator, "/operator/orders")},
		{"operator: one order", 4, 200, nil, func(n apptest.Sample) (int, string) { return get(t, operator, "/operator/orders/"+n.Reference())(n) }},
		{"operator: overview", 4, 200, nil, get(t, operator, "/operator/overview")},
		{"sign in by link", 6, 303, func(apptest.Sample) {
			b = newBrowser(t, s.BaseURL)
			link = path(t, operator.Ask(t, http.MethodPost, "/operator/merchants/355/login-link", `{"scopes":["orders:read","orders:write"]}`).Body)
		}, func(apptest.Sample) (int, string) { return b.send(t, http.MethodPost, link) }},
		{"console: home", 6, 200, nil, func(apptest.Sample) (int, string) { return b.send(t, http.MethodGet, "/console") }},
		{"console: queue", 3, 200, nil, func(apptest.Sample) (int, string) { return b.send(t, http.MethodGet, "/console/new") }},
		{"console: order", 3, 200, nil, func(n apptest.Sample) (int, string) {
			return b.send(t, http.MethodGet, "/console/orders/"+n.Reference())
		}},
		{"console: list", 4, 200, nil, func(apptest.Sample) (int, string) { return b.send(t, http.MethodGet, "/console/orders") }},
	} {
		least := int64(1 << 40)
		first := add(repeats)
		for i := range apptest.Sample(repeats) {
			if test.prepare != nil {
				test.prepare(first + i)
			}
			trips.Store(0)
			status, body := test.send(first + i)
			least = min(least, trips.Load())
			if status != test.status {
				t.Errorf("%s: status %d: %.3000s", test.name, status, body)
				break
			}
		}
		if least > test.most {
			t.Errorf("%s: %d round trips, want at most %d", test.name, least, test.most)
		}
		t.Logf("%s: %d round trips", test.name, least)
	}
}

// get returns a function that reads a path.
func get(t *testing.T, c apptest.Client, path string) func(apptest.Sample) (int, string) {
	return func(apptest.Sample) (int, string) {
		got := c.Ask(t, http.MethodGet, path, "")
		return got.Status, got.Body
	}
}

// path returns the path of the login link that a response has.
func path(t *testing.T, body string) string {
	var made struct{ URL string }
	testenv.NoError(t, json.Unmarshal([]byte(body), &made))
	link := testenv.Of(url.Parse(made.URL)).Must(t)
	return link.Path
}

// browser is one without scripts, which follows no redirect.
type browser struct {
	base   string
	client *http.Client
}

func newBrowser(t *testing.T, base string) browser {
	jar := testenv.Of(cookiejar.New(nil)).Must(t)
	return browser{base, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b browser) send(t *testing.T, method, path string) (int, string) {
	t.Helper()
	request := testenv.NewRequest(t, "", method, b.base+path, nil)
	request.Header.Set("Origin", b.base)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got := testenv.Do(t, b.client.Do, request)
	return got.Status, got.Body
}

// ask returns a function that sends a request to an order.
func ask(t *testing.T, c apptest.Client, method, path, body string) func(apptest.Sample) (int, string) {
	return func(n apptest.Sample) (int, string) {
		got := c.Ask(t, method, n.V2()+path, body)
		return got.Status, got.Body
	}
}
