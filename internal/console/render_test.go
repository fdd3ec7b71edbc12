package console

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// BenchmarkListOf100 renders a list of 100 orders, four times as many as a page has.
func BenchmarkListOf100(b *testing.B) {
	view := listView{filterView: filterView{States: order.States()}, Total: order.MaxPageSize, Page: 1}
	for n := range int64(order.MaxPageSize) {
		view.Orders = append(view.Orders, order.Summary{
			LegacyID: 900_000 + n, Reference: "SF-2026-0000017", State: order.Registered, Currency: "EUR", CreatedAt: time.Unix(1_795_000_000-n*3600, 0).UTC(),
			Total: 123_456, HasInvoice: n%2 == 0, Customer: order.Customer{FirstName: "Μαρία", LastName: "Παπαδοπούλου"},
		})
	}
	s, r := newSite(Console{BaseURL: "https://orders.example.com"}), httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/console/orders", nil)
	began := testenv.ProcessorTime(b)
	for b.Loop() {
		if _, err := s.page(r, layout{Template: "orders", Page: &view}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((testenv.ProcessorTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms")
}
