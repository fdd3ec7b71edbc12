package instances

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"

	merchant "merchantorders/client"
)

// syncedOrders is the number of orders that TestSyncBesideWriters copies.
var syncedOrders = testenv.Count(10_000, 100_000)

// TestSyncBesideWriters copies all orders of a merchant page after page while
// four clients take in, accept, reject, cancel and move orders through two
// instances, and then brings the copy up to date by the events since. Every order
// that was there at the first page comes once, and in the end the copy is what
// the database has.
func TestSyncBesideWriters(t *testing.T) {
	documents := sync.OnceValues(func() (string, error) {
		const atOnce = 10_000 // so that they are not all in memory
		file, err := os.Create(filepath.Join(t.TempDir(), "orders.jsonl"))
		for first := 1; first <= syncedOrders && err == nil; first += atOnce {
			_, err = file.Write(append(registered(merchantID, sample(first), atOnce), '\n'))
		}
		return file.Name(), errors.Join(err, file.Close())
	})
	onEach(t, func(t *testing.T, i installation) {
		const writers = 4
		token := i.merchant(t, merchantID)
		orders, err := documents()
		testenv.NoError(t, err)
		i.run(t, "", "import", orders)
		operator := i.run(t, "", "token", "create", "--operator")
		f := newFleet(t, i, 2)
		dice := rand.New(rand.NewPCG(37, 0))
		program := syncProgram{t: t, states: make(map[string]string), base: f.any(dice), token: token}
		program.followEvents(0)
		if program.seq != int64(syncedOrders) {
			t.Fatalf("%d orders came in by %d events", syncedOrders, program.seq)
		}

		stop := make(chan struct{})
		var writing sync.WaitGroup
		for who := range writers {
			each := syncedOrders / writers
			w := feedWriter{fleet: f, first: sample(1 + who*each), orders: each, fresh: sample((10 + who) * syncedOrders), dice: rand.New(rand.NewPCG(37, uint64(1+who)))}
			w.merchant, w.operator = newClient(t, "", token), newClient(t, "", operator)
			writing.Go(func() { w.work(t, stop) })
		}
		shown := program.page()
		close(stop)
		writing.Wait()

		for n := 1; n <= syncedOrders; n++ {
			if times := shown[sample(n).reference()]; times != 1 {
				t.Errorf("%s was there at the first page, and was shown %d times", sample(n).reference(), times)
			}
		}
		program.base = f.any(dice)
		before := program.seq
		program.followEvents(before)
		if happened := program.seq - before; happened < 10*writers {
			t.Errorf("beside all pages only %d things happened", happened)
		}
		if diff := cmp.Diff(storedStates(t, i), program.states); diff != "" {
			t.Errorf("-database +copy:\n%.2000s", diff)
		}
		t.Logf("%d orders, of which %d were shown; %d events meanwhile", len(program.states), len(shown), program.seq-before)
	})
}

// syncProgram keeps a copy of the states of a merchant's orders.
type syncProgram struct {
	t           *testing.T
	base, token string
	states      map[string]string // by order reference
	seq         int64             // the last event that it has seen
}

func (p *syncProgram) client() *merchant.Client {
	p.t.Helper()
	c, err := merchant.New(p.base, p.token)
	testenv.NoError(p.t, err)
	return c
}

// page takes over every order of the lists, page after page, and returns how
// often each was shown.
func (p *syncProgram) page() map[string]int {
	p.t.Helper()
	c := p.client()
	defer c.Close()
	clear(p.states)
	shown := make(map[string]int)
	for o, err := range c.Orders(p.t.Context(), merchant.Filter{PageSize: 100}) {
		testenv.NoError(p.t, err)
		shown[o.Reference]++
		p.states[o.Reference] = string(o.State)
	}
	return shown
}

// followEvents takes over what has happened after an event, up to now.
func (p *syncProgram) followEvents(after int64) {
	p.t.Helper()
	c := p.client()
	defer c.Close()
	p.seq = after
	for e, err := range c.Events(p.t.Context(), after) {
		testenv.NoError(p.t, err)
		if e.Seq != p.seq+1 {
			p.t.Fatalf("after event %d comes %d", p.seq, e.Seq)
		}
		p.seq = e.Seq
		if state, ok := stateAfter(e); ok {
			p.states[e.OrderReference] = state
		}
	}
}

// stateAfter returns the state of an order after an event that tells it.
func stateAfter(e merchant.Event) (string, bool) {
	if change, ok := e.StateChange(); ok {
		return string(change.To), true
	}
	if e.Type != merchant.OrderCreated {
		return "", false
	}
	var created struct{ State string }
	if err := json.Unmarshal(e.Data, &created); err != nil {
		return fmt.Sprintf("none: %v", err), true
	}
	return created.State, true
}
