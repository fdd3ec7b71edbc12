package storetest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var eventListSubjects = []subject{
	{"feed/what is read", testFeedContent},
	{"feed/part by part", testFeedParts},
	{"feed/of no merchant", testFeedOfNoMerchant},
	{"feed/where it ends", testFeedEnd},
	{"feed/numbers given out again", testFeedNumbersAgain},
	{"feed/an earlier history again", testFeedHistoryAgain},
	{"feed/followed while others write", testFeedFollowed},
}

// testFeedContent reads events of every type through the feed and as the
// history of an order.
func testFeedContent(f *fixture) {
	f.add(f.a, incoming(minimal(alpha, "ONE")), incoming(minimal(beta, "BETA")), incoming(dated(alpha, "TWO", noon, order.ReadyForShipment)))
	at := noon.Add(time.Hour)
	merchant := requester(order.ActorMerchant)
	merchant.MerchantID = alpha
	testenv.Of(service(f.a, at).Reject(f.Context(), merchant, order.ByReference("ONE"), "wrong-price", order.Options[order.WriteResult]{})).Must(f)
	testenv.Of(service(f.b, at).ChangeOrder(f.Context(), order.Caller{Actor: order.ActorOperator, RequestID: "request-2"}, alpha,
		order.ByReference("TWO"), order.Update{To: order.PickedByCourier}, order.Options[order.WriteResult]{})).Must(f)
	two := order.ByLegacyID(3)
	invoice := f.upload(f.a, two, "Τιμολόγιο.pdf")
	testenv.Of(f.remove(f.a, two, invoice, at)).Must(f)
	of := func(number int64, reference string, e order.Event) order.EventRecord {
		if e.By.RequestID == "" {
			e.By = requester(e.By.Actor)
		}
		return order.EventRecord{Event: e, LegacyID: number, Reference: reference}
	}
	withFile := func(record order.EventRecord) order.EventRecord {
		record.InvoiceID, record.FileName = invoice, "Τιμολόγιο.pdf"
		return record
	}
	all := []order.EventRecord{
		of(1, "ONE", order.Event{Seq: 1, Type: order.OrderCreated, By: order.Caller{Actor: order.ActorOperator}, At: noon, To: order.Registered}),
		of(3, "TWO", order.Event{Seq: 2, Type: order.OrderCreated, By: order.Caller{Actor: order.ActorOperator}, At: noon, To: order.ReadyForShipment}),
		of(1, "ONE", order.Event{
			Seq: 3, Type: order.OrderStateChanged, By: order.Caller{Actor: order.ActorMerchant}, At: at,
			From: order.Registered, To: order.RejectedByMerchant, Reason: "wrong-price",
		}),
		of(3, "TWO", order.Event{
			Seq: 4, Type: order.OrderStateChanged, By: order.Caller{Actor: order.ActorOperator, RequestID: "request-2"}, At: at,
			From: order.ReadyForShipment, To: order.PickedByCourier,
		}),
		withFile(of(3, "TWO", order.Event{Seq: 5, Type: order.InvoiceUploaded, By: order.Caller{Actor: order.ActorMerchant}, At: noon})),
		withFile(of(3, "TWO", order.Event{Seq: 6, Type: order.InvoiceDeleted, By: order.Caller{Actor: order.ActorMerchant}, At: at})),
	}
	for after := range int64(8) {
		f.expectFeed(after, 100, all[min(int(after), len(all)):])
	}
	second := []order.EventRecord{all[1], all[3], all[4], all[5]}
	for _, key := range []order.Identifier{two, order.ByReference("TWO")} {
		for after := range int64(8) {
			rest := slices.DeleteFunc(slices.Clone(second), func(e order.EventRecord) bool { return e.Seq <= after })
			f.expectHistory(key, after, 100, rest)
		}
		f.expectHistory(key, 0, 3, second[:3])
		f.expectHistory(key, 4, 1, second[2:3])
	}
}

func (f *fixture) expectFeed(after int64, limit int, want []order.EventRecord) {
	f.Helper()
	got := testenv.Of(f.b.Events(f.Context(), alpha, after, limit)).Must(f)
	testenv.Equal(f, fmt.Sprintf("%d events after %d", limit, after), want, withoutNonces(got.Events))
}

