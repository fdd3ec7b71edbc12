package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that read events. An invoice's entry stays when its file is
// deleted, so that every event finds the name that it tells of.
const (
	eventColumns = `e.seq, e.type, e.actor, e.at, e.from_state, e.to_state, e.reason, e.invoice_id,
	o.legacy_id, o.reference, i.name`
	eventFile = ` LEFT JOIN invoices i ON i.merchant_id = e.merchant_id AND i.legacy_id = e.legacy_id AND i.id = e.invoice_id`

	selectFeed = `SELECT ` + eventColumns + ` FROM events e
	JOIN orders o ON o.merchant_id = e.merchant_id AND o.legacy_id = e.legacy_id` + eventFile + `
	WHERE e.merchant_id = $1 AND e.seq > $2 ORDER BY e.seq LIMIT $3+0`

	// An order without such an event is a row as well; no row is no order. The
	// keys come first, from the index alone: asked for whole rows at once, SQLite
	// goes through all events of the merchant.
	selectHistory = `SELECT ` + eventColumns + ` FROM orders o
	LEFT JOIN events k ON k.merchant_id = o.merchant_id AND k.legacy_id = o.legacy_id AND k.seq > $1
	LEFT JOIN events e ON e.merchant_id = k.merchant_id AND e.seq = k.seq` + eventFile + `
	WHERE o.merchant_id = $2 AND `
	selectHistoryByNumber    = selectHistory + `o.legacy_id = $3 ORDER BY k.seq LIMIT $4+0`
	selectHistoryByReference = selectHistory + `o.reference = $3 ORDER BY k.seq LIMIT $4+0`
)

// Events implements order.Store. Numbers are given out under a lock that lasts
// until the commit, so that what one statement sees has no gap.
func (db *DB) Events(ctx context.Context, merchantID, after int64, limit int) ([]order.EventRecord, error) {
	defer db.timed("events")()
	events, _, err := readEvents(ctx, db.sql, selectFeed, merchantID, after, limit)
	if err != nil {
		return nil, db.wrap(fmt.Errorf("read events: %w", err))
	}
	return events, nil
}

// OrderEvents implements order.Store with one query.
func (db *DB) OrderEvents(ctx context.Context, merchantID int64, key order.Identifier, after int64, limit int) ([]order.EventRecord, error) {
	defer db.timed("order_events")()
	text, value := byKey(key, selectHistoryByNumber, selectHistoryByReference)
	events, found, err := readEvents(ctx, db.sql, text, after, merchantID, value, limit)
	if err != nil {
		return nil, db.wrap(fmt.Errorf("read events of an order: %w", err))
	}
	if !found {
		return nil, order.ErrNotFound
	}
	return events, nil
}

// maxVersions is how many merchants one statement of DataVersions is for. Fewer
// are filled up with the last one, so that there are two texts to prepare.
const maxVersions = 64

// selectDataVersions reads the data versions of n merchants.
func selectDataVersions(n int) string {
	return `SELECT id, last_event, data_mark FROM merchants WHERE id IN (` + sqldb.Params(1, n) + `)`
}

var selectOneVersion, selectManyVersions = selectDataVersions(1), selectDataVersions(maxVersions)

// DataVersions implements order.Store.
func (db *DB) DataVersions(ctx context.Context, merchantIDs []int64) (map[int64]order.DataVersion, error) {
	defer db.timed("data_versions")()
	versions := make(map[int64]order.DataVersion, len(merchantIDs))
	for ids := range slices.Chunk(merchantIDs, maxVersions) {
		text, args := selectOneVersion, make([]any, 1, maxVersions)
		args[0] = ids[0]
		if len(ids) > 1 {
			text, args = selectManyVersions, args[:maxVersions]
			for i := range args {
				args[i] = ids[min(i, len(ids)-1)]
			}
		}
		err := sqldb.Each(ctx, db.sql, text, args, func(rows sqldb.Rows) error {
			var id int64
			var v order.DataVersion
			err := rows.Scan(&id, &v.Event, &v.Mark)
			versions[id] = v
			return err
		})
		if err != nil {
			return nil, db.wrap(fmt.Errorf("read data versions: %w", err))
		}
	}
	return versions, nil
}

// readEvents reads rows of eventColumns, and reports whether there were any,
// rows without an event included.
func readEvents(ctx context.Context, r sqldb.Querier, text string, args ...any) ([]order.EventRecord, bool, error) {
	var events []order.EventRecord
	found := false
	err := sqldb.Each(ctx, r, text, args, func(rows sqldb.Rows) error {
		var e order.EventRecord
		var seq, kind, actor, at, from, to, invoice sql.NullInt64
		var reason, name sql.NullString
		err := rows.Scan(&seq, &kind, &actor, &at, &from, &to, &reason, &invoice, &e.LegacyID, &e.Reference, &name)
		if err != nil {
			return err
		}
		if found = true; !seq.Valid {
			return nil
		}
		e.Event = order.Event{
			Seq: seq.Int64, Type: order.EventType(kind.Int64), Actor: order.Actor(actor.Int64), At: time.Unix(at.Int64, 0).UTC(),
			From: order.State(from.Int64), To: order.State(to.Int64), Reason: order.Reason(reason.String), InvoiceID: invoice.Int64,
		}
		e.FileName = name.String
		events = append(events, e)
		return nil
	})
	return events, found, err
}
