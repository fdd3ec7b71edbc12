package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// TestEncode encodes parsed documents and parses them again: nothing is lost.
func TestEncode(t *testing.T) {
	t.Parallel()
	for n := range 50 {
		want := testenv.Of(ingest.Parse(ingesttest.Document(1+n, func(document map[string]any) {
			if n%3 > 0 {
				document["shippingAmount"], document["shippingVatRate"] = n%3-1, []string{"24.00", ""}[n%2]
				document["lineItems"].([]any)[0].(map[string]any)["vatRate"] = "0.0"
			}
		}))).Must(t)
		text := testenv.Of(ingest.Encode(&want.Order)).Must(t)
		got, err := ingest.Parse(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		testenv.Equal(t, "the encoded document has fields that 1.0.0 refuses", n%3 > 0, strings.Contains(string(text), "vatRate"))
		testenv.Equal(t, fmt.Sprintf("document %d", n), want, got)
	}
}
