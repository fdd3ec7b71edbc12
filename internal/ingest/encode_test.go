package ingest_test

import (
	"fmt"
	"testing"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// TestEncode encodes parsed documents and parses them again: nothing is lost.
func TestEncode(t *testing.T) {
	t.Parallel()
	for n := range 50 {
		want := testenv.Of(ingest.Parse(ingesttest.Document(1 + n))).Must(t)
		text := testenv.Of(ingest.Encode(&want.Order)).Must(t)
		got, err := ingest.Parse(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		testenv.Equal(t, fmt.Sprintf("document %d", n), want, got)
	}
}
