package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestBulkAccept accepts several orders, of which somebody else has accepted one.
func TestBulkAccept(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "SECOND"), newOrder(3, "TAKEN"), newOrder(4, "THEIRS", ofMerchant(theirs)))
	b := s.signedIn(s.token)
	form := b.get("/console/orders?state=registered").form(t, "/console/accept")
	form["order"] = []string{"FIRST", "TAKEN", "THEIRS", "<script>", "SECOND", "FIRST"}
	form.Set("back", "/console/orders?state=registered")
	_, err := s.Orders.Accept(t.Context(), order.Caller{Actor: order.ActorMerchant, MerchantID: ours, TokenID: 77}, order.ByReference("TAKEN"), order.Options[order.WriteResult]{})
	testenv.NoError(s.T, err)

	for _, repetition := range []string{"first", "second"} {
		got := b.post("/console/accept", form)
		got.WantText(t, http.StatusOK, "2 orders were accepted", "3 orders were not accepted", "token 77", `href="/console/orders?state=registered"`, "&lt;script&gt;")
		if strings.Contains(got.Body, "<script>") {
			t.Errorf("the %s page has a script of the form", repetition)
		}
	}
	for reference, want := range map[string]int{"FIRST": 2, "SECOND": 2, "TAKEN": 2} {
		events, err := s.Orders.OrderEvents(t.Context(), ours, order.ByReference(reference), order.FeedQuery{Limit: 10})
		if testenv.NoError(s.T, err); len(events) != want {
			t.Errorf("%s has %d events, want %d", reference, len(events), want)
		}
	}
	o, err := s.Orders.Get(t.Context(), theirs, order.ByReference("THEIRS"))
	if testenv.NoError(s.T, err); o.State != order.Registered {
		t.Errorf("the order of another store is %s", o.State)
	}
}

// TestBulkAcceptOfNothing sends the form without orders, and with too many.
func TestBulkAcceptOfNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	b := s.signedIn(s.token)
	form := b.get("/console/orders").form(t, "/console/accept")
	b.post("/console/accept", form).WantText(t, http.StatusUnprocessableEntity, "No order was selected")
	form["order"] = slices.Collect(func(yield func(string) bool) {
		for i := range 101 {
			if !yield("X" + strings.Repeat("x", i%60) + string(rune('A'+i/60))) {
				return
			}
		}
	})
	b.post("/console/accept", form).WantText(t, http.StatusUnprocessableEntity, "at most 100 orders")
	b.post("/console/accept", url.Values{"order": {"FIRST"}}).WantText(t, http.StatusBadRequest)
	if got := b.get("/console/accept"); got.location() != "/console/orders?state=registered" {
		t.Errorf("GET leads to %q", got.location())
	}
}

// TestLive waits for changes of the orders of a store, and of no other.
func TestLive(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "OURS"), newOrder(2, "THEIRS", ofMerchant(theirs)))
	b := s.signedIn(s.token)
	got := b.get("/console/live?after=0")
	got.WantText(t, http.StatusOK, `"orders":["OURS"]`, `"next":1`)
	b.get("/console/orders").WantText(t, http.StatusOK, `data-live-url="/console/live" data-live-after="1"`)
	for _, query := range []string{"", "?after=x", "?after=-1"} {
		b.get("/console/live"+query).WantText(t, http.StatusBadRequest)
	}

	changed := make(chan page)
	go func() { changed <- b.get("/console/live?after=1") }()
	s.waitForWaiters(1)
	_, err := s.Orders.Accept(t.Context(), order.CommandFor(ours), order.ByReference("OURS"), order.Options[order.WriteResult]{})
	testenv.NoError(s.T, err)
	(<-changed).WantText(t, http.StatusOK, `"orders":["OURS"]`, `"next":2`)

	go func() { changed <- b.get("/console/live?after=2") }()
	s.waitForWaiters(1)
	_, err = s.Tokens.Revoke(t.Context(), order.Command(), s.token)
	testenv.NoError(s.T, err)
	if got := <-changed; got.Status != http.StatusSeeOther {
		t.Errorf("after the revocation: %d %s", got.Status, got.Body)
	}
}

// waitForWaiters returns when a number of requests wait for events.
func (s *service) waitForWaiters(want int) {
	s.T.Helper()
	testenv.Eventually(s.T, fmt.Sprintf("%d requests wait", want), func() bool {
		waiting, _ := s.Orders.Waiting()
		return waiting == want
	})
}

// TestLiveIsNoUse checks that requests of scripts do not keep a session.
func TestLiveIsNoUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	watching, working := s.signedIn(s.token), s.signedIn(s.token)
	watching.header.Set("Console-Background", "1")
	for range 3 {
		s.Pass(3 * time.Hour)
		watching.get("/console/orders")
		working.get("/console/orders").WantText(t, http.StatusOK)
	}
	watching.get("/console/orders").WantStatus(t, http.StatusSeeOther)
}

// TestPackingSlip has what goes into the parcel, and no prices.
func TestPackingSlip(t *testing.T) {
	t.Parallel()
	nameless := func(document map[string]any) {
		document["customer"].(map[string]any)["firstName"], document["customer"].(map[string]any)["lastName"] = "Ελένη", "Πελάτισσα"
		document["customer"].(map[string]any)["phone"] = "6900000123"
		for _, name := range []string{"firstName", "lastName", "phone"} {
			document["shippingAddress"].(map[string]any)[name] = ""
		}
		document["payment"], document["total"] = map[string]any{"name": "cod"}, 123456
	}
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "THEIRS", ofMerchant(theirs)), newOrder(3, "THIRD", nameless))
	b := s.signedIn(s.token)
	got := b.get("/console/orders/FIRST/print")
	got.WantText(t, http.StatusOK, "Packing slip", "FIRST", `class="box"`)
	if strings.Contains(got.Body, "€") {
		t.Error("the slip has prices")
	}
	if strings.Contains(got.Body, "Collect") {
		t.Error("an order that is paid has an amount to collect")
	}
	b.get("/console/orders/THEIRS/print").WantText(t, http.StatusNotFound)
	b.get("/console/orders/THIRD/print").WantText(t, http.StatusOK, "<bdi>Ελένη Πελάτισσα</bdi>", "<bdi>6900000123</bdi>", "Collect: <strong>€1,234.56</strong>")

	got = b.get("/console/print?order=THIRD&order=FIRST&order=THEIRS&order=THIRD")
	got.WantText(t, http.StatusOK, "2 packing slips", "Not found: <bdi>THEIRS</bdi>")
	if third, first := strings.Index(got.Body, "<h2>Packing slip <bdi>THIRD"), strings.Index(got.Body, "<h2>Packing slip <bdi>FIRST"); third < 0 || first < third || strings.Count(got.Body, `class="sheet"`) != 2 {
		t.Errorf("the slips are not in the sequence of the selection: %s", got.Body)
	}
	b.get("/console/print").WantText(t, http.StatusUnprocessableEntity, "No order was selected")
}
