package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// secret is the token of the clients.
const secret = "mo_SecretSecretSecret1234"

// Minimal responses of the service.
const (
	goodOrder = `{"order":{"id":"SF-1","state":"registered","countryCode":"GR","hasInvoice":false,"subTotalItemsAmount":2780,"totalItemsAmount":3180,"currency":"EUR",` +
		`"createdAt":"2026-11-20 08:15:30","updatedAt":null,"expiresAt":"2026-11-22 08:15:30","dispatchUntil":null,` +
		`"customer":{"userId":1,"email":"a@example.com","phone":null,"firstName":"Άννα","lastName":"B"},` +
		`"addressDetails":{},"invoiceDetails":null,"invoices":[],"carrier":{},"payment":{"name":"cod"},"lineItems":[]}}`
	goodList = `{"params":{"page":1,"itemsPerPage":100,"totalItems":1,"status":null,"dateFrom":"1970-01-01 00:00:00","dateTo":"2026-11-20 23:59:59"},` +
		`"orders":[{"id":"SF-1","state":"registered","createdAt":"2026-11-20 08:15:30","updatedAt":null,"customer":{}}]}`
	goodSuccess  = `{"success":true}`
	goodUploaded = `{"message":"success","invoice":{"id":7,"url":"http://x/a.pdf","created_at":"2026-11-20T09:15:00Z"}}`
	goodDeleted  = `{"message":"success","invoices":[]}`
	goodLink     = `{"url":"https://orders.example.com/files/355.1.7.1795169700.c2ln","expiresAt":"2026-11-20T10:15:00Z"}`
	goodEvents   = `{"events":[{"seq":17,"type":"order.state_changed","orderReference":"SF-1","orderId":915664,"at":"2026-11-20T09:15:00Z",` +
		`"actor":"merchant","data":{"from":"registered","to":"in-processing","reason":null}}],"next":17}`
)

// calls are all calls of a client, with the response of the service.
var calls = []struct {
	name, good string
	write      bool
	do         func(context.Context, *client.Client) error
}{
	{"list", goodList, false, func(ctx context.Context, c *client.Client) error {
		_, err := c.OrdersPage(ctx, client.Filter{}, 1)
		return err
	}},
	{"find", `{"orders":[]}`, false, func(ctx context.Context, c *client.Client) error {
		_, err := c.ByMerchantReference(ctx, "17")
		return err
	}},
	{"without", `{"orders":[],"next":null}`, false, func(ctx context.Context, c *client.Client) error {
		for _, err := range c.WithoutInvoice(ctx) {
			return err
		}
		return nil
	}},
	{"order", goodOrder, false, func(ctx context.Context, c *client.Client) error {
		_, err := c.Order(ctx, "SF-1")
		return err
	}},
	{"events", goodEvents, false, func(ctx context.Context, c *client.Client) error {
		_, err := c.EventsPage(ctx, 16, 0, 0)
		return err
	}},
	{"accept", goodSuccess, true, func(ctx context.Context, c *client.Client) error { return c.Accept(ctx, "SF-1") }},
	{"reject", goodSuccess, true, func(ctx context.Context, c *client.Client) error {
		return c.Reject(ctx, "SF-1", client.Damaged)
	}},
	{"upload", goodUploaded, true, func(ctx context.Context, c *client.Client) error {
		_, err := c.UploadInvoice(ctx, "SF-1", "a.pdf", strings.NewReader("%PDF-1.4"))
		return err
	}},
	{"delete", goodDeleted, true, func(ctx context.Context, c *client.Client) error {
		_, err := c.DeleteInvoice(ctx, "SF-1", 7)
		return err
	}},
	{"link", goodLink, true, func(ctx context.Context, c *client.Client) error {
		_, err := c.InvoiceLink(ctx, "SF-1", 7)
		return err
	}},
}

// fake is a service with a handler of the test.
type fake struct {
	*httptest.Server
	client *client.Client

	mu    sync.Mutex
	seen  []*http.Request
	waits []time.Duration // that the client made
}

// newFake starts a service and a client that does not wait between attempts.
func newFake(t testing.TB, handler http.HandlerFunc, options ...client.Option) *fake {
	t.Helper()
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen = append(f.seen, r)
		f.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(f.Close)
	f.client = f.newClient(t, options...)
	return f
}

func (f *fake) newClient(t testing.TB, options ...client.Option) *client.Client {
	t.Helper()
	wait := client.WithSleep(func(ctx context.Context, d time.Duration) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.waits = append(f.waits, d)
		return ctx.Err()
	})
	c := testenv.Of(client.New(f.URL, secret, append([]client.Option{wait}, options...)...)).Must(t)
	t.Cleanup(c.Close)
	return c
}

// requests returns the requests received so far.
func (f *fake) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*http.Request(nil), f.seen...)
}

func (f *fake) waited() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]time.Duration(nil), f.waits...)
}

// response writes a JSON response.
func response(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// always responds to every request with the same response.
func always(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { response(w, status, body) }
}
