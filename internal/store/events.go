package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that read events. The entry of an invoice stays when its file is
// deleted, so every event finds the file name.
const (
	eventFields  = `e.merchant_id, e.position, e.seq, e.nonce, e.type, e.actor, e.at, e.from_state, e.to_state, e.reason, e.detail, e.invoice_id, e.token_id, e.request_id, e.webhook_id, length(o.details) AS order_size`
	eventColumns = eventFields + `, o.legacy_id, o.reference, i.name`
	joinOrder    = ` LEFT JOIN orders o ON o.merchant_id = e.merchant_id AND o.legacy_id = e.legacy_id`
	joinInvoice  = ` LEFT JOIN invoices i ON i.merchant_id = e.merchant_id AND i.legacy_id = e.legacy_id AND i.id = e.invoice_id`

	// An order without matching events is a row too; no row means no order. The
	// index alone yields the keys k first: SQLite would scan all events of the
	// merchant for whole rows.
	selectOrderEvents = `SELECT ` + eventColumns + ` FROM orders o
	LEFT JOIN events k ON k.merchant_id = o.merchant_id AND k.legacy_id = o.legacy_id AND k.seq > $1
	LEFT JOIN events e ON e.merchant_id = k.merchant_id AND e.seq = k.seq` + joinInvoice + `
	WHERE o.merchant_id = $2 AND `
	selectOrderEventsByLegacyID  = selectOrderEvents + `o.legacy_id = $3 ORDER BY k.seq LIMIT $4+0`
	selectOrderEventsByReference = selectOrderEvents + `o.reference = $3 ORDER BY k.seq LIMIT $4+0`
)

// eventOrder returns the reference of the order of an event of a merchant, also of a deleted
// one. A cluster knows the node of the statement only if it is told the merchant here too.
func eventOrder(merchant string) string {
	return `COALESCE(o.reference,
		(SELECT d.reference FROM deleted_orders d WHERE d.merchant_id = ` + merchant + ` AND d.legacy_id = e.legacy_id)) AS reference`
}

// selectFeed returns the statement that reads a page of the feed, with the nonce of
// an earlier event and the data version, the history and the place of the same moment. A
// page without events is a row too.
func selectFeed(d *sqldb.Dialect) string {
	return `SELECT k.*, (SELECT nonce FROM events WHERE merchant_id = $1 AND seq = $2), m.last_event, m.data_nonce, ` + d.History + `,
	` + cmp.Or(d.Feed.Place, `0, '', 0`) + ` FROM merchants m
	LEFT JOIN (SELECT ` + eventFields + `, e.legacy_id, ` + eventOrder(`$1`) + `, i.name
		FROM events e` + joinOrder + joinInvoice + `
		WHERE e.merchant_id = $1 AND e.seq > $3 ORDER BY e.seq LIMIT $4+0) k ON TRUE
	WHERE m.id = $1 ORDER BY k.seq`
}

// feeds are where the feeds of merchants ended when they were read last, and how far the
// server had come, to notice that numbers are given out again although the database does
// not tell, such as after a copy of the server's files was put back.
type feeds struct {
	renew sync.Mutex // held while a history is renewed

	mu      sync.Mutex
	ends    map[int64]feedEnds // by merchant
	far     place              // the farthest one of the server that was read last
	markets map[int64]bool     // all place.market that were read
	backs   int                // how often far went back
}

// place is how far a server had come in one moment. It goes back only with its files.
type place struct {
	server int64  // 0: the database has no places
	at     string // sorts as the places of a server follow each other
	market int64  // event_feed.history
}

// isBefore reports whether the server had come less far.
func (p place) isBefore(other place) bool { return p.server == other.server && p.at < other.at }

// feedView is what a read of a merchant's feed is compared with, as it was before the read.
type feedView struct {
	feedEnds
	far   place
	backs int
}

// before returns what a read of a merchant's feed that begins now is compared with.
func (f *feeds) before(merchantID int64) feedView {
	f.mu.Lock()
	defer f.mu.Unlock()
	return feedView{f.ends[merchantID], f.far, f.backs}
}

// note remembers a later end of a merchant's feed, and the place.
func (f *feeds) note(merchantID int64, before feedView, end order.Feed, at place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends == nil {
		f.ends, f.markets = make(map[int64]feedEnds), make(map[int64]bool)
	}
	f.ends[merchantID] = f.ends[merchantID].with(end)
	f.markets[at.market] = true
	// A read that began before the server went back may end after it.
	if before.backs == f.backs && !at.isBefore(f.far) {
		f.far = at
	}
}

