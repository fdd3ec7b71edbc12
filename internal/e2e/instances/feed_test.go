package instances

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestSyncThroughTheFeed has four clients take in and move orders through three instances
// while a reader follows the feed of the merchant and another that of all merchants from
// the beginning, each keeping its own copy of the states. Readers are killed at random,
// and go on from what they had saved; instances are killed at random, and others replace
// them. In the end each copy must be what the database has, and lists, orders and day
// counts must tell the same.
//
// It guards that events and counts are written with the change they tell of, and
// numbered in commit order, that what is read has no gap, and that an instance finds
// out what the others have done.
// Proves decision 3 (totals).
func TestSyncThroughTheFeed(t *testing.T) {
	onEach(t, func(t *testing.T, i installation) {
		const writers, readers, orders = 4, 2, 40
		total := testenv.Count(24, 1000)
		token := i.filled(t, writers*orders)
		operator := i.run(t, "", "token", "create", "--operator")
		f := newFleet(t, i, 3)

		stop := make(chan struct{})
		var writing, reading sync.WaitGroup
		for who := range writers {
			w := feedWriter{fleet: f, first: sample(1 + who*orders), orders: orders, fresh: sample(10_000 * (1 + who)), dice: rand.New(rand.NewPCG(23, uint64(who)))}
			w.merchant, w.operator = apptest.NewClient(t, "", token), apptest.NewClient(t, "", operator)
			writing.Go(func() { w.work(t, stop) })
		}
		kills, newest := make([]chan struct{}, readers), make([]chan int64, readers)
		copies := make([]feedCopy, readers)
		for who := range readers {
			kills[who], newest[who] = make(chan struct{}), make(chan int64)
			r := feedReader{fleet: f, client: apptest.NewClient(t, "", token), dice: rand.New(rand.NewPCG(29, uint64(who)))}
			if who > 0 {
				r.market, r.client.Token = true, operator
			}
			reading.Go(func() { copies[who] = r.follow(t, kills[who], newest[who]) })
		}

		dice := rand.New(rand.NewPCG(31, 1))
		for round := range total {
			time.Sleep(time.Duration(dice.IntN(40)) * time.Millisecond)
			if round%2 == 0 {
				f.killOne(t, dice)
			} else {
				kills[dice.IntN(readers)] <- struct{}{}
			}
		}
		close(stop)
		writing.Wait()
		db := i.tables(t)
		last := int64(number(t, db, `SELECT last_event FROM merchants WHERE id = $1`, merchantID))
		for _, reader := range newest {
			reader <- last
		}
		reading.Wait()
		if last < int64(writers*orders+total) {
			t.Errorf("only %d events in %d rounds", last, total)
		}
		states := storedStates(t, i)
		for who, copied := range copies {
			if copied.seq != last {
				t.Errorf("reader %d has come to event %d of %d", who, copied.seq, last)
			}
			testenv.Equal(t, fmt.Sprintf("states of reader %d", who), states, copied.states)
		}
		for _, one := range f.running {
			checkTotals(t, apptest.NewClient(t, one.BaseURL, token), db, merchantID)
		}
		t.Logf("%d events of %d orders, %d rounds", last, len(states), total)
	})
}

// storedStates returns the state of every order of the merchant, by reference.
func storedStates(t *testing.T, i installation) map[string]string {
	t.Helper()
	rows := testenv.Of(i.tables(t).QueryContext(t.Context(), `SELECT reference, state FROM orders WHERE merchant_id = $1`, merchantID)).Must(t)
	defer func() { _ = rows.Close() }()
	states := map[string]string{}
	for rows.Next() {
		var reference string
		var state order.State
		testenv.NoError(t, rows.Scan(&reference, &state))
		states[reference] = state.String()
	}
	testenv.NoError(t, rows.Err())
	return states
}

// feedWriter changes orders of its own through whichever instance is there, and
// does not ask what became of a request that was cut off.
type feedWriter struct {
	fleet              *fleet
	merchant, operator client
	first, fresh       sample // of its orders, and of those that it takes in
	orders             int
	dice               *rand.Rand
}

