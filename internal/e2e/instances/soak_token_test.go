package instances

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// soakRevoker creates tokens, uses them and revokes them. A revoked token must be
// refused by every request that begins after the response to its revocation, and by
// waiting requests instead of later events.
type soakRevoker struct {
	*soak
	waiting client
	dice    *rand.Rand
	working sync.WaitGroup // requests that wait with a token
}

// soakToken is a token and whether it is valid.
type soakToken struct {
	id       int64
	text     string
	merchant *soakMerchant
	phase    int // in which it was created or read from the database
	valid    bool
}

const (
	revokePause = 3 * time.Second // the mean
	// oldTokens is how many tokens are asked again, of those that were revoked or that
	// a replaced database may know again.
	oldTokens = 20
)

func (r *soakRevoker) work() {
	defer r.working.Wait()
	for r.sleep(time.Duration(r.dice.ExpFloat64() * float64(revokePause))) {
		r.round(r.merchants[r.dice.IntN(len(r.merchants))])
		r.askOld()
	}
}

// round gives one token its life.
func (r *soakRevoker) round(m *soakMerchant) {
	a := r.ask()
	t, ok := r.create(m)
	if !ok || !r.use(a, t) {
		return
	}
	var revoked atomic.Int64
	for slot := range r.instances {
		r.working.Go(func() { r.wait(t, slot, &revoked) })
	}
	path := fmt.Sprintf("/operator/tokens/%d", t.id)
	got, ok := r.send(r.pick(r.dice), http.MethodDelete, path, func(base string) (response, error) {
		c := r.operator
		c.Base = base
		return c.Try(http.MethodDelete, path, "")
	})
	if !ok || got.Status != http.StatusOK {
		if ok && r.ask().phase == a.phase {
			r.problem("revoke token %d: %d %s", t.id, got.Status, got.Body)
		}
		return
	}
	revoked.Store(int64(r.now()))
	t.valid = false
	if r.use(a, t) {
		r.counts.revocations.Add(1)
		r.tokens.add(t)
	}
}

// create makes a token through one of the instances.
func (r *soakRevoker) create(m *soakMerchant) (soakToken, bool) {
	a := r.ask()
	got, ok := r.send(r.pick(r.dice), http.MethodPost, "/operator/tokens", func(base string) (response, error) {
		c := r.operator
		c.Base = base
		return c.Try(http.MethodPost, "/operator/tokens", fmt.Sprintf(`{"merchantId":%d}`, m.id))
	})
	if !ok {
		return soakToken{}, false
	}
	var form struct {
		Text  string
		Token struct{ ID int64 }
	}
	if err := json.Unmarshal([]byte(got.Body), &form); err != nil || got.Status != http.StatusCreated {
		r.problem("create a token: %d %s, %v", got.Status, got.Body, err)
		return soakToken{}, false
	}
	return soakToken{form.Token.ID, form.Text, m, a.phase, true}, true
}

// use makes requests with a token at both instances. It returns false if the database
// was replaced since a.
func (r *soakRevoker) use(a asked, t soakToken) bool {
	want := http.StatusUnauthorized
	if t.valid {
		want = http.StatusOK
	}
	for slot := range r.instances {
		for _, path := range []string{"/v2/orders?itemsPerPage=1", "/api/orders", "/v2/events?after=latest"} {
			got, ok := r.send(r.prefer(slot), http.MethodGet, path, func(base string) (response, error) {
				c := r.http
				c.Base, c.Token = base, t.text
				return c.Try(http.MethodGet, path, "")
			})
			if r.ask().phase != a.phase || a.phase%2 == 1 {
				return false
			}
			if ok && got.Status != want {
				r.problem("GET %s with token %d, valid: %v: %d %s", path, t.id, t.valid, got.Status, got.Body)
			}
		}
	}
	return true
}

// wait waits at an instance for events with a token that is revoked meanwhile. Events
// whose request begins after the revocation must not be sent to it.
func (r *soakRevoker) wait(t soakToken, slot int, revoked *atomic.Int64) {
	phase, path := r.ask().phase, "/v2/events?after=latest"
	for r.context.Err() == nil {
		a := r.ask()
		got, ok := r.send(r.prefer(slot), http.MethodGet, path, func(base string) (response, error) {
			c := r.waiting
			c.Base, c.Token = base, t.text
			return c.TryContext(r.context, http.MethodGet, path, http.NoBody)
		})
		if !ok || got.Status == http.StatusUnauthorized || r.ask().phase != phase {
			return
		}
		var page soakPage
		if err := json.Unmarshal([]byte(got.Body), &page); err != nil || got.Status != http.StatusOK {
			r.problem("wait with token %d: %d %s, %v", t.id, got.Status, got.Body, err)
			return
		}
		if at := time.Duration(revoked.Load()); at > 0 {
			for _, e := range page.Events {
				if called, _, _ := r.times.of(e.RequestID); called > at {
					r.problem("token %d, revoked at %v, got event %d of a request at %v", t.id, at, e.Seq, called)
				}
			}
			if a.at > at {
				r.problem("token %d, revoked at %v, got a response to a request at %v: %s", t.id, at, a.at, got.Body)
			}
		}
		path = fmt.Sprintf("/v2/events?after=%d&wait=%d", page.Next, soakWait)
	}
}

// askOld uses one of the tokens that were revoked.
func (r *soakRevoker) askOld() {
	a := r.ask()
	if t, ok := r.tokens.any(r.dice); ok && t.phase == a.phase {
		r.use(a, t)
	}
}

// soakOldTokens are tokens that were revoked. A replaced database may not know that.
type soakOldTokens struct {
	mu   sync.Mutex
	last []soakToken
}

func (o *soakOldTokens) add(t soakToken) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = append(o.last[max(0, len(o.last)+1-oldTokens):], t)
}

func (o *soakOldTokens) any(dice *rand.Rand) (soakToken, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.last) == 0 {
		return soakToken{}, false
	}
	return o.last[dice.IntN(len(o.last))], true
}

// read reads which tokens are valid in a database, for the next phase.
func (o *soakOldTokens) read(db *sql.DB, phase int) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.last {
		hash := sha256.Sum256([]byte(o.last[i].text))
		var valid int
		err := db.QueryRow(`SELECT COUNT(*) FROM tokens WHERE hash = $1 AND revoked_at IS NULL`, hash[:]).Scan(&valid)
		if err != nil {
			return err
		}
		o.last[i].valid, o.last[i].phase = valid == 1, phase
	}
	return nil
}
