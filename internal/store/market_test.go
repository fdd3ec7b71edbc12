package store

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestMarketOtherDatabase has a transaction of another database of the server, and one that
// is prepared there, stay open: neither holds the feed back. One of this database does, and
// what it holds counts as not delivered.
func TestMarketOtherDatabase(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster has no feed of all merchants")
	}
	server := pgtest.StartServer(t)
	url := server.Database(t)
	db := postgresURL(url).Open(t).(*DB)
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	open := func(url string) *sql.Tx {
		t.Helper()
		other := testenv.Of(sql.Open("pgx", url)).Must(t)
		t.Cleanup(func() { _ = other.Close() })
		tx := testenv.Of(other.BeginTx(t.Context(), nil)).Must(t)
		testenv.Of(tx.ExecContext(t.Context(), `SELECT pg_current_xact_id()`)).Must(t)
		return tx
	}
	open(server.URL("postgres"))
	testenv.Of(open(server.URL("postgres")).ExecContext(t.Context(), `PREPARE TRANSACTION 'there'`)).Must(t)
	events := func() int {
		t.Helper()
		feed := testenv.Of(db.MarketEvents(t.Context(), order.MarketCursor{}, 10)).Must(t)
		return len(feed.Events)
	}
	add := func(reference string) {
		t.Helper()
		testenv.NoError(t, db.inTx(t.Context(), "change", func(tx *tx) error {
			_, err := tx.ImportOrder(t.Context(), testOrder(1, reference), order.Cause{At: testTime})
			return err
		}))
	}
	held := func() time.Time {
		t.Helper()
		survey := testenv.Of(db.Survey(t.Context(), testTime)).Must(t)
		return survey.OldestHeld
	}
	add("A")
	testenv.Equal(t, "events beside transactions of another database", 1, events())
	here := open(url)
	add("B")
	testenv.Equal(t, "events beside a transaction of this database", 1, events())
	testenv.Equal(t, "time of the oldest event that is held back", testTime.Unix(), held().Unix())
	testenv.NoError(t, here.Rollback())
	testenv.Equal(t, "events after its end", 2, events())
	testenv.Equal(t, "nothing is held back", true, held().IsZero())
}

// TestMarketLateCommits commits transactions in another order than they began in, and then
// moves the database to a server that counts its transactions from a lower number.
// Proves decision 9 (feed of all merchants).
func TestMarketLateCommits(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster has no feed of all merchants")
	}
	db := postgresURL(pgtest.Database(t)).Open(t).(*DB)
	for id := range int64(2) {
		testenv.NoError(t, addTestMerchant(t.Context(), db, 1+id))
	}
	// begin begins a transaction, which imports an order and ends when the result is called.
	begin := func(merchantID int64, reference string) (end func()) {
		begun, ending, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			ended <- db.inTx(t.Context(), "change", func(tx *tx) error {
				_, err := tx.Exec(t.Context(), `SELECT pg_current_xact_id()`)
				begun <- struct{}{}
				<-ending
				_, importErr := tx.ImportOrder(t.Context(), testOrder(merchantID, reference), order.Cause{At: testTime})
				return errors.Join(err, importErr)
			})
		}()
		<-begun
		return func() {
			close(ending)
			testenv.NoError(t, <-ended)
		}
	}
	add := func(merchantID int64, reference string) { begin(merchantID, reference)() }
	var cursor order.MarketCursor
	// next reads the next events. Transactions of other tests on the server hold them back.
	next := func(want ...string) {
		t.Helper()
		var got []string
		testenv.Eventually(t, "the events are read", func() bool {
			feed := testenv.Of(db.MarketEvents(t.Context(), cursor, 10)).Must(t)
			for _, e := range feed.Events {
				got = append(got, fmt.Sprint(e.MerchantID, " ", e.Seq, " ", e.Reference))
			}
			cursor = feed.Cursor
			return len(got) >= len(want)
		})
		testenv.Equal(t, "events", want, got)
	}
	add(1, "A")
	next("1 1 A")
	first := begin(1, "LATE")
	second := begin(2, "LATER")
	add(1, "B")
	add(2, "C")
	next()
	first()
	next() // event 2 of merchant 1 has the position of a later transaction
	second()
	next("1 2 B", "1 3 LATE", "2 1 C", "2 2 LATER")

	raisePositions(t, db)
	e := webhook.Endpoint{URL: "https://a.example.com", Cursor: delivery.Cursor{State: delivery.Active, Acknowledged: order.MarketCursor{Position: 1 << 62, History: cursor.History}}}
	testenv.NoError(t, db.InWebhookTx(t.Context(), func(tx webhook.Tx) error {
		_, err := tx.Add(t.Context(), e)
		return err
	}))
	due := func(when string, want int) {
		t.Helper()
		got := testenv.Of(db.DueEndpoints(t.Context(), new(int64(delivery.Marketplace)), testTime)).Must(t)
		testenv.Equal(t, "due webhooks "+when, want, len(got))
	}
	due("of a server that has counted less", 1)
	testenv.Of(db.sql.Exec(t.Context(), `UPDATE event_feed SET base = base + 1000000000`)).Must(t)
	due("at the end of the feed", 0)
	testenv.Of(db.sql.Exec(t.Context(), `UPDATE event_feed SET server = 1`)).Must(t)
	due("on another server", 1)
	add(1, "D")
	testenv.Of(db.MarketEvents(t.Context(), cursor, 10)).WantError(t, "on another server", order.ErrOtherHistory)
	due("in another history", 1)
	add(2, "E")
	cursor = order.MarketCursor{}
	next("1 1 A", "1 2 B", "1 3 LATE", "2 1 C", "2 2 LATER", "1 4 D", "2 3 E")
}

