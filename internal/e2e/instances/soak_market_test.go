package instances

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"time"
)

// soakMarket follows the feed of all merchants, each time at any of the instances.
type soakMarket struct {
	*soak
	client client
	dice   *rand.Rand

	cursor, history string
	phase           int
	received        map[int64]*soakDeliveries // by merchant
}

func newSoakMarket(s *soak, feeds client) *soakMarket {
	m := &soakMarket{soak: s, client: feeds, dice: rand.New(rand.NewPCG(*soakSeed, 104)), received: make(map[int64]*soakDeliveries)}
	m.client.Token = s.operator.Token
	for _, one := range s.merchants {
		m.received[one.id] = newSoakDeliveries(true)
	}
	return m
}

// follow reads until the soak ends.
func (m *soakMarket) follow() {
	for m.context.Err() == nil {
		if !m.read(m.context, "10") {
			m.sleep(soakErrorPause)
		}
	}
}

// read reads a page and reports whether it had a response. If the event of the cursor is
// gone, the next page begins with the first event.
func (m *soakMarket) read(ctx context.Context, wait string) bool {
	a := m.ask()
	path := "/operator/events?limit=50&wait=" + wait + "&cursor=" + m.cursor
	got, ok := m.send(m.prefer(m.dice.IntN(len(m.instances))), http.MethodGet, path, func(base string) (response, error) {
		c := m.client
		c.Base = base
		return c.TryContext(ctx, http.MethodGet, path, http.NoBody)
	})
	var page soakMarketPage
	switch {
	case !ok:
		return false
	case got.Status == http.StatusConflict:
		m.cursor, m.history = "", ""
		return true
	case got.Status != http.StatusOK || json.Unmarshal([]byte(got.Body), &page) != nil:
		m.problem("GET %s: %d %.500s", path, got.Status, got.Body)
		return false
	}
	if phase := m.ask().phase; page.History != m.history || phase != m.phase || phase != a.phase || phase%2 == 1 {
		// Numbers may begin again.
		m.history, m.phase = page.History, phase
		for _, d := range m.received {
			d.newest = 0
		}
	}
	m.cursor = page.Next
	for _, e := range page.Events {
		d := m.received[e.MerchantID]
		if d == nil {
			m.problem("merchant %d is in the feed of all merchants", e.MerchantID)
			continue
		}
		if problem := d.take(e.soakEvent); problem != "" {
			m.problem("merchant %d, in the feed of all merchants: %s", e.MerchantID, problem)
		}
		m.counts.market.Add(1)
	}
	return true
}

// check reads on when the load has ended, and compares what it read of each event with
// the table.
func (m *soakMarket) check() {
	m.t.Helper()
	for _, one := range m.merchants {
		l := m.ledgers[one.id]
		missing := ""
		for end := time.Now().Add(hookWait); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			m.read(m.t.Context(), "0")
			if missing = m.received[one.id].missing(l.timeline); missing == "" {
				break
			}
		}
		if missing != "" {
			m.problem("merchant %d: in the feed of all merchants %s", one.id, missing)
		}
	}
}
