package instances

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestOneDecisionWins has 32 clients of two instances accept and reject the same
// order at once, in both versions.
//
// It guards that the order is locked in the database between the check of its state and
// the change; a lock inside a process would let two win.
// Proves decision 2 (simultaneous transitions).
func TestOneDecisionWins(t *testing.T) {
	onEach(t, func(t *testing.T, i installation) {
		const clients, orders = 32, 5
		two := i.pair(t, i.filled(t, orders))
		for n := sample(1); n <= orders; n++ {
			responses := make([]response, clients)
			testenv.Together(clients, func(who int, ready func()) {
				c, d := two[who%2], decisions[who/2%len(decisions)]
				c.Ask(t, http.MethodGet, "/healthz", "") // opens the connection
				ready()
				responses[who] = c.Ask(t, d.Method, d.Path(n), d.Body)
			})
			state, won := "", 0
			for who, got := range responses {
				d := decisions[who/2%len(decisions)]
				switch {
				case got.Status == http.StatusOK:
					won++
					state = d.Makes.String()
				case got.Status != http.StatusBadRequest || apptest.Message(got) != d.Refusal:
					t.Errorf("order %d, client %d: %d %s, want 400 %s", n, who, got.Status, got.Body, d.Refusal)
				}
			}
			testenv.Equal(t, fmt.Sprintf("order %d: clients that succeeded", n), 1, won)
			for round := range 4 {
				testenv.Equal(t, fmt.Sprintf("state of order %d", n), state, two[round/2].Order(t, n, round).State)
			}
		}
	})
}

// TestThreeUploadsStay has 24 clients of two instances upload to one order at
// once, each its own bytes under the same name.
//
// It guards that the database assigns file counts and names, and that what
// one instance stored another can serve.
// Proves decision 6 (three at once, 100 in all).
func TestThreeUploadsStay(t *testing.T) {
	onEach(t, func(t *testing.T, i installation) {
		const clients, orders = 24, 2
		two := i.pair(t, i.filled(t, orders))
		for n := sample(1); n <= orders; n++ {
			content := func(who int) []byte {
				return bytes.Repeat(fmt.Appendf(nil, "order %d, client %02d. ", n, who), 2000+100*who)
			}
			responses, entries := make([]response, clients), make([]entry, clients)
			testenv.Together(clients, func(who int, ready func()) {
				c := two[who%2]
				c.Ask(t, http.MethodGet, "/healthz", "") // opens the connection
				ready()
				var err error
				if responses[who], entries[who], err = c.Upload(n.Path(who/2), "invoice.pdf", content(who)); err != nil {
					t.Errorf("order %d, client %d: %v", n, who, err)
				}
			})
			var stored []int64
			for who, got := range responses {
				switch {
				case got.Status == http.StatusOK:
					stored = append(stored, entries[who].ID)
					// Of the instance that has not stored it.
					testenv.Equal(t, "content of "+entries[who].URL, content(who), two[1-who%2].Download(t, entries[who]))
				case got.Status != http.StatusBadRequest || apptest.Message(got) != tooManyFiles:
					t.Errorf("order %d, client %d: %d %s, want 400 %s", n, who, got.Status, got.Body, tooManyFiles)
				}
			}
			slices.Sort(stored)
			for round := range 4 {
				var shown []int64
				for _, e := range two[round/2].Order(t, n, round).Files {
					shown = append(shown, e.ID)
				}
				if len(stored) != 3 || !slices.Equal(shown, stored) {
					t.Errorf("order %d: uploads %v succeeded, %v are shown, want the same 3", n, stored, shown)
				}
			}
		}
	})
}
