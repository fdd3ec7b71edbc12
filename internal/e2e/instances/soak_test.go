package instances

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

var (
	soakMinutes = flag.Int("minutes", 0, "how long TestSoak runs; 0: it is left out")
	soakSeed    = flag.Uint64("seed", 1, "seed of every request, pause and fault of TestSoak")
)

// The size of the soak.
const (
	soakMerchants = 20
	soakOrders    = 60 // of each merchant, to begin with
	soakReaders   = 100
	soakWorkers   = 8
	soakTokens    = 4 // of each merchant
	// soakSamples is the number of samples that belong to a merchant, more than it
	// ever has orders.
	soakSamples = 10_000
	// soakPause is the mean time between two requests of a worker. It keeps the whole
	// soak at about half a processor core.
	soakPause = 700 * time.Millisecond
	// soakMaxProblems is the number of problems after which the soak ends.
	soakMaxProblems = 10
)

// TestSoak runs two instances on PostgreSQL and S3 for a long time, under a mixed load
// of 20 merchants with 2,000 waiting readers, and kills instances, replaces the
// database by a standby or an earlier copy of it, stops the storage and revokes
// tokens meanwhile. Operators send streams of transitions of all merchants, webhooks of
// merchants and of the marketplace deliver the events, and a client follows the feed of
// all merchants. Every response is compared with the events in the database (see ledger).
// In the end memory, goroutines and descriptors must not have grown.
//
// It runs only if -minutes is given, which scripts/soak does.
func TestSoak(t *testing.T) {
	if *soakMinutes == 0 {
		t.Skip("takes many minutes; scripts/soak -minutes N runs it")
	}
	s := newSoak(t)
	end := time.Duration(*soakMinutes) * time.Minute
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("run it again: git checkout %s && bash scripts/soak -minutes %d -seed %d", s.commit, *soakMinutes, *soakSeed)
		}
	})
	defer s.report(end)
	working := s.begin()
	defer working.Wait()
	defer s.stop()
	s.disturb(end)
	s.stop()
	working.Wait()
	s.checkEvents()
	s.hooks.check()
	s.market.check()
	s.checkEnd()
}

// soak is a running soak.
type soak struct {
	installation
	t       *testing.T
	commit  string // of the sources when the soak began
	begun   time.Time
	context context.Context // ends with the soak
	stop    context.CancelFunc

	http, operator client // without and with an operator's token
	merchants      []*soakMerchant
	instances      [2]atomic.Pointer[incarnation]
	database       *soakDatabase
	storage        soakStorage

	times   *writeTimes
	tags    sync.Map // merchant, path and ETag -> hash of the body
	uploads uploads
	hooks   *soakHooks
	market  *soakMarket
	tokens  soakOldTokens
	counts  soakCounts
	samples []resources

	// phase is odd while the database is replaced. Responses to requests that begin or
	// end meanwhile, or that are under way, may be of one history or the other.
	mu        sync.RWMutex
	phase     int
	replaced  time.Duration     // when the database was replaced last
	ledgers   map[int64]*ledger // by merchant
	timelines []map[int64]*timeline

	checking sync.Mutex // held while events are read

	// uploading is held for reading during an upload, and locked while the database is copied.
	// A copy with the reservation of an upload that has succeeded since would have its file
	// removed once it expires, and a later copy that is put back after that lacks the file.
	uploading sync.RWMutex
}

// soakMerchant is a merchant of the soak.
type soakMerchant struct {
	id     int64
	tokens []string

	mu     sync.Mutex
	orders []sample // that were ever imported, or tried to
}

// soakCounts are the counts of a soak.
type soakCounts struct {
	requests, checked, between, events, faults, revocations, imports atomic.Int64
	streams, lines, searches, deliveries, marketDeliveries, market   atomic.Int64

	kills, failovers, restores, outages int
	lost                                int64 // events that a failover or a restore has lost
	problems                            atomic.Int64
}

// newSoak starts the servers and the instances and fills them.
func newSoak(t *testing.T) *soak {
	testenv.Need(t, "PostgreSQL and S3 servers")
	s := &soak{t: t, commit: commit(), begun: time.Now(), times: newWriteTimes(), ledgers: make(map[int64]*ledger)}
	s.context, s.stop = context.WithCancel(t.Context())
	t.Cleanup(s.stop)
	s.storage.start(t)
	s.database = startSoakDatabase(t)
	s.installation = onPostgres(t, s.database.address, "--storage", s.storage.setting, "--base-url", "http://localhost")
	s.source = s.database.primary.URL(s.database.name)
	for m := range int64(soakMerchants) {
		id := merchantID + m
		one := &soakMerchant{id: id, tokens: []string{s.merchant(t, id)}}
		for len(one.tokens) < soakTokens {
			one.tokens = append(one.tokens, s.run(t, "", "token", "create", "--merchant", fmt.Sprint(id)))
		}
		s.merchants = append(s.merchants, one)
		first := s.fresh(one, soakOrders)[0]
		s.run(t, string(apptest.Registered(id, first, soakOrders)), "import", "-")
		s.ledgers[id] = newLedger(s.times)
	}
	s.http = apptest.NewClient(t, "", "")
	s.operator = s.http
	s.operator.Token = s.run(t, "", "token", "create", "--operator")
	s.database.open(t)
	s.checkEvents()
	for _, l := range s.ledgers {
		l.start()
	}
	s.begun = time.Now()
	for slot := range s.instances {
		s.startInstance(slot)
	}
	s.hooks = s.startHooks()
	return s
}

