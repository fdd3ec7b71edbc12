package instances

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/testenv"
)

// soakHooks receives the deliveries of webhooks of some merchants. Now and then it refuses
// one.
type soakHooks struct {
	*soak
	server *httptest.Server

	mu       sync.Mutex
	dice     *rand.Rand
	received map[int64]*soakDeliveries // by merchant
}

// soakDeliveries is what the webhook of a merchant has received.
type soakDeliveries struct {
	phase  int                 // of the newest delivery
	newest int64               // number of the newest event that was received in this phase; 0: none
	last   map[int64]soakEvent // the last delivery of each number
}

const (
	// soakHooked is how many merchants have a webhook.
	soakHooked = 6
	// hookWait is how long deliveries may go on when the load has ended: longer than the
	// pause after several failures.
	hookWait = 3 * time.Minute
)

// startHooks adds the webhooks.
func (s *soak) startHooks() *soakHooks {
	s.t.Helper()
	h := &soakHooks{soak: s, dice: rand.New(rand.NewPCG(*soakSeed, 103)), received: make(map[int64]*soakDeliveries)}
	h.server = httptest.NewServer(h)
	s.t.Cleanup(h.server.Close)
	c := s.operator
	c.Base = s.instances[0].Load().process.BaseURL
	for _, m := range s.merchants[:soakHooked] {
		h.received[m.id] = &soakDeliveries{last: make(map[int64]soakEvent)}
		body := fmt.Sprintf(`{"url":"%s/%d","after":0}`, h.server.URL, m.id)
		got, err := c.Try(http.MethodPost, fmt.Sprintf("/operator/merchants/%d/webhooks", m.id), body)
		testenv.NoError(s.t, err)
		if got.Status != http.StatusCreated {
			s.t.Fatalf("add a webhook: %d %s", got.Status, got.Body)
		}
	}
	return h
}

// ServeHTTP takes a delivery. While the database stays the same, none may be left out
// before it.
func (h *soakHooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var id int64
	var e soakEvent
	_, err := fmt.Sscanf(r.URL.Path, "/%d", &id)
	if decodeErr := json.NewDecoder(r.Body).Decode(&e); err != nil || decodeErr != nil {
		h.problem("delivery to %s: %v, %v", r.URL.Path, err, decodeErr)
		return
	}
	phase := h.ask().phase
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dice.IntN(50) == 0 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	d := h.received[id]
	if phase != d.phase || phase%2 == 1 {
		d.phase, d.newest = phase, 0
	}
	if d.newest != 0 && e.Seq > d.newest+1 {
		h.problem("merchant %d: event %d is delivered after %d", id, e.Seq, d.newest)
	}
	d.newest = max(d.newest, e.Seq)
	d.last[e.Seq] = e
	h.counts.deliveries.Add(1)
}

// missing returns which events of a merchant are not delivered as the table has them.
func (h *soakHooks) missing(id int64, l *ledger) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.received[id].missing(l)
}

// check waits until all events are delivered, and compares the last delivery of each with
// the table.
func (h *soakHooks) check() {
	h.t.Helper()
	for _, m := range h.merchants[:soakHooked] {
		l := h.ledgers[m.id]
		missing := ""
		for end := time.Now().Add(hookWait); time.Now().Before(end); time.Sleep(time.Second) {
			if missing = h.missing(m.id, l); missing == "" {
				break
			}
		}
		if missing != "" {
			h.problem("merchant %d: %s", m.id, missing)
		}
	}
}

// missing returns which events of a merchant were not received as the table has them.
func (d *soakDeliveries) missing(l *ledger) string {
	var all []string
	for seq := int64(1); seq <= l.newest(); seq++ {
		if e, ok := d.last[seq]; !ok || !e.tells(l.event(seq)) {
			all = append(all, fmt.Sprint(seq))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d events are missing: %.200s", len(all), l.newest(), strings.Join(all, " "))
}
