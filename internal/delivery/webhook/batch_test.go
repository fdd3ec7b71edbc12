package webhook

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// FuzzBatches cuts events of random sizes into bodies until all are sent: each body is valid
// JSON with the next ones, as they are, and has as many as fit into 1 MiB, one at least. An
// endpoint of single events gets each as it is.
func FuzzBatches(f *testing.F) {
	f.Add(uint64(1), uint8(100), uint32(30))
	f.Add(uint64(2), uint8(7), uint32(maxBatchBytes/2))
	f.Add(uint64(3), uint8(30), uint32(2*maxBatchBytes))
	f.Fuzz(func(t *testing.T, seed uint64, count uint8, size uint32) {
		random := rand.New(rand.NewPCG(seed, 0))
		events := make([][]byte, min(int(count), MaxBatch))
		for i := range events {
			text := bytes.Repeat([]byte("a"), random.IntN(1+min(int(size), 2*maxBatchBytes)))
			events[i] = slices.Concat([]byte(`"`), text, []byte(`"`))
		}
		for rest := events; len(rest) > 0; {
			if single, n := (Endpoint{MaxEvents: 1}).join(rest); n != 1 || !bytes.Equal(single, rest[0]) {
				t.Fatalf("%d single events: %.100s", n, single)
			}
			body, n := Endpoint{MaxEvents: MaxBatch}.join(rest)
			var sent struct{ Events []json.RawMessage }
			if err := json.Unmarshal(body, &sent); err != nil || len(sent.Events) != n {
				t.Fatalf("%d events in %.100s: %v", n, body, err)
			}
			for i, event := range sent.Events {
				if !bytes.Equal(event, rest[i]) {
					t.Fatalf("event %d of %d is %.100s", i, n, event)
				}
			}
			if len(body) > maxBatchBytes && n > 1 || n < len(rest) && len(body)+1+len(rest[n]) <= maxBatchBytes {
				t.Fatalf("%d of %d events in %d bytes", n, len(rest), len(body))
			}
			rest = rest[n:]
		}
	})
}

// TestBatchID checks that the id of several events is that of just these, and that a single
// one has the id that it has alone.
func TestBatchID(t *testing.T) {
	t.Parallel()
	events := make([]order.EventRecord, 3)
	for i := range events {
		events[i].Seq, events[i].Nonce = int64(i+1), 35
	}
	key := delivery.Key{MerchantID: 355, ID: 7}
	testenv.Equal(t, "one event", "msg_7_1_z", batchID(key, events[:1]))
	ids := make(map[string]bool)
	for _, some := range [][]order.EventRecord{events, events[:2], events[1:], {events[0], events[2]}, events} {
		ids[batchID(key, some)] = true
	}
	events[2].Nonce++
	ids[batchID(key, events)], ids[batchID(delivery.Key{MerchantID: 355, ID: 8}, events)] = true, true
	testenv.Equal(t, "ids", 6, len(ids))
}
