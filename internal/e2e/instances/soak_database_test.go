package instances

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// soakDatabase is the database of a soak: a server that instances reach through a
// wire, and a standby of it. The soak itself reads it directly.
type soakDatabase struct {
	wire    *wire
	address string // of the database, through the wire
	name    string
	outage  soakOutage

	primary, standby *pgtest.Server
	db               *sql.DB // of the primary

	// dump and copy are earlier states that a restore can bring back; nil: none.
	dump   []byte
	copy   *pgtest.Server
	copied time.Duration // when the copy was made
}

func startSoakDatabase(t *testing.T) *soakDatabase {
	d := &soakDatabase{primary: pgtest.StartServer(t), name: "test1"}
	address := d.primary.Database(t)
	d.wire = newWire(t, hostOf(t, d.primary))
	d.address = changed(t, address, func(u *url.URL) { u.Host = d.wire.address() })
	return d
}

// hostOf returns host:port of a server.
func hostOf(t testing.TB, server *pgtest.Server) string { return urlOf(t, server.URL("")).Host }

// open opens the primary, beside the service.
func (d *soakDatabase) open(t *testing.T) {
	t.Helper()
	if d.db != nil {
		_ = d.db.Close()
	}
	d.db = openDatabase(t, d.primary, d.name)
}

func openDatabase(t *testing.T, server *pgtest.Server, name string) *sql.DB {
	t.Helper()
	db := testenv.Of(sql.Open("pgx", server.URL(name))).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// readEvents calls add for the events of a merchant after one.
func readEvents(db *sql.DB, merchantID, after int64, add func(committed) error) error {
	rows, err := db.Query(`SELECT seq, nonce, type, actor, at, legacy_id, from_state, to_state, COALESCE(invoice_id, 0), COALESCE(request_id, '')
		FROM events WHERE merchant_id = $1 AND seq > $2 ORDER BY seq`, merchantID, after)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e committed
		var seq, at, legacyID int64
		if err := rows.Scan(&seq, &e.nonce, &e.kind, &e.actor, &at, &legacyID, &e.from, &e.to, &e.invoice, &e.request); err != nil {
			return err
		}
		if after++; seq != after {
			return fmt.Errorf("after event %d comes %d", after-1, seq)
		}
		e.at, e.order = time.Unix(at, 0).UTC(), sample(legacyID-ingesttest.FirstOrderID)
		if err := add(e); err != nil {
			return err
		}
	}
	return rows.Err()
}

// replacement is how the database is replaced.
type replacement struct {
	// end makes the database unreachable for the service, for good.
	end func()
	// old opens what it was in the end.
	old func() *sql.DB
	// begin makes the primary what it will be.
	begin func()
	// silent says that the database does not tell the service that it is another one:
	// the instances notice by the events.
	silent bool
}

// replace replaces the database while the service runs. All responses of the old
// one are checked by its last state, and its replacement must be an earlier state of
// it. From then on no response may show anything else.
func (s *soak) replace(r replacement) {
	s.t.Helper()
	s.checking.Lock()
	defer s.checking.Unlock()
	s.database.outage.begin()
	s.setPhase()
	r.end()
	s.database.wire.move("")
	last := make(map[int64]*timeline)
	old := r.old()
	s.checkLedgers(old)
	if s.t.Failed() {
		s.t.FailNow()
	}
	_ = old.Close()
	for id, l := range s.ledgers {
		last[id] = l.timeline
	}
	s.timelines = append(s.timelines, last)

	r.begin()
	s.database.open(s.t)
	s.source = s.database.primary.URL(s.database.name)
	ledgers := make(map[int64]*ledger)
	for id, l := range s.ledgers {
		ledgers[id] = s.earlier(id, l)
	}
	s.noError(s.tokens.read(s.database.db, s.phase+1))
	if r.silent {
		s.database.wire.move(hostOf(s.t, s.database.primary))
		s.awaitHistories(ledgers)
	}
	s.mu.Lock()
	s.ledgers, s.replaced = ledgers, s.now()
	s.phase++
	s.mu.Unlock()
	s.database.wire.move(hostOf(s.t, s.database.primary))
	s.awaitDatabase()
	s.database.outage.end()
}

// setPhase begins a phase without checks.
func (s *soak) setPhase() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase++
}

// earlier returns a ledger of the database as it is, which must be an earlier state
// of one of those before.
func (s *soak) earlier(id int64, before *ledger) *ledger {
	s.t.Helper()
	l := newLedger(s.times)
	before.close()
	l.past = before.past
	if err := readEvents(s.database.db, id, 0, l.add); err != nil {
		s.t.Fatalf("merchant %d: %v", id, err)
	}
	if !slices.ContainsFunc(s.timelines, func(last map[int64]*timeline) bool { return last[id].extends(l.timeline) }) {
		s.problem("merchant %d: the %d events of the new database are not the first ones of any before", id, l.newest())
	}
	s.counts.lost += max(0, before.newest()-l.newest())
	l.start()
	return l
}

// awaitHistories waits until both instances have noticed that the database is another
// one.
func (s *soak) awaitHistories(ledgers map[int64]*ledger) {
	s.t.Helper()
	for _, m := range s.merchants {
		for slot := range s.instances {
			testenv.Eventually(s.t, "the instance notices the other history", func() bool {
				var page soakPage
				got := s.probe(slot, m, "/v2/events?after=latest")
				return got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &page) == nil && ledgers[m.id].mayBe(page.History)
			})
		}
	}
}

// awaitDatabase waits until the instances find the database without fail.
func (s *soak) awaitDatabase() {
	s.t.Helper()
	good := 0
	testenv.Eventually(s.t, "the instances find the database", func() bool {
		time.Sleep(50 * time.Millisecond)
		good++
		for slot := range s.instances {
			if s.probe(slot, s.merchants[good%soakMerchants], "/v2/orders").Status != http.StatusOK {
				good = 0
			}
		}
		return good > soakMerchants
	})
}

// probe reads something from an instance.
func (s *soak) probe(slot int, m *soakMerchant, path string) response {
	c := s.http
	c.Base, c.Token = s.instances[slot].Load().process.BaseURL, m.tokens[0]
	got, err := c.Try(http.MethodGet, path, "")
	if err != nil {
		s.problem("GET %s: %v", path, err)
	}
	return got
}