// goBack begins the places at an earlier one.
func (f *feeds) goBack(to place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.far, f.backs = to, f.backs+1
}

// knows reports whether a place with this history of the marketplace's feed was read.
func (f *feeds) knows(market int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.markets[market]
}

// feedEnds are where one merchant's feed ended, in its history and before.
type feedEnds struct {
	last    order.Feed // without events
	earlier []string   // histories of before, the latest first, at most maxEarlierHistories
}

const maxEarlierHistories = 16

// with returns the ends with one that was read. The highest of a history stays, and the
// history does not go back: reads may end in another order than they began.
func (e feedEnds) with(end order.Feed) feedEnds {
	switch {
	case slices.Contains(e.earlier, end.History), end.History == e.last.History && end.Version.Event < e.last.Version.Event:
		return e
	case end.History == e.last.History || e.last.History == "":
		return feedEnds{end, e.earlier}
	}
	earlier := append([]string{e.last.History}, e.earlier...)
	return feedEnds{end, earlier[:min(len(earlier), maxEarlierHistories)]}
}

// Events implements order.Store. Numbers are given out under a lock that lasts
// until the commit, so one statement sees them without gaps.
func (db *DB) Events(ctx context.Context, merchantID, after int64, limit int) (_ order.Feed, err error) {
	defer db.observe(&ctx, "events")(&err)
	feed, gone, err := db.readFeed(ctx, merchantID, after, limit)
	if gone != (lost{}) {
		feed, err = db.renewHistory(ctx, merchantID, after, limit)
	}
	return feed, db.readError("read events", err, nil)
}

// lost says whose histories have lost events: others have their numbers.
type lost struct {
	merchant bool
	// server is where the server is now: everything after it is gone, also what only other
	// instances have read. The zero place means that the server has not gone back.
	server place
}

// readFeed reads a page of the feed, and reports what is lost:
//   - The newest event of before is gone.
//   - An earlier history is there again: an old copy of the database was put back. PostgreSQL
//     may give its later timelines, which are in the history, out again.
//   - The server is less far than it was.
func (db *DB) readFeed(ctx context.Context, merchantID, after int64, limit int) (feed order.Feed, _ lost, err error) {
	before := db.feeds.before(merchantID)
	seen := before.last
	var nonce sql.NullInt64
	var at place
	feed.Events, _, err = db.readEvents(ctx, db.selectFeed, []any{merchantID, seen.Version.Event, after, limit},
		&nonce, &feed.Version.Event, &feed.Version.Nonce, &feed.History, &at.server, &at.at, &at.market)
	switch {
	case err != nil, feed.History == "": // there is no such merchant
		return feed, lost{}, err
	case at.isBefore(before.far):
		return feed, lost{server: at}, nil
	case feed.History == seen.History && nonce.Int64 != seen.Version.Nonce, slices.Contains(before.earlier, feed.History):
		return feed, lost{merchant: true}, nil
	}
	db.feeds.note(merchantID, before, order.Feed{Version: feed.Version, History: feed.History}, at)
	return feed, lost{}, nil
}

// renewHistory gives the merchant, or all merchants, a new history, unless another request or
// instance has done so, and reads a page of it.
func (db *DB) renewHistory(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	db.feeds.renew.Lock()
	defer db.feeds.renew.Unlock()
	feed, gone, err := db.readFeed(ctx, merchantID, after, limit)
	if gone.server != (place{}) && err == nil {
		if err = db.renewHistories(ctx, gone.server); err == nil {
			feed, gone, err = db.readFeed(ctx, merchantID, after, limit)
		}
	}
	if err != nil || !gone.merchant {
		return feed, err
	}
	err = db.inTx(ctx, "history", func(t *tx) error {
		return t.Later(ctx, errNoRow, `UPDATE merchants SET history = $1 WHERE id = $2`, newHistory(), merchantID)
	})
	if err != nil {
		return order.Feed{}, err
	}
	feed, _, err = db.readFeed(ctx, merchantID, after, limit)
	return feed, err
}

