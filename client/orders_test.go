package client_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// list writes a page of orders.
func list(page, size, total int, references ...string) string {
	var orders []string
	for _, reference := range references {
		orders = append(orders, fmt.Sprintf(`{"id":%q,"state":"registered","createdAt":"2026-11-20 08:15:30","updatedAt":"2026-11-20 09:00:01","customer":{}}`, reference))
	}
	return fmt.Sprintf(`{"params":{"page":%d,"itemsPerPage":%d,"totalItems":%d,"status":null,"dateFrom":"1970-01-01 00:00:00","dateTo":"2026-11-20 23:59:59"},"orders":[%s]}`,
		page, size, total, strings.Join(orders, ","))
}

// references returns the references of all orders of a client.
func references(t *testing.T, c *client.Client, filter client.Filter) []string {
	t.Helper()
	var found []string
	for order, err := range c.Orders(t.Context(), filter) {
		testenv.NoError(t, err)
		found = append(found, order.Reference)
	}
	return found
}

// TestOrdersFollowLinks checks that links take precedence over page numbers.
func TestOrdersFollowLinks(t *testing.T) {
	t.Parallel()
	var requested []string
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.RawQuery)
		switch r.URL.Query().Get("cursor") {
		case "":
			// The link has another host than the client's base URL.
			w.Header().Set("Link", `<http://inside.example:8080/v2/orders?state=registered>; rel="first", <http://inside.example:8080/v2/orders?state=registered&cursor=a,b>; rel="next"; title="the \"next\", page; rel=none"`)
			response(w, 200, list(1, 2, 5, "SF-5", "SF-4"))
		case "a,b":
			w.Header().Add("Link", `</v2/orders?state=registered>; rel=first`)
			w.Header().Add("Link", `</v2/orders?state=registered&cursor=c>; rel="prefetch Next"`)
			response(w, 200, list(1, 2, 7, "SF-3", "SF-2"))
		default:
			w.Header().Set("Link", `</v2/orders?state=registered&cursor=d>; title="a; rel=next; b"; rel="first"`)
			response(w, 200, list(1, 2, 7, "SF-1"))
		}
	})
	got := references(t, f.client, client.Filter{State: client.Registered, PageSize: 2})
	testenv.Equal(t, "orders", []string{"SF-5", "SF-4", "SF-3", "SF-2", "SF-1"}, got)
	testenv.Equal(t, "queries", []string{"itemsPerPage=2&page=1&state=registered", "state=registered&cursor=a,b", "state=registered&cursor=c"}, requested)
}

// TestOrdersByNumber checks that without links pages are requested by number, and
// that an order that a new one moves to the next page is not returned twice.
func TestOrdersByNumber(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"1": list(1, 2, 5, "SF-5", "SF-4"),
		"2": list(2, 2, 6, "SF-4", "SF-3"), // SF-6 has come
		"3": list(3, 2, 6, "SF-2", "SF-1"),
	}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) { response(w, 200, pages[r.URL.Query().Get("page")]) })
	testenv.Equal(t, "orders", []string{"SF-5", "SF-4", "SF-3", "SF-2", "SF-1"}, references(t, f.client, client.Filter{}))
	testenv.Equal(t, "requests", 3, len(f.requests()))
	for range f.client.Orders(t.Context(), client.Filter{}) {
		break
	}
	testenv.Equal(t, "requests", 4, len(f.requests()))
}

func TestOrdersEndWithAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		link string
		kind error
	}{
		"a fault":        {"", client.ErrForbidden},
		"a link back":    {`</v2/orders?itemsPerPage=100&page=1>; rel="next"`, client.ErrResponse},
		"a link away":    {`<http://elsewhere.example/steal?x=1>; rel="next"`, client.ErrResponse},
		"no link at all": {`<http://elsewhere.example/v2/orders>; rel="next"`, client.ErrResponse},
		"a broken link":  {`<:%zz>; rel="next"`, client.ErrResponse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("page") == "2" {
					response(w, 403, coded("forbidden", "no"))
					return
				}
				w.Header().Set("Link", test.link)
				response(w, 200, list(1, 2, 5, "SF-5", "SF-4"))
			})
			errs := 0
			for order, err := range f.client.Orders(t.Context(), client.Filter{}) {
				if err != nil {
					wantKind(t, err, test.kind)
					errs++
				} else if errs > 0 {
					t.Errorf("order %s after the error", order.Reference)
				}
			}
			testenv.Equal(t, "errors", 1, errs)
		})
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	athens := time.FixedZone("", 2*60*60)
	for want, filter := range map[string]client.Filter{
		"itemsPerPage=100&page=3": {},
		"itemsPerPage=7&page=3":   {PageSize: 7},
		"dateFrom=2026-11-20&dateTo=2026-11-21&itemsPerPage=100&page=3&state=completed": {
			State: client.Completed, From: time.Date(2026, 11, 21, 1, 0, 0, 0, athens), To: time.Date(2026, 11, 21, 23, 59, 59, 0, time.UTC),
		},
	} {
		f := newFake(t, always(200, list(3, 100, 0)))
		page, err := f.client.OrdersPage(t.Context(), filter, 3)
		if err != nil || page.Number != 3 || page.Size != 100 || len(page.Orders) != 0 {
			t.Errorf("%+v, %v", page, err)
		}
		testenv.Equal(t, "query", want, f.requests()[0].URL.RawQuery)
	}
}

// TestPaths checks that any reference is one part of the path.
func TestPaths(t *testing.T) {
	t.Parallel()
	for reference, want := range map[string]string{
		"SF-1": "/v2/orders/SF-1/accept", "a/b": "/v2/orders/a%2Fb/accept", "..": "/v2/orders/%2E%2E/accept", ".": "/v2/orders/%2E/accept",
		"a?b#c": "/v2/orders/a%3Fb%23c/accept", "ä\x00": "/v2/orders/%C3%A4%00/accept", "%2e": "/v2/orders/%252e/accept",
	} {
		f := newFake(t, always(200, goodSuccess))
		testenv.Equal(t, reference, nil, f.client.Accept(t.Context(), reference))
		testenv.Equal(t, fmt.Sprintf("%q: requested for", reference), want, f.requests()[0].RequestURI)
	}
}

// TestPrefix checks a base URL with a path.
func TestPrefix(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, goodOrder))
	c := testenv.Of(client.New(f.URL+"/shop/", secret, client.WithUserAgent("sync/1"))).Must(t)
	order, err := c.Order(t.Context(), "SF-1")
	if err != nil || order.Tag != "" || order.ExpiresAt != time.Date(2026, 11, 22, 8, 15, 30, 0, time.UTC) || !order.UpdatedAt.IsZero() {
		t.Errorf("%+v, %v", order, err)
	}
	r := f.requests()[0]
	if r.URL.Path != "/shop/v2/orders/SF-1" || r.Header.Get("User-Agent") != "sync/1 merchant-orders-client/2" || r.Header.Get("Accept") != "application/json" || r.Header.Get("Prefer") != "handling=strict" {
		t.Errorf("requested for %s, header %v", r.URL, r.Header)
	}
}

// TestAnotherOrder checks that the response must be about the requested order.
func TestAnotherOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, goodOrder))
	_, err := f.client.Order(t.Context(), "SF-2")
	wantKind(t, err, client.ErrResponse)
}
