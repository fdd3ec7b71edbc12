package ingesttest_test

import (
	"testing"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
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

func TestDocumentIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "document 7", ingesttest.Document(7), ingesttest.Document(7))
}

func TestDocumentTakesChanges(t *testing.T) {
	t.Parallel()
	text := ingesttest.Document(3, func(doc map[string]any) {
		doc["merchantId"] = int64(12)
		doc["total"] = doc["total"].(int64) + 1
		doc["customer"].(map[string]any)["userId"] = int64(0)
		delete(doc, "orderId")
	}, func(doc map[string]any) {
		doc["lineItems"].([]any)[0].(map[string]any)["giftWrap"] = true
	})
	in := testenv.Of(ingest.Parse(text)).Must(t)
	o := in.Order
	if o.MerchantID != 12 || o.Total != o.Subtotal+401 || o.Customer.UserID != 0 || o.LegacyID != 0 || !o.LineItems[0].GiftWrap {
		t.Errorf("order %+v", o)
	}
}
