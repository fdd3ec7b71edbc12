package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var eventSubjects = []subject{
	{"events/what they tell", testEventContent},
	{"events/numbered without gaps", testEventNumbers},
	{"events/of all merchants", testMarketEvents},
}

// eventRow is an event as it is stored, for both to see.
type eventRow struct {
	order.Event
	Number int64 // of the order
	Day    order.Day
}

func (f *fixture) events(merchantID int64) []eventRow {
	f.Helper()
	var events []eventRow
	f.tables.each(`SELECT seq, type, actor, at, legacy_id, order_day, from_state, to_state, reason, invoice_id, token_id, request_id
		FROM events WHERE merchant_id = $1 ORDER BY seq`, func(rows *sql.Rows) error {
		var e eventRow
		var at int64
		var reason, request sql.NullString
		var invoice, token sql.NullInt64
		err := rows.Scan(&e.Seq, &e.Type, &e.By.Actor, &at, &e.Number, &e.Day, &e.From, &e.To, &reason, &invoice, &token, &request)
		e.At, e.Reason, e.InvoiceID = time.Unix(at, 0).UTC(), order.Reason(reason.String), invoice.Int64
		e.By.TokenID, e.By.RequestID = token.Int64, request.String
		if reason.Valid && reason.String == "" || invoice.Valid && invoice.Int64 == 0 ||
			token.Valid && token.Int64 == 0 || request.Valid && request.String == "" {
			f.Errorf("event %d: what there is not is stored as empty", e.Seq)
		}
		events = append(events, e)
		return err
	}, merchantID)
	return events
}

func testEventContent(f *fixture) {
	past := dated(alpha, "PAST", time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC), order.Registered)
	ready := dated(alpha, "READY", noon, order.ReadyForShipment)
	f.add(f.a, incoming(past), incoming(minimal(beta, "BETA")), incoming(ready))
	at := noon.Add(time.Hour)
	testenv.Of(service(f.b, at).Reject(f.Context(), order.CommandFor(alpha), order.ByReference("PAST"), "wrong-price", order.Options[order.WriteResult]{})).Must(f)
	testenv.Of(service(f.a, at).ChangeOrder(f.Context(), order.Caller{Actor: order.ActorOperator, TokenID: 3}, alpha,
		order.ByReference("READY"), order.Update{To: order.PickedByCourier}, order.Options[order.WriteResult]{})).Must(f)
	invoice := f.upload(f.a, order.ByLegacyID(3), "a.pdf")
	testenv.Of(f.remove(f.a, order.ByLegacyID(3), invoice, at)).Must(f)
	testenv.Of(service(f.a, at).Accept(f.Context(), order.CommandFor(beta), order.ByReference("BETA"), order.Options[order.WriteResult]{})).Must(f)
	today := order.DayOf(noon)
	created := order.Event{Type: order.OrderCreated, By: requester(order.ActorOperator), At: noon}
	moved := order.Event{Type: order.OrderStateChanged, By: order.Caller{Actor: order.ActorMerchant}, At: at}
	for merchantID, want := range map[int64][]eventRow{
		alpha: {
			{event(created, 1, func(e *order.Event) { e.To = order.Registered }), 1, -1},
			{event(created, 2, func(e *order.Event) { e.To = order.ReadyForShipment }), 3, today},
			{event(moved, 3, func(e *order.Event) {
				e.From, e.To, e.Reason = order.Registered, order.RejectedByMerchant, "wrong-price"
			}), 1, -1},
			{event(moved, 4, func(e *order.Event) {
				e.By, e.From, e.To = order.Caller{Actor: order.ActorOperator, TokenID: 3}, order.ReadyForShipment, order.PickedByCourier
			}), 3, today},
			{order.Event{Seq: 5, Type: order.InvoiceUploaded, By: requester(order.ActorMerchant), At: noon, InvoiceID: invoice}, 3, today},
			{order.Event{Seq: 6, Type: order.InvoiceDeleted, By: requester(order.ActorMerchant), At: at, InvoiceID: invoice}, 3, today},
		},
		beta: {
			{event(created, 1, func(e *order.Event) { e.To = order.Registered }), 2, today},
			{event(moved, 2, func(e *order.Event) { e.From, e.To = order.Registered, order.InProcessing }), 2, today},
		},
	} {
		testenv.Equal(f, fmt.Sprintf("events of merchant %d", merchantID), want, f.events(merchantID))
	}
}

func event(e order.Event, seq int64, change func(*order.Event)) order.Event {
	e.Seq = seq
	change(&e)
	return e
}