func (f *fixture) expectHistory(key order.Identifier, after int64, limit int, want []order.EventRecord) {
	f.Helper()
	got := testenv.Of(f.b.OrderEvents(f.Context(), alpha, key, after, limit)).Must(f)
	testenv.Equal(f, fmt.Sprintf("%d events of %v after %d", limit, key, after), want, withoutNonces(got))
}

// withoutNonces returns events without what a test does not know: their random nonces,
// their positions and the sizes of their orders, and without the merchant.
func withoutNonces(events []order.EventRecord) []order.EventRecord {
	without := append([]order.EventRecord{}, events...)
	for i := range without {
		without[i].Nonce, without[i].MerchantID, without[i].Position, without[i].OrderSize = 0, 0, 0, 0
	}
	return without
}

func testFeedParts(f *fixture) {
	f.add(f.a, numbered(alpha, "a", 7)...)
	for limit := 1; limit <= 8; limit++ {
		var seen []int64
		for last := int64(0); ; {
			feed := testenv.Of(f.a.Events(f.Context(), alpha, last, limit)).Must(f)
			events := feed.Events
			for _, e := range events {
				seen, last = append(seen, e.Seq), e.Seq
			}
			if len(events) < limit {
				break
			}
		}
		testenv.Equal(f, fmt.Sprintf("%d at a time", limit), []int64{1, 2, 3, 4, 5, 6, 7}, seen)
	}
}

// testFeedOfNoMerchant: neither another merchant's events nor another's order.
func testFeedOfNoMerchant(f *fixture) {
	f.add(f.a, incoming(minimal(beta, "BETA")))
	for _, merchantID := range []int64{alpha, 999} {
		if feed, err := f.a.Events(f.Context(), merchantID, 0, 10); len(feed.Events) != 0 || feed.Version.Event != 0 || err != nil {
			f.Errorf("merchant %d: %v, error %v", merchantID, feed, err)
		}
		if versions, err := f.a.DataVersions(f.Context(), []int64{merchantID}); versions[merchantID].Event != 0 || err != nil {
			f.Errorf("merchant %d: data version %v, error %v", merchantID, versions[merchantID], err)
		}
		for _, key := range []order.Identifier{order.ByLegacyID(1), order.ByReference("BETA"), order.ByReference("NONE"), order.ByLegacyID(77)} {
			testenv.Of(f.a.OrderEvents(f.Context(), merchantID, key, 0, 10)).WantError(f, fmt.Sprintf("merchant %d, %v", merchantID, key), order.ErrNotFound)
		}
	}
	versions, err := f.b.DataVersions(f.Context(), []int64{alpha, beta, 999})
	if _, found := versions[999]; len(versions) != 2 || found || versions[beta].Event != 1 || err != nil {
		f.Errorf("data versions %v, error %v", versions, err)
	}
}

// testFeedEnd reads the data version and the history with events, without, and
// beyond the newest: the same through both handles, until the history is renewed.
func testFeedEnd(f *fixture) {
	end := func(store Store, merchantID int64) order.Feed {
		f.Helper()
		versions := testenv.Of(store.DataVersions(f.Context(), []int64{merchantID})).Must(f)
		first := testenv.Of(store.Events(f.Context(), merchantID, 0, 1)).Must(f)
		first.Events = nil
		for after := range int64(8) {
			feed, err := store.Events(f.Context(), merchantID, after, 100)
			feed.Events = nil
			if diff := cmp.Diff(first, feed); err != nil || diff != "" || feed.Version != versions[merchantID] || feed.History == "" {
				f.Errorf("after %d: %+v, data version %v, error %v (-first +this):\n%s", after, feed, versions[merchantID], err, diff)
			}
		}
		return first
	}
	empty := end(f.a, alpha)
	f.add(f.a, numbered(alpha, "a", 4)...)
	filled, other := end(f.b, alpha), end(f.a, beta)
	if filled.Version.Event != 4 || filled.History != empty.History || other.History == filled.History {
		f.Errorf("empty %+v, then %+v, another merchant %+v", empty, filled, other)
	}
	testenv.Of(f.tables.sql.ExecContext(f.Context(), `UPDATE merchants SET history = 'x' WHERE id = $1`, alpha)).Must(f)
	if renewed := end(f.a, alpha); renewed.Version != filled.Version || renewed.History == filled.History {
		f.Errorf("%+v, renewed %+v", filled, renewed)
	}
}

