package ingest_test

import (
	"bytes"
	"context"
	"testing"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
)

func BenchmarkParse(b *testing.B) {
	var documents [][]byte
	size := 0
	for n := range 1000 {
		documents = append(documents, ingesttest.Document(n+1))
		size += len(documents[n])
	}
	b.ReportAllocs()
	b.SetBytes(int64(size / len(documents)))
	n := 0
	for b.Loop() {
		if _, err := ingest.Parse(documents[n%len(documents)]); err != nil {
			b.Fatal(err)
		}
		n++
	}
}

// BenchmarkImport imports 10,000 documents with an ImportFunc
// that does nothing.
func BenchmarkImport(b *testing.B) {
	const orders = 10_000
	var input bytes.Buffer
	for n := range orders {
		input.Write(ingesttest.Document(n + 1))
		input.WriteByte('\n')
	}
	results := make([]order.ImportResult, 1000)
	for i := range results {
		results[i].Status = order.Created
	}
	add := func(_ context.Context, batch []order.Incoming) ([]order.ImportResult, error) {
		return results[:len(batch)], nil
	}
	b.ReportAllocs()
	b.SetBytes(int64(input.Len()))
	for b.Loop() {
		counts, err := ingest.Import(b.Context(), bytes.NewReader(input.Bytes()), add, ingest.Options{})
		if err != nil || counts.Created != orders {
			b.Fatal(counts, err)
		}
	}
	b.ReportMetric(float64(orders)*float64(b.N)/b.Elapsed().Seconds(), "orders/s")
}
