package robust

import (
	"maps"
	"net/http"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// attempt is one way to accept or reject an order.
type attempt struct {
	method, body string
	path         func(sample) string
	makes        string // the state after success
	refusal      string
}

var (
	accepted, rejected = order.InProcessing.String(), order.RejectedByMerchant.String()

	attempts = []attempt{
		{http.MethodPut, `{"status":"G"}`, sample.v1, accepted, "Cannot Accept Order"},
		{http.MethodPut, `{"status":"D","reason":"damaged"}`, sample.v1, rejected, "Cannot Reject Order"},
		{http.MethodPatch, "", func(n sample) string { return n.v2() + "/accept" }, accepted, "Cannot Accept Order"},
		{http.MethodPatch, `{"status":"D"}`, func(n sample) string { return n.v2() + "/reject" }, rejected, "Cannot Reject Order"},
	}
)

// TestOneDecisionWins has 32 clients accept and reject the same order at once, in
// both versions.
//
// It guards that the state is looked at and changed under one lock, and the day
// counts with it: without the look all succeed, without the counts the totals
// are off after a restart.
func TestOneDecisionWins(t *testing.T) {
	t.Parallel()
	const clients, orders = 32, 6
	s := start(t)
	s.Import(t, registered(1, orders)...)
	want := s.totals(t, "")
	for n := sample(1); n <= orders; n++ {
		day := ingesttest.CreatedAt(int(n)).Format("2006-01-02")
		wantDay := s.totals(t, "dateFrom="+day+"&dateTo="+day)
		state := s.raceToDecide(t, n, clients)
		if got := s.state(t, n); got != state {
			t.Errorf("order %d is %s, but the client that succeeded made it %s", n, got, state)
		}
		if got := events(t, s.Data, n, order.OrderStateChanged); got != 1 {
			t.Errorf("order %d: %d events of the change, want 1", n, got)
		}
		move(want, state)
		move(wantDay, state)
		if diff := cmp.Diff(want, s.totals(t, "")); diff != "" {
			t.Fatalf("orders by state after order %d (-want +got):\n%s", n, diff)
		}
		if diff := cmp.Diff(wantDay, s.totals(t, "dateFrom="+day+"&dateTo="+day)); diff != "" {
			t.Fatalf("orders of the day by state after order %d (-want +got):\n%s", n, diff)
		}
	}
	// The stored state must be right too, not only what the server remembers.
	s.Stop(t, syscall.SIGTERM)
	again := startOn(t, s.Data)
	if diff := cmp.Diff(want, again.totals(t, "")); diff != "" {
		t.Errorf("orders by state after a restart (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, counted(again.walk(t))); diff != "" {
		t.Errorf("orders counted on the pages (-want +got):\n%s", diff)
	}
}

// raceToDecide lets clients accept or reject an order at once. Exactly one may
// succeed;
// it returns the state that this one has made.
func (r running) raceToDecide(t *testing.T, n sample, clients int) string {
	t.Helper()
	responses := make([]response, clients)
	testenv.Together(clients, func(i int, ready func()) {
		r.ask(t, http.MethodGet, "/healthz", "") // opens the connection
		ready()
		a := attempts[i%len(attempts)]
		responses[i] = r.ask(t, a.method, a.path(n), a.body)
	})
	state, won := "", 0
	for i, got := range responses {
		a := attempts[i%len(attempts)]
		switch {
		case got.status == http.StatusOK:
			won++
			state = a.makes
		case got.status != http.StatusBadRequest || got.message() != a.refusal:
			t.Errorf("order %d, %s %s: %d %s, want 400 %s", n, a.method, a.path(n), got.status, got.body, a.refusal)
		}
	}
	if won != 1 {
		t.Fatalf("order %d: %d of %d clients succeeded, want 1", n, won, clients)
	}
	return state
}

// move counts an order on, from registered to another state.
func move(totals map[string]int, state string) {
	totals[state]++
	totals[order.Registered.String()]--
	maps.DeleteFunc(totals, func(_ string, n int) bool { return n == 0 })
}
