package delivery

import "testing"

// limited is a Sender with limits and nothing else.
type limited struct{ Sender }

func (limited) Limits() Limits { return Limits{Slots: 1, Slow: 1} }

// TestSlowEndpointRecovers checks that an endpoint that was slow or has failed is not
// healthy after its first fast deliveries, but after some.
func TestSlowEndpointRecovers(t *testing.T) {
	t.Parallel()
	for _, bad := range []Result{{Status: 204, Took: slowAfter + 1}, {Error: ErrorTimeout}} {
		w, key := NewWorker(Options{Senders: map[Kind]Sender{0: limited{}}}), Key{MerchantID: 355, ID: 1}
		healthy := func() bool {
			w.lanes[0].healthy.queue = nil
			w.enqueue(key)
			return len(w.lanes[0].healthy.queue) == 1
		}
		if !healthy() {
			t.Error("a new endpoint is not healthy")
		}
		w.pace(key, bad)
		for i := range fastToRecover {
			if healthy() {
				t.Errorf("healthy after %+v and %d fast deliveries", bad, i)
			}
			w.pace(key, Result{Status: 204})
		}
		if !healthy() || len(w.slow) != 0 {
			t.Errorf("not healthy after %+v and %d fast deliveries", bad, fastToRecover)
		}
	}
}
