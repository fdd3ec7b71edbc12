package ingesttest_test

import (
	"testing"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
)

func TestDocumentsAreValidAndDiffer(t *testing.T) {
	t.Parallel()
	states := map[order.State]bool{}
	times := map[time.Time]bool{}
	references := map[string]bool{}
	const documents = 600
	for n := 1; n <= documents; n++ {
		text := ingesttest.Document(n)
		in, err := ingest.Parse(text)
		if err != nil {
			t.Fatalf("document %d: %v\n%s", n, err, text)
		}
		if len(text) < 1500 || len(text) > 2600 {
			t.Errorf("document %d has %d bytes", n, len(text))
		}
		o := in.Order
		if o.MerchantID != ingesttest.MerchantID || o.Reference != ingesttest.Reference(n) ||
			o.LegacyID != int64(ingesttest.FirstOrderID+n) || !o.CreatedAt.Equal(ingesttest.CreatedAt(n)) {
			t.Errorf("document %d is order %d, %s, of %s", n, o.LegacyID, o.Reference, o.CreatedAt)
		}
		states[o.State], times[o.CreatedAt], references[o.Reference] = true, true, true
	}
	if len(times) != documents || len(references) != documents || len(states) < 8 {
		t.Errorf("%d times, %d references, %d states", len(times), len(references), len(states))
	}
}