func (w feedWriter) work(t *testing.T, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		n := w.first + sample(w.dice.IntN(w.orders))
		c, method, path, body := w.operator, http.MethodPost, fmt.Sprintf("/operator/merchants/%d/orders/%s/state", merchantID, n.Reference()), ""
		switch w.dice.IntN(3) {
		case 0:
			d := decisions[w.dice.IntN(len(decisions))]
			c, method, path, body = w.merchant, d.Method, d.Path(n), d.Body
		case 1:
			w.fresh++
			path, body = "/operator/orders", string(apptest.Registered(merchantID, w.fresh, 1))
		default:
			body = `{"state":"` + operatorMoves[w.dice.IntN(len(operatorMoves))].String() + `"}`
		}
		c.Base = w.fleet.any(w.dice)
		got, err := c.Try(method, path, body)
		switch {
		case err != nil, got.Status == http.StatusServiceUnavailable: // an instance that is killed
		case got.Status >= 300 && got.Status != http.StatusBadRequest && got.Status != http.StatusConflict:
			t.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
			return
		}
	}
}

// feedCopy is what a reader has made of the events up to one.
type feedCopy struct {
	seq    int64
	cursor string // in the feed of all merchants
	states map[string]string
}

func (c feedCopy) clone() feedCopy { return feedCopy{c.seq, c.cursor, maps.Clone(c.states)} }

// feedReader follows the feed. It saves its copy now and then, and what it had
// not saved when it is killed is gone.
type feedReader struct {
	fleet  *fleet
	client client
	market bool // it follows the feed of all merchants
	dice   *rand.Rand
	saved  feedCopy
}

// follow lives one life after the other, until it has come to the newest event,
// once that is known, and returns its copy.
func (r *feedReader) follow(t *testing.T, kill <-chan struct{}, newest <-chan int64) feedCopy {
	r.saved = feedCopy{states: map[string]string{}}
	for last := int64(-1); last < 0 || r.saved.seq < last; {
		life, end := context.WithCancel(t.Context())
		var done sync.WaitGroup
		problem, until := "", last
		done.Go(func() {
			defer end()
			problem = r.live(life, until)
		})
		select {
		case <-kill:
			end()
		case last = <-newest:
			end()
		case <-life.Done():
		}
		done.Wait()
		if problem != "" {
			t.Error(problem)
			// Those who tell it something must not wait for it.
			for last < 0 {
				select {
				case <-kill:
				case last = <-newest:
				}
			}
			return r.saved
		}
	}
	return r.saved
}

// live reads on from what was saved until it is killed or has come to the last
// event, where that is known. It returns what is wrong with what it read.
func (r *feedReader) live(ctx context.Context, last int64) string {
	copied := r.saved.clone()
	for ctx.Err() == nil && (last < 0 || copied.seq < last) {
		got, ok := r.read(ctx, copied)
		if !ok {
			continue
		}
		if problem := copied.apply(got, r.market); problem != "" {
			return problem
		}
		if r.dice.IntN(3) == 0 || copied.seq == last {
			r.saved = copied.clone()
		}
	}
	return ""
}

// feedPage is a response of the feed.
type feedPage struct {
	Events []struct {
		Seq            int64
		Type           string
		OrderReference string
		Data           struct{ From, To, State string }
	}
	Next any // a cursor, in the feed of all merchants
}

// read asks whichever instance is there for the next events, and reports whether
// it has sent a response.
func (r *feedReader) read(ctx context.Context, after feedCopy) (feedPage, bool) {
	r.client.Base = r.fleet.any(r.dice)
	path := fmt.Sprintf("/v2/events?after=%d&limit=%d&wait=5", after.seq, 1+r.dice.IntN(60))
	if r.market {
		path = fmt.Sprintf("/operator/events?cursor=%s&limit=%d&wait=5", after.cursor, 1+r.dice.IntN(60))
	}
	got, err := r.client.TryContext(ctx, http.MethodGet, path, http.NoBody)
	var page feedPage
	ok := err == nil && got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &page) == nil
	return page, ok
}

// apply takes over the events of a page. It returns what is wrong with them.
func (c *feedCopy) apply(page feedPage, market bool) string {
	for _, e := range page.Events {
		if e.Seq != c.seq+1 {
			return fmt.Sprintf("after %d comes %d", c.seq, e.Seq)
		}
		if e.Data.From != c.states[e.OrderReference] {
			return fmt.Sprintf("event %d takes %s from %q, and it was %q", e.Seq, e.OrderReference, e.Data.From, c.states[e.OrderReference])
		}
		c.seq, c.states[e.OrderReference] = e.Seq, e.Data.To+e.Data.State
	}
	if market {
		c.cursor = page.Next.(string)
	} else if page.Next != float64(c.seq) {
		return fmt.Sprintf("next is %v after %d", page.Next, c.seq)
	}
	return ""
}