// renewHistories gives all merchants and the marketplace's feed a new history after the
// server went back. An instance that has read the feed of before does so: if the server has
// a history of it that this one does not know, another instance was first.
func (db *DB) renewHistories(ctx context.Context, at place) error {
	if db.feeds.knows(at.market) {
		err := db.inTx(ctx, "histories", func(t *tx) error {
			if _, err := t.Exec(ctx, db.dialect.Feed.LockWriters); err != nil {
				return err
			}
			n, err := t.Exec(ctx, `UPDATE event_feed SET history = $1 WHERE id = 1 AND history = $2`, newNonce(), at.market)
			if err == nil && n > 0 {
				_, err = t.Exec(ctx, `UPDATE merchants SET history = $1`, newHistory())
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	db.feeds.goBack(at)
	return nil
}

// OrderEvents implements order.Store with one query.
func (db *DB) OrderEvents(ctx context.Context, merchantID int64, id order.Identifier, after int64, limit int) (_ []order.EventRecord, err error) {
	defer db.observe(&ctx, "order_events")(&err)
	text, value := byIdentifier(id, selectOrderEventsByLegacyID, selectOrderEventsByReference)
	events, found, err := db.readEvents(ctx, text, []any{after, merchantID, value, limit})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return events, db.readError("read events of an order", err, order.ErrNotFound)
}

// readEvents reads rows of eventColumns and of more columns. found reports whether
// there were any, including rows without an event.
func (db *DB) readEvents(ctx context.Context, text string, args []any, more ...any) (events []order.EventRecord, found bool, err error) {
	err = db.sql.Query(ctx, text, args, scanEvents(&events, &found, more...))
	return events, found, err
}

// scanEvents returns a function that scans a row of readEvents.
func scanEvents(events *[]order.EventRecord, found *bool, more ...any) func(sqldb.Rows) error {
	var e order.EventRecord
	var detail string
	dest := append([]any{
		sqldb.IntOrZero(&e.MerchantID), sqldb.IntOrZero(&e.Position), sqldb.IntOrZero(&e.Seq), sqldb.IntOrZero(&e.Nonce), sqldb.IntOrZero(&e.Type), sqldb.IntOrZero(&e.By.Actor),
		sqldb.Time(&e.At), sqldb.IntOrZero(&e.From), sqldb.IntOrZero(&e.To), sqldb.OrEmpty((*string)(&e.Reason)), sqldb.OrEmpty(&detail), sqldb.IntOrZero(&e.InvoiceID),
		sqldb.IntOrZero(&e.By.TokenID), sqldb.OrEmpty(&e.By.RequestID), sqldb.IntOrZero(&e.WebhookID), sqldb.IntOrZero(&e.OrderSize),
		sqldb.IntOrZero(&e.LegacyID), sqldb.OrEmpty(&e.Reference), sqldb.OrEmpty(&e.FileName),
	}, more...)
	return func(rows sqldb.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if *found = true; e.Seq == 0 { // there is no event
			return nil
		}
		e.Fields, e.ExpiresAt = nil, time.Time{}
		switch {
		case e.Type == order.DeadlineNear:
			seconds, err := strconv.ParseInt(detail, 10, 64)
			if err != nil {
				return err
			}
			e.ExpiresAt = time.Unix(seconds, 0).UTC()
		case detail != "":
			e.Fields = strings.Fields(detail)
		}
		*events = append(*events, e)
		return nil
	}
}

// selectDataVersions is completed by Dialect.InList.
const selectDataVersions = `SELECT id, last_event, data_nonce FROM merchants WHERE suspended_at IS NULL AND id `

// DataVersions implements order.Store.
func (db *DB) DataVersions(ctx context.Context, merchantIDs []int64) (_ map[int64]order.DataVersion, err error) {
	defer db.observe(&ctx, "data_versions")(&err)
	versions := make(map[int64]order.DataVersion, len(merchantIDs))
	err = db.sql.Query(ctx, selectDataVersions+db.dialect.InList, []any{merchantIDs}, func(rows sqldb.Rows) error {
		var id int64
		var v order.DataVersion
		err := rows.Scan(&id, &v.Event, &v.Nonce)
		versions[id] = v
		return err
	})
	return versions, db.readError("read data versions", err, nil)
}

// CommitVersion implements order.Store.
func (db *DB) CommitVersion() (string, bool) {
	version, ok := db.sql.CommitVersion()
	return string(version[:]), ok
}
