package store

import (
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
	// eventOrder is the reference of the order of an event, also of a deleted one.
	eventOrder = `COALESCE(o.reference,
		(SELECT d.reference FROM deleted_orders d WHERE d.merchant_id = e.merchant_id AND d.legacy_id = e.legacy_id)) AS reference`
	joinOrder   = ` LEFT JOIN orders o ON o.merchant_id = e.merchant_id AND o.legacy_id = e.legacy_id`
	joinInvoice = ` LEFT JOIN invoices i ON i.merchant_id = e.merchant_id AND i.legacy_id = e.legacy_id AND i.id = e.invoice_id`

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

// selectFeed returns the statement that reads a page of the feed, with the nonce of
// an earlier event and the data version and the history of the same moment. A page
// without events is a row too.
func selectFeed(history string) string {
	return `SELECT k.*, (SELECT nonce FROM events WHERE merchant_id = $1 AND seq = $2), m.last_event, m.data_nonce, ` + history + ` FROM merchants m
	LEFT JOIN (SELECT ` + eventFields + `, e.legacy_id, ` + eventOrder + `, i.name
		FROM events e` + joinOrder + joinInvoice + `
		WHERE e.merchant_id = $1 AND e.seq > $3 ORDER BY e.seq LIMIT $4+0) k ON TRUE
	WHERE m.id = $1 ORDER BY k.seq`
}

// feeds are where the feeds of merchants ended when they were read last, to notice
// that numbers are given out again although the database does not tell, such as
// after a copy of the server's files was put back.
type feeds struct {
	renew sync.Mutex // held while a history is renewed

	mu   sync.Mutex
	ends map[int64]feedEnds // by merchant
}

// of returns the ends of a merchant's feed.
func (f *feeds) of(merchantID int64) feedEnds {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ends[merchantID]
}

// note remembers a later end of a merchant's feed.
func (f *feeds) note(merchantID int64, end order.Feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends == nil {
		f.ends = make(map[int64]feedEnds)
	}
	f.ends[merchantID] = f.ends[merchantID].with(end)
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
	feed, lost, err := db.readFeed(ctx, merchantID, after, limit)
	if lost {
		feed, err = db.renewHistory(ctx, merchantID, after, limit)
	}
	return feed, db.readError("read events", err, nil)
}

// readFeed reads a page of the feed, and reports whether its history has lost events. Then
// others have their numbers:
//   - The newest event of before is gone.
//   - An earlier history is there again: an old copy of the database was put back. PostgreSQL
//     may give its later timelines, which are in the history, out again.
func (db *DB) readFeed(ctx context.Context, merchantID, after int64, limit int) (feed order.Feed, lost bool, err error) {
	ends := db.feeds.of(merchantID)
	seen := ends.last
	var nonce sql.NullInt64
	feed.Events, _, err = db.readEvents(ctx, db.selectFeed, []any{merchantID, seen.Version.Event, after, limit},
		&nonce, &feed.Version.Event, &feed.Version.Nonce, &feed.History)
	if err != nil {
		return feed, false, err
	}
	lost = feed.History == seen.History && nonce.Int64 != seen.Version.Nonce || slices.Contains(ends.earlier, feed.History)
	if !lost {
		db.feeds.note(merchantID, order.Feed{Version: feed.Version, History: feed.History})
	}
	return feed, lost, nil
}

// renewHistory gives the merchant a new history, unless another request or instance
// has done so, and reads a page of it.
func (db *DB) renewHistory(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error) {
	db.feeds.renew.Lock()
	defer db.feeds.renew.Unlock()
	feed, lost, err := db.readFeed(ctx, merchantID, after, limit)
	if !lost {
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
	err = sqldb.Each(ctx, db.sql, text, args, scanEvents(&events, &found, more...))
	return events, found, err
}

// scanEvents returns a function that scans a row of readEvents.
func scanEvents(events *[]order.EventRecord, found *bool, more ...any) func(sqldb.Rows) error {
	var merchant, position, seq, nonce, kind, actor, at, from, to, invoice, token, hook, size, legacyID sql.NullInt64
	var reason, detail, request, reference, name sql.NullString
	dest := append([]any{&merchant, &position, &seq, &nonce, &kind, &actor, &at, &from, &to, &reason, &detail, &invoice, &token, &request, &hook, &size, &legacyID, &reference, &name}, more...)
	return func(rows sqldb.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if *found = true; !seq.Valid {
			return nil
		}
		e := order.EventRecord{Nonce: nonce.Int64, MerchantID: merchant.Int64, Position: position.Int64, LegacyID: legacyID.Int64, Reference: reference.String, OrderSize: size.Int64, FileName: name.String}
		e.Event = order.Event{
			Seq: seq.Int64, Type: order.EventType(kind.Int64), By: order.Caller{Actor: order.Actor(actor.Int64), TokenID: token.Int64, RequestID: request.String}, At: time.Unix(at.Int64, 0).UTC(),
			From: order.State(from.Int64), To: order.State(to.Int64), Reason: order.Reason(reason.String), InvoiceID: invoice.Int64,
			WebhookID: hook.Int64,
		}
		switch {
		case e.Type == order.DeadlineNear:
			seconds, err := strconv.ParseInt(detail.String, 10, 64)
			if err != nil {
				return err
			}
			e.ExpiresAt = time.Unix(seconds, 0).UTC()
		case detail.Valid:
			e.Fields = strings.Fields(detail.String)
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
	err = sqldb.Each(ctx, db.sql, selectDataVersions+db.dialect.InList, []any{merchantIDs}, func(rows sqldb.Rows) error {
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
