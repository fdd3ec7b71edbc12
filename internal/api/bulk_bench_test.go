package api_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// BenchmarkBulkImport imports 50,000 orders over a connection and reads their results.
// The documents have 2.4 KB and two lines.
func BenchmarkBulkImport(b *testing.B) {
	const orders = 50_000
	var body bytes.Buffer
	for n := range orders {
		body.Write(ingesttest.Document(n + 1))
		body.WriteByte('\n')
	}
	for b.Loop() {
		b.StopTimer()
		url, operatorToken := startIntake(b)
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/operator/orders/import", bytes.NewReader(body.Bytes()))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+operatorToken)
		b.StartTimer()
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		results, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || bytes.Count(results, []byte(`"status":"created"`)) != orders {
			b.Fatalf("error %v, status %d", err, response.StatusCode)
		}
	}
	b.ReportMetric(orders*float64(b.N)/b.Elapsed().Seconds(), "orders/s")
	b.ReportMetric(float64(body.Len())/orders, "bytes/order")
}

// startIntake starts a server with an empty database and returns its URL and a token.
func startIntake(b *testing.B) (url, operatorToken string) {
	b.Helper()
	db, err := store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "orders.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	log := slog.New(slog.DiscardHandler)
	orders, tokens := order.NewService(db, nil, time.Now, log), token.NewRegistry(db, time.Now)
	if err := orders.AddMerchant(b.Context(), ingesttest.MerchantID, "Shop", order.MerchantOptions{}); err != nil {
		b.Fatal(err)
	}
	if operatorToken, _, err = tokens.CreateOperator(b.Context(), order.ScopeOrdersIngest, 0); err != nil {
		b.Fatal(err)
	}
	router := web.NewRouter(web.RouterConfig{Authenticator: tokens, Refuser: orders},
		operator.API{Orders: orders, Tokens: tokens, Log: log}.Routes(), web.RouteGroup{Errors: web.EncodeMessage})
	server := httptest.NewServer(web.Observe(router, router.EncodeError, web.RequestLog{Logger: log}, metrics.New(), time.Now))
	b.Cleanup(server.Close)
	return server.URL, operatorToken
}
