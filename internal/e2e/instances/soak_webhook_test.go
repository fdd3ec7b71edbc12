package instances

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/testenv"
)

// soakHooks receives the deliveries of the webhooks of some merchants, and of one of the
// marketplace. Now and then it refuses one.
type soakHooks struct {
	*soak
	server *httptest.Server

	mu       sync.Mutex
	dice     *rand.Rand
	received map[soakHook]*soakDeliveries
	again    map[[2]int64]int // merchant, number -> how often the marketplace still refuses the event
}

// soakHook is a webhook, and a merchant whose events it receives.
type soakHook struct {
	owner    string // id of the merchant, or webhook.All
	merchant int64
}

// soakDeliveries are the events of a merchant that one reader has received.
type soakDeliveries struct {
	once   bool  // events are not repeated while the database stays the same
	phase  int   // of the newest event
	newest int64 // number of the newest event in this phase; 0: none
	// received are the events by their number: several, because a replacement of the database
	// may bring back an event that was delivered before another of its number.
	received map[int64][]soakEvent
}

func newSoakDeliveries(once bool) *soakDeliveries {
	return &soakDeliveries{once: once, received: make(map[int64][]soakEvent)}
}

const (
	// soakHooked is how many merchants have a webhook.
	soakHooked = 6
	// hookWait is how long a delivery may take when the load has ended: longer than the
	// pause after several failures.
	hookWait = 5 * time.Minute
	// hookRefuses and marketRefuses: of so many deliveries one is refused. An event of that to
	// the marketplace is refused several times more, so that the events of its merchant are held.
	hookRefuses   = 50
	marketRefuses = 200
)

// startHooks adds the webhooks.
func (s *soak) startHooks() *soakHooks {
	s.t.Helper()
	h := &soakHooks{soak: s, dice: rand.New(rand.NewPCG(*soakSeed, 103)), received: make(map[soakHook]*soakDeliveries), again: make(map[[2]int64]int)}
	h.server = httptest.NewServer(h)
	s.t.Cleanup(h.server.Close)
	for i, m := range s.merchants[:soakHooked] {
		owner, batch := fmt.Sprint(m.id), 1
		if i%2 == 1 {
			batch = h.batch()
		}
		h.received[soakHook{owner, m.id}] = newSoakDeliveries(false)
		h.add(owner, `"after":0`, batch)
	}
	for _, m := range s.merchants {
		h.received[soakHook{webhook.All, m.id}] = newSoakDeliveries(false)
	}
	h.add(webhook.All, `"cursor":""`, h.batch())
	return h
}

// batch returns how many events a delivery may have.
func (h *soakHooks) batch() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return 2 + h.dice.IntN(webhook.MaxBatch-1)
}

// add adds a webhook that begins with the first event.
func (h *soakHooks) add(owner, start string, batch int) {
	h.t.Helper()
	c := h.operator
	c.Base = h.instances[0].Load().process.BaseURL
	got := testenv.Of(c.Try(http.MethodPost, "/operator/merchants/"+owner+"/webhooks", fmt.Sprintf(`{"url":"%s/%s","batch":%d,%s}`, h.server.URL, owner, batch, start))).Must(h.t)
	if got.Status != http.StatusCreated {
		h.t.Fatalf("add a webhook: %d %s", got.Status, got.Body)
	}
}

