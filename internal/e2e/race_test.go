package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"merchantorders/internal/testenv"
)

// atOnce sends requests at the same time and returns their responses, in the
// order of the requests.
func (s *service) atOnce(t *testing.T, requests []request) []response {
	t.Helper()
	responses, faults := make([]response, len(requests)), make([]error, len(requests))
	start := make(chan struct{})
	var senders sync.WaitGroup
	for i, r := range requests {
		senders.Go(func() {
			<-start
			responses[i], faults[i] = s.trySend(t.Context(), r)
		})
	}
	close(start)
	senders.Wait()
	testenv.NoError(t, errors.Join(faults...))
	return responses
}

// TestSimultaneousActions sends accepts and rejects of one order through both
// versions at once: exactly one wins, the others get the published error, and
// the state is the winner's.
// Proves decision 2 (simultaneous transitions).
func TestSimultaneousActions(t *testing.T) {
	const rounds, perRound = 4, 32
	onBothDatabases(t, func(t *testing.T, s *service) {
		for round, o := range s.addMany(t, rounds) {
			requests := make([]request, perRound)
			for i := range requests {
				v := versions[i/2%2]
				requests[i] = v.accept(o)
				if i%2 == 1 {
					requests[i] = v.reject(o, `"reason":"damaged"`)
				}
			}
			winners := []int{}
			for i, a := range s.atOnce(t, requests) {
				v := versions[i/2%2]
				switch {
				case a.status == 200:
					winners = append(winners, i)
					a.want(t, 200, v.done())
				case i%2 == 0:
					a.wantRefusal(t, v, cannotAccept, o)
				default:
					a.wantRefusal(t, v, cannotReject, o)
				}
			}
			if len(winners) != 1 {
				t.Fatalf("round %d: %d of %d won", round, len(winners), perRound)
			}
			want := []string{"in-processing", "rejected-by-merchant"}[winners[0]%2]
			if got := v2.stateOf(t, s, o); got != want {
				t.Errorf("round %d: the state is %s, the winner made it %s", round, got, want)
			}
		}
	})
}

// TestSimultaneousUploads sends 24 files to one order at once, half of them
// with one name, through both versions: three stay, each with the bytes that
// were sent with it, and all others are refused.
// Proves decision 6 (three at once, 100 in all), spec 2.1.
func TestSimultaneousUploads(t *testing.T) {
	const uploads = 24
	onEveryBackend(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		requests, contents := make([]request, uploads), make([]string, uploads)
		for i := range requests {
			contents[i] = fmt.Sprintf("content %d", i)
			name := "same.pdf"
			if i%2 == 1 {
				name = fmt.Sprintf("own-%d.png", i)
			}
			requests[i] = versions[i/2%2].upload(o, name, contents[i])
		}
		stored := map[int64]string{}
		for i, a := range s.atOnce(t, requests) {
			if a.status == 200 {
				stored[numberAt(t, a.body, "invoice.id")] = contents[i]
				continue
			}
			a.wantRefusal(t, versions[i/2%2], tooManyFiles, o)
		}
		entries := s.entries(t, o)
		if len(stored) != 3 || len(entries) != 3 {
			t.Fatalf("%d uploads succeeded, %d entries are shown; want 3", len(stored), len(entries))
		}
		for _, e := range entries {
			if got := s.do(t, get(s.path(t, e.url))).ok(t); got != stored[e.id] {
				t.Errorf("invoice %d has %q, sent was %q", e.id, got, stored[e.id])
			}
		}
	})
}