// begin starts everything that goes on during the whole soak.
func (s *soak) begin() *sync.WaitGroup {
	var working sync.WaitGroup
	for who := range soakWorkers {
		w := soakWorker{soak: s, dice: rand.New(rand.NewPCG(*soakSeed, uint64(who))), who: who, seen: make(map[string]tagged)}
		working.Go(w.work)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: soakMerchants * soakReaders}
	s.t.Cleanup(transport.CloseIdleConnections)
	feeds := client{HTTP: &http.Client{Transport: transport, Timeout: testenv.WaitTimeout}}
	for who := range soakMerchants * soakReaders {
		r := soakReader{soak: s, client: feeds, merchant: s.merchants[who%soakMerchants], home: who / soakMerchants % 2,
			dice: rand.New(rand.NewPCG(*soakSeed, uint64(1000+who)))}
		r.token = r.merchant.tokens[who/soakMerchants/2%soakTokens]
		working.Go(r.follow)
	}
	s.market = newSoakMarket(s, feeds)
	working.Go(s.market.follow)
	for who := range soakOperators {
		w := soakOperator{soak: s, dice: rand.New(rand.NewPCG(*soakSeed, uint64(200+who))), who: who}
		working.Go(w.work)
	}
	revoker := soakRevoker{soak: s, waiting: feeds, dice: rand.New(rand.NewPCG(*soakSeed, 100))}
	working.Go(revoker.work)
	importer := soakImporter{soak: s, dice: rand.New(rand.NewPCG(*soakSeed, 101))}
	working.Go(importer.work)
	working.Go(func() { s.every(10*time.Second, s.checkEvents) })
	working.Go(func() { s.every(10*time.Second, s.measure) })
	return &working
}

// every calls do again and again until the soak ends.
func (s *soak) every(pause time.Duration, do func()) {
	for s.sleep(pause) {
		do()
	}
}

// sleep waits, and reports whether the soak goes on.
func (s *soak) sleep(pause time.Duration) bool {
	select {
	case <-s.context.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// now is the time since the start of the soak.
func (s *soak) now() time.Duration { return time.Since(s.begun) }

// problem reports something that is wrong, and ends the soak after several.
func (s *soak) problem(format string, args ...any) {
	n := s.counts.problems.Add(1)
	if n <= soakMaxProblems {
		s.t.Errorf("%v: %s", s.now().Round(time.Millisecond), fmt.Sprintf(format, args...))
	}
	if n == soakMaxProblems {
		s.stop()
	}
}

// fresh returns further samples of a merchant, one after the other.
func (s *soak) fresh(m *soakMerchant, count int) []sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := sample(1 + (m.id-merchantID)*soakSamples + int64(len(m.orders)))
	for range count {
		m.orders = append(m.orders, next)
		next++
	}
	return slices.Clone(m.orders[len(m.orders)-count:])
}

// any returns one of the samples of a merchant.
func (m *soakMerchant) any(dice *rand.Rand) sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.orders[dice.IntN(len(m.orders))]
}

// asked is when a request begins.
type asked struct {
	at    time.Duration
	phase int
}

func (s *soak) ask() asked {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return asked{s.now(), s.phase}
}

// saw takes a response to be checked, unless the database was replaced since its
// request began.
func (s *soak) saw(m *soakMerchant, a asked, o observed) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.phase != a.phase || s.phase%2 == 1 {
		s.counts.between.Add(1)
		return
	}
	o.called = a.at
	s.ledgers[m.id].note(o, s.now)
}

// fed notes what clients of the feed have seen.
func (s *soak) fed(m *soakMerchant, page soakPage) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.ledgers[m.id].fed(page.History, page.Newest)
}

// checkEvents reads the events since the last time and checks the responses up to
// then.
func (s *soak) checkEvents() {
	s.checking.Lock()
	defer s.checking.Unlock()
	s.checkLedgers(s.database.db)
}

// checkLedgers is checkEvents for one who holds the lock.
func (s *soak) checkLedgers(from *sql.DB) {
	for id, l := range s.ledgers {
		read := s.now()
		if err := readEvents(from, id, l.newest(), l.add); err != nil {
			s.problem("merchant %d: %v", id, err)
			return
		}
		for _, o := range l.take(read) {
			s.counts.checked.Add(1)
			if problem := l.check(o); problem != "" {
				s.problem("merchant %d, %v to %v: %s", id, o.called, o.done, problem)
			}
		}
	}
}

// checkEnd sees that lists, orders, counts and events tell the same in the end.
func (s *soak) checkEnd() {
	s.t.Helper()
	db := s.tables(s.t)
	for _, m := range s.merchants {
		for slot := range s.instances {
			c := s.http
			c.Base, c.Token = s.instances[slot].Load().process.BaseURL, m.tokens[0]
			checkTotals(s.t, c, db, m.id)
		}
	}
}