// ServeHTTP takes a delivery: of an event, or of a batch.
func (h *soakHooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	owner := strings.TrimPrefix(r.URL.Path, "/")
	var sent struct {
		soakMarketEvent
		Events []soakMarketEvent
	}
	err := json.NewDecoder(r.Body).Decode(&sent)
	events := sent.Events
	if events == nil {
		events = []soakMarketEvent{sent.soakMarketEvent}
	}
	if len(events) == 1 {
		events[0].ID = r.Header.Get("webhook-id")
	}
	refuses, count := marketRefuses, &h.counts.marketDeliveries
	if owner != webhook.All {
		for i := range events {
			events[i].MerchantID, _ = strconv.ParseInt(owner, 10, 64)
		}
		refuses, count = hookRefuses, &h.counts.deliveries
	}
	phase := h.ask().phase
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil || len(events) == 0 {
		h.problem("delivery to %s: %d events, %v", r.URL.Path, len(events), err)
		return
	}
	if h.refuses(owner, events, refuses) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	for _, e := range events {
		d := h.received[soakHook{owner, e.MerchantID}]
		if d == nil {
			h.problem("delivery to %s: merchant %d", r.URL.Path, e.MerchantID)
			continue
		}
		if phase != d.phase || phase%2 == 1 {
			d.phase, d.newest = phase, 0
		}
		if problem := d.take(e.soakEvent); problem != "" {
			h.problem("webhook of %s, merchant %d: %s", owner, e.MerchantID, problem)
		}
		count.Add(1)
	}
}

// refuses reports whether a delivery is refused, one of n, or because of one of its events.
func (h *soakHooks) refuses(owner string, events []soakMarketEvent, n int) bool {
	at := func(e soakMarketEvent) [2]int64 { return [2]int64{e.MerchantID, e.Seq} }
	again := slices.IndexFunc(events, func(e soakMarketEvent) bool { return h.again[at(e)] > 0 })
	switch {
	case owner == webhook.All && again >= 0:
		h.again[at(events[again])]--
	case h.dice.IntN(n) > 0:
		return false
	case owner == webhook.All && len(events) == 1:
		h.again[at(events[0])] = 2
	case owner == webhook.All: // also after they are sent one by one
		h.again[at(events[h.dice.IntN(len(events))])] = 3
	}
	return true
}

// take takes the next event and returns what is wrong with it. None may be left out before
// it.
func (d *soakDeliveries) take(e soakEvent) string {
	before := d.newest
	d.newest = e.Seq
	if !slices.Contains(d.received[e.Seq], e) {
		d.received[e.Seq] = append(d.received[e.Seq], e)
	}
	if before != 0 && (e.Seq > before+1 || d.once && e.Seq <= before) {
		return fmt.Sprintf("event %d comes after %d", e.Seq, before)
	}
	return ""
}

// check waits until all events are delivered, and compares them with the table.
func (h *soakHooks) check() {
	h.t.Helper()
	for hook := range h.received {
		missing, count := h.missing(hook)
		for end := time.Now().Add(hookWait); missing != "" && time.Now().Before(end); {
			time.Sleep(time.Second)
			before := count
			if missing, count = h.missing(hook); count > before {
				end = time.Now().Add(hookWait)
			}
		}
		if missing != "" {
			h.problem("webhook of %s, merchant %d: %s", hook.owner, hook.merchant, missing)
		}
	}
}

// missing returns which events a webhook has not received of a merchant as the table has
// them, and how many deliveries there were of all.
func (h *soakHooks) missing(hook soakHook) (missing string, deliveries int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.received[hook].missing(h.ledgers[hook.merchant].timeline), h.counts.deliveries.Load() + h.counts.marketDeliveries.Load()
}

// missing returns which events of a merchant were not received as the table has them, with
// their ids where a delivery has one: the batch of a merchant has none.
func (d *soakDeliveries) missing(l *timeline) string {
	var all []string
	var first string
	for seq := int64(1); seq <= l.newest(); seq++ {
		want := l.event(seq)
		nonce := "_" + strconv.FormatUint(uint64(want.nonce), 36)
		is := func(e soakEvent) bool { return e.tells(want) && (e.ID == "" || strings.HasSuffix(e.ID, nonce)) }
		if !slices.ContainsFunc(d.received[seq], is) {
			if all = append(all, fmt.Sprint(seq)); first == "" {
				first = fmt.Sprintf("arrived as %+v, in the table it is %+v", d.received[seq], want)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d events are missing: %.200s; the first one %s", len(all), l.newest(), strings.Join(all, " "), first)
}
