package api_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
)

// benchOrders is the number of orders in the benchmarks.
const benchOrders = 20_000

// benchService is the whole service without connections: with authentication, request
// log and metrics.
type benchService struct {
	orders  *order.Service
	handler http.Handler
	token   string
}

func newBenchService(b *testing.B) benchService {
	b.Helper()
	ctx := b.Context()
	whole := apptest.New(b, apptest.Setup{NoCache: true, Log: io.Discard, Settings: config.Config{BaseURL: baseURL, StorageURL: storageURL}})
	testenv.NoError(b, whole.Merchants.Add(ctx, order.Command(), apitest.MerchantID, apitest.MerchantName, order.Options[order.Merchant]{}))
	s := benchService{orders: whole.Orders, handler: whole.Handler, token: whole.NewToken(apitest.MerchantID, order.DefaultScopes)}
	for first := 1; first <= benchOrders; first += 1000 {
		s.fill(b, first, 1000)
	}
	return s
}

// fill adds up to 1,000 orders that can be accepted, an hour apart.
func (s benchService) fill(b *testing.B, first, count int) {
	b.Helper()
	batch := make([]order.Incoming, count)
	for i := range batch {
		o := ordertest.Rich()
		o.LegacyID, o.Reference, o.State = int64(first+i), benchReference(first+i), order.Registered
		o.CreatedAt = o.CreatedAt.Add(-time.Duration((first+i)%benchOrders) * time.Hour)
		batch[i] = apitest.Incoming(o)
	}
	if _, err := s.orders.Import(b.Context(), order.Command(), batch); err != nil {
		b.Fatal(err)
	}
}

func benchReference(n int) string { return fmt.Sprintf("SF-2026-%06d", n) }

// unread is a response that is discarded, so that only the service is measured.
type unread struct {
	header http.Header
	status int
}

func (u *unread) Header() http.Header            { return u.header }
func (u *unread) WriteHeader(status int)         { u.status = status }
func (u *unread) Write(body []byte) (int, error) { return len(body), nil }

// get serves one request, with If-None-Match unless that is empty, and returns the
// ETag of the response.
func (s benchService) get(b *testing.B, path, has string, want int) string {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
	testenv.NoError(b, err)
	r.Header.Set("Authorization", "Bearer "+s.token)
	if has != "" {
		r.Header.Set("If-None-Match", has)
	}
	w := &unread{header: make(http.Header), status: http.StatusOK}
	if s.handler.ServeHTTP(w, r); w.status != want {
		b.Fatalf("%s: %d, want %d", path, w.status, want)
	}
	return w.header.Get("ETag")
}

// ask serves the requests of a benchmark. path returns the path of the nth.
func (s benchService) ask(b *testing.B, method string, path func(n int) string) {
	b.Helper()
	b.ReportAllocs()
	w := &unread{header: make(http.Header)}
	n := 0
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), method, path(n), http.NoBody)
		testenv.NoError(b, err)
		r.Header.Set("Authorization", "Bearer "+s.token)
		clear(w.header)
		w.status = http.StatusOK
		if s.handler.ServeHTTP(w, r); w.status != http.StatusOK {
			b.Fatalf("%s %s: %d", method, path(n), w.status)
		}
		n++
	}
}

// BenchmarkReads reads the same resource again and again, and any of 20,000. Each
// time includes about 1 µs for making the request.
func BenchmarkReads(b *testing.B) {
	s := newBenchService(b)
	other := func(n int) int { return 1 + n*7919%benchOrders }
	for _, read := range []struct {
		name string
		path func(n int) string
	}{
		{"v1 order", func(int) string { return "/api/orders/77" }},
		{"v1 order, any", func(n int) string { return fmt.Sprintf("/api/orders/%d", other(n)) }},
		{"v2 order", func(int) string { return "/v2/orders/" + benchReference(77) }},
		{"v2 order, any", func(n int) string { return "/v2/orders/" + benchReference(other(n)) }},
		{"v1 list of 10", func(int) string { return "/api/orders" }},
		{"v1 list of 100", func(int) string { return "/api/orders?items_per_page=100" }},
		{"v2 list of 10", func(int) string { return "/v2/orders" }},
		{"v2 list of 10, any page", func(n int) string { return fmt.Sprintf("/v2/orders?page=%d", 1+other(n)/10) }},
		{"v2 list of 10, by state and dates", func(int) string { return "/v2/orders?state=registered&dateFrom=2025-03-01&dateTo=2026-02-28" }},
		{"v2 list of 100", func(int) string { return "/v2/orders?itemsPerPage=100" }},
	} {
		b.Run(read.name, func(b *testing.B) { s.ask(b, http.MethodGet, read.path) })
	}
}

// BenchmarkAccept accepts orders one after the other, each durably.
func BenchmarkAccept(b *testing.B) {
	s := newBenchService(b)
	s.ask(b, http.MethodPatch, func(n int) string {
		if n > 0 && n%1000 == 0 {
			b.StopTimer()
			s.fill(b, 1+benchOrders+n-1000, 1000)
			b.StartTimer()
		}
		return "/v2/orders/" + benchReference(1+n) + "/accept"
	})
}

// BenchmarkNotModified serves clients that have the representation. of-full is the
// processor time as a share of that of a full response, both without the cache.
func BenchmarkNotModified(b *testing.B) {
	s := newBenchService(b)
	for name, path := range map[string]string{
		"v2 list of 10": "/v2/orders", "v2 list of 100": "/v2/orders?itemsPerPage=100",
		"v1 list of 100": "/api/orders?items_per_page=100",
	} {
		b.Run(name, func(b *testing.B) {
			const whole = 1000
			tag := s.get(b, path, "", http.StatusOK)
			began := testenv.ProcessorTime(b)
			for range whole {
				s.get(b, path, "", http.StatusOK)
			}
			full := (testenv.ProcessorTime(b) - began) / whole
			began = testenv.ProcessorTime(b)
			b.ReportAllocs()
			for b.Loop() {
				s.get(b, path, tag, http.StatusNotModified)
			}
			each := (testenv.ProcessorTime(b) - began) / time.Duration(b.N)
			b.ReportMetric(float64(full.Nanoseconds()), "full-ns")
			b.ReportMetric(float64(each)/float64(full), "of-full")
		})
	}
}
