package instances

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// maxRequestTime is how long a request may take while the database hangs: far
// above the service's own limits.
const maxRequestTime = time.Minute

// withPassword puts a password into an address, for a server that asks for none.
func withPassword(t *testing.T, address string) string {
	return changed(t, address, func(u *url.URL) { u.User = url.UserPassword("postgres", secret) })
}

// outage is a way in which a database fails and comes back.
type outage struct {
	begin func(t *testing.T)
	end   func(t *testing.T)
	// meanwhile is done while it is out of reach; nil: nothing.
	meanwhile func(t *testing.T, c *crowd)
}

// run has a crowd work on two instances before, during and after an outage.
func (o outage) run(t *testing.T, i installation) {
	token := i.filled(t, crowdOrders)
	processes := []*apptest.Process{i.process(t), i.process(t)}
	c := newCrowd(t, [2]client{apptest.NewClient(t, processes[0].BaseURL, token), apptest.NewClient(t, processes[1].BaseURL, token)})
	quiet := goroutines(t, c.instances[0])
	c.begin()
	testenv.Eventually(t, "all kinds of requests succeed", func() bool { return c.everyKind(c.done, nil) })
	o.begin(t)
	testenv.Eventually(t, "all kinds of requests meet the fault", func() bool { return c.everyKind(c.failed, nil) })
	for _, instance := range c.instances {
		instance.Ask(t, http.MethodGet, "/healthz", "").WantStatus(t, http.StatusOK)
		// What /readyz says may be a second old.
		testenv.Eventually(t, "/readyz is 503", func() bool {
			return instance.Ask(t, http.MethodGet, "/readyz", "").Status == http.StatusServiceUnavailable
		})
	}
	if o.meanwhile != nil {
		o.meanwhile(t, c)
	}
	o.end(t)
	c.recovers()

	c.check()
	checkTotals(t, c.instances[0], i.tables(t), merchantID)
	for n, instance := range c.instances {
		testenv.Eventually(t, "an instance is ready", func() bool {
			return instance.Ask(t, http.MethodGet, "/readyz", "").Status == http.StatusOK
		})
		testenv.Eventually(t, "nothing of the outage is left under way", func() bool {
			return goroutines(t, instance) < quiet+30
		})
		testenv.Lacks(t, "log", processes[n].Log(), secret)
	}
}

// recovers waits until every kind of request succeeds at both instances and no
// request fails any more: several times one after the other, because a
// connection may remember the fault. Then the crowd ends.
func (c *crowd) recovers() {
	c.t.Helper()
	const rounds = 5
	testenv.Eventually(c.t, "all kinds of requests succeed and none fails", func() bool {
		for range rounds {
			before, failed := c.counts()
			testenv.Eventually(c.t, "all kinds of requests succeed again", func() bool { return c.everyKind(c.done, before) })
			if _, now := c.counts(); now != failed {
				return false
			}
		}
		return true
	})
	c.end()
	if c.longest > maxRequestTime {
		c.t.Errorf("a request took %v", c.longest)
	}
}

// counts returns how many requests of each kind succeeded, and how many failed.
func (c *crowd) counts() (done map[string]int, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.failed {
		failed += n
	}
	return maps.Clone(c.done), failed
}

// TestDatabaseStopsAndReturns stops the server as a crash does, and starts it
// again, under load.
func TestDatabaseStopsAndReturns(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	outage{
		begin: func(*testing.T) { server.Stop() },
		end: func(t *testing.T) {
			testenv.NoError(t, server.Run())
		},
	}.run(t, onPostgres(t, withPassword(t, server.Database(t))))
}

// TestDatabaseHangs stops the database server, which keeps its connections. The
// requests of a burst must not wait long, and their transactions must not remain
// open.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	var thaw func()
	outage{
		begin: func(t *testing.T) { thaw = freeze(t, server) },
		end:   func(*testing.T) { thaw() },
		meanwhile: func(t *testing.T, c *crowd) {
			const burst = 200
			var wait sync.WaitGroup
			for n := range burst {
				wait.Go(func() { c.look(n, "order v2", sample(1+n).V2()) })
			}
			wait.Wait()
		},
	}.run(t, onPostgres(t, withPassword(t, server.Database(t))))
}

// TestDatabaseMoves has the connections to the server go silent, as they do when
// another machine takes over its address. New ones work at once.
func TestDatabaseMoves(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	var w *wire
	through := changed(t, address, func(u *url.URL) {
		w = newWire(t, u.Host)
		u.Host = w.address()
	})
	i := onPostgres(t, through)
	i.source = address
	token := i.filled(t, crowdOrders)
	two := i.pair(t, token)
	c := newCrowd(t, two)
	c.begin()
	testenv.Eventually(t, "all kinds of requests succeed", func() bool { return c.everyKind(c.done, nil) })
	w.deafen()
	c.recovers()
	// Connections that have been idle for a while are asked first, and no request
	// fails then. Not at every try: what an instance does by itself now and then
	// may have used one just before.
	testenv.Eventually(t, "idle connections go silent and no request fails", func() bool {
		time.Sleep(1500 * time.Millisecond)
		w.deafen()
		for round := range 4 {
			if two[round%2].Ask(t, http.MethodGet, sample(1+round).V2(), "").Status != http.StatusOK {
				return false
			}
		}
		return true
	})
	c.check()
}

var goroutineCount = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

// goroutines returns how much an instance has under way, but for connections
// that this client has left open.
func goroutines(t testing.TB, c client) int {
	t.Helper()
	c.HTTP.CloseIdleConnections()
	found := goroutineCount.FindStringSubmatch(c.Ask(t, http.MethodGet, "/metrics", "").Body)
	if found == nil {
		t.Fatal("the metrics do not tell of goroutines")
	}
	n := testenv.Of(strconv.Atoi(found[1])).Must(t)
	return n
}
