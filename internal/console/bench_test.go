package console_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// BenchmarkPages requests every page. cpu-ms is the processor time of a page with its
// request: of the service, of SQLite and of the client, which also decompresses it.
func BenchmarkPages(b *testing.B) {
	var documents [][]byte
	for n := range 300 {
		documents = append(documents, newOrder(n, "A-"+strconv.Itoa(n)))
	}
	s := start(b, documents...)
	merchant, operator := s.signedIn(s.token), s.operator(order.OperatorScopes)
	for n := range 100 {
		s.NewToken(ours, order.ScopeOrdersRead)
		accept := orderPageOf(n) + "/accept"
		merchant.post(accept, merchant.get(orderPageOf(n)).form(b, accept))
	}
	for _, page := range []struct {
		browser *browser
		path    string
	}{
		{s.browser(), "/"}, {merchant, "/console"}, {merchant, "/console/orders"}, {merchant, "/console/orders?q=a"}, {merchant, "/console/new"},
		{merchant, orderPageOf(1)}, {merchant, orderPageOf(200)}, {merchant, orderPageOf(1) + "/print"},
		{merchant, "/console/tokens"}, {merchant, "/console/webhooks"},
		{operator, "/console/operator/orders"}, {operator, "/console/operator/orders/355/A-1"}, {operator, "/console/operator/imports"},
		{operator, "/console/operator/merchants"}, {operator, "/console/operator/merchants/355"}, {operator, "/console/operator/tokens"},
		{operator, "/console/operator/webhooks"}, {operator, "/console/operator/audit"}, {operator, "/console/operator/customers"},
	} {
		b.Run(url.PathEscape(page.path), func(b *testing.B) {
			began := testenv.ProcessorTime(b)
			for b.Loop() {
				page.browser.get(page.path).WantText(b, http.StatusOK)
			}
			b.ReportMetric(float64((testenv.ProcessorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms")
		})
	}
}

func orderPageOf(n int) string { return "/console/orders/A-" + strconv.Itoa(n) }