// testEventNumbers changes several merchants' orders in every way at once. The
// tables are gone through at the end; here only that everything has its event.
func testEventNumbers(f *fixture) {
	const workers, rounds = 6, 6
	f.addMerchant(357, "Gamma Shop")
	for i, merchantID := range []int64{alpha, beta, 357} {
		// Its orders have the numbers 100*i+1 to 100*i+workers.
		for j := range int64(workers) {
			f.create(withNumber(minimal(merchantID, fmt.Sprintf("%d-%d", merchantID, j)), int64(100*i)+1+j))
		}
	}
	reader := &marketReader{fixture: f, last: make(map[int64]int64)}
	var group, reading sync.WaitGroup
	done := make(chan struct{})
	reading.Go(func() { reader.follow(done) })
	for worker := range workers {
		group.Go(func() {
			store, dice := []Store{f.a, f.b}[worker%2], newDice(uint64(worker))
			for round := range rounds {
				batch := append(numbered(beta, fmt.Sprintf("b-%d-%d", worker, round), 3), numbered(alpha, fmt.Sprintf("a-%d-%d", worker, round), 2)...)
				if _, err := store.ImportOrders(f.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: noon}); err != nil {
					f.Errorf("add: %v", err)
				}
				for i, merchantID := range []int64{alpha, beta, 357} {
					testenv.Equal(f, "move", nil, transitionTo(f.Context(), store, merchantID, int64(100*i)+1+dice.Int64N(workers), dice.state(), noon))
				}
				f.uploadAndRemove(store, order.ByLegacyID(int64(1+worker)), fmt.Sprintf("%d.pdf", round))
			}
		})
	}
	group.Wait()
	close(done)
	reading.Wait()
	reader.finish()
	for merchantID, each := range map[int64]int{alpha: 2 + 1 + 2, beta: 3 + 1, 357: 1} {
		testenv.Equal(f, fmt.Sprintf("events of merchant %d", merchantID), workers+workers*rounds*each, len(f.events(merchantID)))
	}
}

// uploadAndRemove is the short life of an invoice file, for many at once.
func (f *fixture) uploadAndRemove(store Store, key order.Identifier, name string) {
	id, err := f.reserve(store, key, name, noon)
	if err == nil {
		err = f.activate(store, key, id)
	}
	if err == nil {
		_, err = f.remove(store, key, id, noon)
	}
	testenv.NoError(f, err)
}

// marketReader follows the feed of all merchants through both handles.
type marketReader struct {
	*fixture
	cursor  order.MarketCursor
	last    map[int64]int64 // number of the last event of each merchant
	cluster bool
}

// follow reads until done.
func (r *marketReader) follow(done <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		default:
			r.read(n)
		}
	}
}

// finish reads until each merchant has as many events as in the table. On a server with
// other databases their transactions may hold some back for a moment.
func (r *marketReader) finish() {
	r.Helper()
	want := make(map[int64]int64)
	r.tables.each(`SELECT merchant_id, COUNT(*) FROM events GROUP BY merchant_id`, func(rows *sql.Rows) error {
		var merchantID, n int64
		err := rows.Scan(&merchantID, &n)
		want[merchantID] = n
		return err
	})
	n := 0
	testenv.Eventually(r, "the feed of all merchants has all events", func() bool {
		n++
		r.read(n)
		return r.cluster || maps.Equal(want, r.last)
	})
}

// read reads a page. Each event must be the next one of its merchant.
func (r *marketReader) read(n int) {
	feed, err := []Store{r.a, r.b}[n%2].MarketEvents(r.Context(), r.cursor, 1+n%20)
	if r.cluster = errors.Is(err, order.ErrOnCluster); err != nil && !r.cluster {
		r.Errorf("feed of all merchants: %v", err)
	}
	for _, e := range feed.Events {
		if r.last[e.MerchantID]++; e.Seq != r.last[e.MerchantID] || e.Reference == "" {
			r.Errorf("merchant %d: event %d of order %q comes where %d should", e.MerchantID, e.Seq, e.Reference, r.last[e.MerchantID])
		}
	}
	r.cursor = feed.Cursor
}

// testMarketEvents reads the feed of all merchants with cursors that are and are not in
// its history.
func testMarketEvents(f *fixture) {
	empty, err := f.a.MarketEnd(f.Context())
	if errors.Is(err, order.ErrOnCluster) {
		return
	}
	testenv.NoError(f, err)
	f.add(f.a, numbered(beta, "b", 2)...)
	f.add(f.b, numbered(alpha, "a", 2)...)
	for _, from := range []order.MarketCursor{{}, empty.Cursor} {
		r := &marketReader{fixture: f, cursor: from, last: make(map[int64]int64)}
		r.finish()
		end := testenv.Of(f.b.MarketEnd(f.Context())).Must(f)
		testenv.Equal(f, "the end", end.Cursor, r.cursor)
	}
	end := testenv.Of(f.a.MarketEnd(f.Context())).Must(f)
	for name, change := range map[string]func(*order.MarketCursor){
		"another history": func(c *order.MarketCursor) { c.History++ },
		"a lost event":    func(c *order.MarketCursor) { c.Seq++ },
		"another event":   func(c *order.MarketCursor) { c.Nonce++ },
		"a copied event":  func(c *order.MarketCursor) { c.Position-- },
	} {
		cursor := end.Cursor
		change(&cursor)
		testenv.Of(f.a.MarketEvents(f.Context(), cursor, 10)).WantError(f, name, order.ErrOtherHistory)
	}
}