// raisePositions makes the positions of all events higher than those to come, as in a dump of
// a server that has counted on.
func raisePositions(t *testing.T, db *DB) {
	t.Helper()
	for _, text := range []string{
		`UPDATE events SET position = position + 1000000000`, `UPDATE merchants SET last_position = last_position + 1000000000 WHERE last_position > 0`,
	} {
		testenv.Of(db.sql.Exec(t.Context(), text)).Must(t)
	}
}

// TestMarketEarlierServer restores a dump on an earlier state of its server, which counts
// its transactions from a lower number: no event comes before a cursor of the dump.
func TestMarketEarlierServer(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster has no feed of all merchants")
	}
	for _, noticed := range []bool{false, true} {
		t.Run(fmt.Sprint("noticed before the next change ", noticed), func(t *testing.T) {
			t.Parallel()
			db := postgresURL(pgtest.Database(t)).Open(t).(*DB)
			add := func(merchantID int64, references ...string) {
				t.Helper()
				testenv.NoError(t, db.inTx(t.Context(), "change", func(tx *tx) (err error) {
					for _, reference := range references {
						_, importErr := tx.ImportOrder(t.Context(), testOrder(merchantID, reference), order.Cause{At: testTime})
						err = errors.Join(err, importErr)
					}
					return err
				}))
			}
			for id := range int64(3) {
				testenv.NoError(t, addTestMerchant(t.Context(), db, 1+id))
			}
			add(2, "A")
			raisePositions(t, db)
			var dumped, last int64
			testenv.NoError(t, db.sql.QueryRow(t.Context(), `SELECT MAX(position) FROM events`, nil, &dumped))
			notice := func() {
				testenv.Of(db.MarketEvents(t.Context(), order.MarketCursor{}, 10)).Must(t)
			}
			if noticed {
				notice()
			}
			add(1, "B", "C")
			add(3, "D")
			add(2, "E")
			var below int64
			testenv.NoError(t, db.sql.QueryRow(t.Context(), `SELECT COUNT(*) FROM events WHERE position <= $1`, []any{dumped}, &below))
			testenv.Equal(t, "events that are not after the dump", int64(1), below)
			notice()
			add(1, "F")
			testenv.NoError(t, db.sql.QueryRow(t.Context(), `SELECT MAX(position) FROM events`, nil, &last))
			var feed order.MarketFeed
			testenv.Eventually(t, "the feed has the newest event", func() bool {
				var err error
				feed, err = db.MarketEvents(t.Context(), order.MarketCursor{}, 10)
				testenv.NoError(t, err)
				return len(feed.Events) == 6
			})
			testenv.Equal(t, "position of the cursor", last, feed.Cursor.Position)
			again := testenv.Of(db.MarketEvents(t.Context(), feed.Cursor, 10)).Must(t)
			testenv.Equal(t, "history", feed.History, again.History)
		})
	}
}
