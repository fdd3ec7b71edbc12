package console_test

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// The merchants of a service.
const (
	ours   = ingesttest.MerchantID
	theirs = 400
)

// service is the service with two merchants.
type service struct {
	*apptest.Service
	posted atomic.Int64  // messages of webhooks
	mails  []digest.Mail // unless there is a mail server; of one request after the other

	token, otherToken string // of ours and theirs, with all scopes of merchants
}

// start returns a service with two merchants, and with orders of the documents.
func start(t testing.TB, documents ...[]byte) *service {
	t.Helper()
	return startWith(t, "", config.Serve{}, documents...)
}

// startWith is start for a service with a base URL, as behind a proxy, and with flags of serve.
func startWith(t testing.TB, baseURL string, flags config.Serve, documents ...[]byte) *service {
	t.Helper()
	return startSetup(t, apptest.Setup{Settings: config.Config{BaseURL: baseURL}, Flags: flags}, documents...)
}

// startSetup is start with what differs from the plain service.
func startSetup(t testing.TB, with apptest.Setup, documents ...[]byte) *service {
	t.Helper()
	s := new(service)
	if with.Poster = s; with.Flags.SMTP == "" {
		with.Mailer = s
	}
	with.Fill = func(filled *apptest.Service) {
		s.Service = filled
		// The first token is ours: tests name it in paths.
		for _, id := range []int64{ours, theirs} {
			testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), id, "Store "+string(rune('A'+id%2)), order.Options[order.Merchant]{}))
		}
		s.token, s.otherToken = s.NewToken(ours, order.MerchantScopes), s.NewToken(theirs, order.MerchantScopes)
		s.add(documents...)
	}
	apptest.New(t, with)
	forms().looksInto(s)
	return s
}

// Post implements webhook.Poster: every receiver refuses messages.
func (s *service) Post(context.Context, webhook.Message) delivery.Result {
	s.posted.Add(1)
	return delivery.Result{Status: http.StatusTeapot, Error: "the receiver responded with status 418", Response: "<b>no</b>"}
}

// Send implements digest.Mailer: addresses that begin with down cannot be
// reached, and nobody is refused.
func (s *service) Send(_ context.Context, m digest.Mail) delivery.Result {
	if strings.HasPrefix(m.To, "down") {
		return delivery.Result{Error: delivery.ErrorConnection, Response: "nobody listens"}
	}
	if strings.HasPrefix(m.To, "nobody") {
		return delivery.Result{Error: delivery.ErrorRefused, Response: "550 5.1.1"}
	}
	s.mails = append(s.mails, m)
	return delivery.Result{}
}

// add imports orders.
func (s *service) add(documents ...[]byte) {
	s.T.Helper()
	var batch []order.Incoming
	for _, document := range documents {
		incoming := testenv.Of(ingest.Parse(document)).Must(s.T)
		batch = append(batch, incoming)
	}
	s.MustImport(batch...)
}

// newOrder returns a document of a registered order with a reference.
func newOrder(n int, reference string, change ...func(map[string]any)) []byte {
	return ingesttest.Document(n, append([]func(map[string]any){func(document map[string]any) {
		document["reference"], document["state"] = reference, "registered"
		document["createdAt"] = apptest.StartOfTime.Add(-time.Duration(n) * time.Minute).Format(time.RFC3339)
		document["expiresAt"] = apptest.StartOfTime.Add(40 * time.Hour).Format(time.RFC3339)
	}}, change...)...)
}

// newOrders returns documents of n orders with numbers from first on. Their references have the
// numbers from 0 on.
func newOrders(first, n int, reference string, change ...func(n int, document map[string]any)) (documents [][]byte) {
	for i := range n {
		changes := web.Collect(change, func(change func(int, map[string]any)) func(map[string]any) {
			return func(document map[string]any) { change(i, document) }
		})
		documents = append(documents, newOrder(first+i, fmt.Sprintf(reference, i), changes...))
	}
	return documents
}

// ofMerchant makes an order that of another merchant.
func ofMerchant(id int64) func(map[string]any) {
	return func(document map[string]any) { document["merchantId"] = id }
}

// browser is a browser without scripts. It does not follow redirects.
type browser struct {
	s      *service
	client *http.Client
	header http.Header // of every request
}

// page is a response.
type page struct{ testenv.Response }

// location returns where a redirect leads.
func (p page) location() string { return p.Header.Get("Location") }

// loginLink returns the path of a new login link of ours.
func (s *service) loginLink(name string, scopes order.Scope) string {
	s.T.Helper()
	person := token.Person{MerchantID: ours, Name: name, Scopes: scopes}
	return "/console/login/" + testenv.Of(s.Sessions.NewLoginLink(s.T.Context(), order.Command(), person, order.Options[token.CreatedLink]{})).Must(s.T).Secret
}

func (s *service) browser() *browser {
	jar := testenv.Of(cookiejar.New(nil)).Must(s.T)
	return &browser{s: s, header: http.Header{}, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn returns a browser in which a person has signed in with a token.
func (s *service) signedIn(text string) *browser {
	s.T.Helper()
	b := s.browser()
	b.post("/", url.Values{"token": {text}}).WantStatus(s.T, http.StatusSeeOther)
	return b
}

func (b *browser) get(path string) page {
	b.s.T.Helper()
	return b.send(http.MethodGet, path, "", nil)
}

func (b *browser) post(path string, form url.Values) page {
	b.s.T.Helper()
	return b.send(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

func (b *browser) send(method, path, contentType string, body io.Reader) page {
	b.s.T.Helper()
	request := testenv.NewRequest(b.s.T, "", method, b.s.URL+path, body)
	for name, values := range b.header {
		request.Header[name] = values
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	got := page{testenv.Do(b.s.T, b.client.Do, request)}
	if method == http.MethodPost {
		forms().sees(request, got.Header)
	}
	return got
}

// next returns the address of the next page; empty: there is none.
func (p page) next() string {
	_, next, _ := strings.Cut(p.Body, `rel="next" href="`)
	next, _, _ = strings.Cut(next, `"`)
	return html.UnescapeString(next)
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(key|revision|shown|order|sure|reason|do|was|all|rest)" value="([^"]*)">`)

// form returns the hidden fields of the form with an action on a page.
func (p page) form(t testing.TB, action string) url.Values {
	t.Helper()
	_, rest, found := strings.Cut(p.Body, `action="`+action+`"`)
	if !found {
		t.Fatalf("no form for %s in %s", action, p.Body)
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	values := make(url.Values)
	for _, field := range hiddenField.FindAllStringSubmatch(rest, -1) {
		values.Add(field[1], html.UnescapeString(field[2]))
	}
	return values
}
