package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
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
		testenv.NoError(b, err)
		r.Header.Set("Authorization", "Bearer "+operatorToken)
		b.StartTimer()
		response, err := http.DefaultClient.Do(r)
		testenv.NoError(b, err)
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
	s := apptest.New(b, apptest.Setup{Log: io.Discard})
	testenv.NoError(b, s.Merchants.Add(b.Context(), order.Command(), ingesttest.MerchantID, "Shop", order.Options[order.Merchant]{}))
	server := httptest.NewServer(s.Handler) // nothing is compared with the OpenAPI documents
	b.Cleanup(server.Close)
	return server.URL, s.NewOperatorToken(order.ScopeOrdersIngest)
}