// testFeedNumbersAgain puts another event in the place of the newest, as happens
// after a copy of the database was put back: both handles, which have read the event
// before, see one new history and keep it.
func testFeedNumbersAgain(f *fixture) {
	f.add(f.a, numbered(alpha, "a", 3)...)
	read := func(store Store) string {
		f.Helper()
		feed, err := store.Events(f.Context(), alpha, 0, 100)
		if err != nil || len(feed.Events) != 3 || feed.Version.Event != 3 {
			f.Fatalf("%+v, error %v", feed, err)
		}
		return feed.History
	}
	first := read(f.a)
	testenv.Equal(f, "histories of the handles", first, read(f.b))
	for _, text := range []string{
		`UPDATE events SET nonce = nonce - 1 WHERE merchant_id = $1 AND seq = 3`, `UPDATE merchants SET data_nonce = data_nonce - 1 WHERE id = $1`,
	} {
		testenv.Of(f.tables.sql.ExecContext(f.Context(), text, alpha)).Must(f)
	}
	second := read(f.a)
	for _, store := range []Store{f.b, f.a, f.b} {
		if history := read(store); second == first || history != second {
			f.Errorf("the history is %s, after %s and %s", history, first, second)
		}
	}
}

// testFeedHistoryAgain brings an earlier history back, as happens when a copy of the
// database is put back after another server has taken over: both handles, which have read
// the feed in that history, see a new one and keep it.
func testFeedHistoryAgain(f *fixture) {
	f.add(f.a, numbered(alpha, "a", 3)...)
	var stored string
	testenv.NoError(f, f.tables.sql.QueryRowContext(f.Context(), `SELECT history FROM merchants WHERE id = $1`, alpha).Scan(&stored))
	known := map[string]bool{}
	read := func(store Store) string {
		f.Helper()
		feed, err := store.Events(f.Context(), alpha, 0, 100)
		if err != nil || len(feed.Events) != 3 || feed.Version.Event != 3 {
			f.Fatalf("%+v, error %v", feed, err)
		}
		return feed.History
	}
	for _, next := range []string{stored, "other", stored, "another", "other"} {
		testenv.Of(f.tables.sql.ExecContext(f.Context(), `UPDATE merchants SET history = $1 WHERE id = $2`, next, alpha)).Must(f)
		history := read(f.a)
		if known[history] || read(f.b) != history || read(f.a) != history {
			f.Errorf("with %q stored the history is %s; before it was %v", next, history, known)
		}
		known[history] = true
	}
}

// testFeedFollowed reads on from the last event seen while others write: what
// comes is 1, 2, 3, ... and each begins in the state that the order had.
func testFeedFollowed(f *fixture) {
	const workers, rounds = 4, 12
	done := make(chan struct{})
	var followers, writers sync.WaitGroup
	for _, store := range []Store{f.a, f.b} {
		followers.Go(func() { f.followFeed(store, done, workers*rounds*3) })
	}
	for worker := range workers {
		writers.Go(func() {
			store := []Store{f.a, f.b}[worker%2]
			for round := range rounds {
				reference := fmt.Sprintf("%d-%d", worker, round)
				results, err := store.ImportOrders(f.Context(), []order.Incoming{incoming(minimal(alpha, reference))}, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon})
				if err != nil {
					f.Errorf("add: %v", err)
					return
				}
				for _, to := range []order.State{order.InProcessing, order.ReadyForShipment} {
					testenv.Equal(f, "move", nil, transitionTo(f.Context(), store, alpha, results[0].LegacyID, to, noon))
				}
			}
		})
	}
	writers.Wait()
	close(done)
	followers.Wait()
}

// followFeed reads events until all changes are done and read, and checks their number.
func (f *fixture) followFeed(store Store, done <-chan struct{}, want int64) {
	states, last := map[int64]order.State{}, int64(0)
	for finishing := false; ; {
		feed, err := store.Events(f.Context(), alpha, last, 10)
		if err != nil {
			f.Errorf("read events: %v", err)
			return
		}
		events := feed.Events
		for _, e := range events {
			if e.Seq != last+1 || e.From != states[e.LegacyID] {
				f.Errorf("after %d comes %d, which takes order %d from %s, and it was %s", last, e.Seq, e.LegacyID, e.From, states[e.LegacyID])
				return
			}
			last, states[e.LegacyID] = e.Seq, e.To
		}
		switch {
		case len(events) > 0:
		case finishing:
			testenv.Equal(f, "followed events", want, last)
			return
		default:
			select {
			case <-done:
				finishing = true
			default:
			}
		}
	}
}
