package webhook

import "testing"

// TestSlowEndpointRecovers checks that an endpoint that was slow or has failed is not
// healthy after its first fast deliveries, but after some.
func TestSlowEndpointRecovers(t *testing.T) {
	t.Parallel()
	for _, bad := range []Result{{Status: 204, Took: slowAfter + 1}, {Error: ErrorTimeout}} {
		s, key := NewSender(Options{}), Key{MerchantID: 355, ID: 1}
		healthy := func() bool {
			s.healthy.queue = nil
			s.enqueue(key)
			return len(s.healthy.queue) == 1
		}
		if !healthy() {
			t.Error("a new endpoint is not healthy")
		}
		s.record(key, bad)
		for i := range fastToRecover {
			if healthy() {
				t.Errorf("healthy after %+v and %d fast deliveries", bad, i)
			}
			s.record(key, Result{Status: 204})
		}
		if !healthy() || len(s.slow) != 0 {
			t.Errorf("not healthy after %+v and %d fast deliveries", bad, fastToRecover)
		}
	}
}
