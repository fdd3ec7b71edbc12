package store

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The marketplace's feed has the events of all merchants by position, merchant and
// number. takeEventNumbers gives out positions, so that those of a merchant ascend, and a
// page ends below FeedDialect.End: below that, no event is yet to come. Its statements
// name all merchants, because operators see all of them.

// marketHistory are the columns of event_feed m that identify the history of the feed: for
// cursors, for clients (see Dialect.History), and whether the positions are of this server.
func marketHistory(d *sqldb.Dialect) string {
	return `m.history, ` + d.History + `, NOT (` + countsAnew(d, "m") + `)`
}

// countsAnew is the condition that another server, or an earlier state of it, gives out
// positions than gave out those of the events. feed is the table event_feed.
func countsAnew(d *sqldb.Dialect, feed string) string {
	condition := feed + `.server <> ` + d.Feed.Server
	if d.Feed.Behind != "" {
		condition += ` OR ` + d.Feed.Behind
	}
	return condition
}

// selectMarketEvents returns the statement that reads a page of the marketplace's feed,
// and how many events there are at its cursor. A page without events is a row too.
func selectMarketEvents(d *sqldb.Dialect) string {
	return `SELECT k.*, (SELECT COUNT(*) FROM events WHERE position = $1 AND merchant_id = $2 AND seq = $3 AND nonce = $4), ` + marketHistory(d) + `
	FROM event_feed m
	LEFT JOIN (SELECT ` + eventFields + `, e.legacy_id, ` + eventOrder(`e.merchant_id`) + `, i.name
		FROM events e` + joinOrder + joinInvoice + `
		WHERE (e.position, e.merchant_id, e.seq) > ($1, $2, $3) AND e.position < ` + d.Feed.End + `
		ORDER BY e.position, e.merchant_id, e.seq LIMIT $5+0) k ON TRUE
	WHERE m.id = 1 ORDER BY k.position, k.merchant_id, k.seq`
}

// selectMarketEnd returns the statement that reads the newest event of the marketplace's
// feed.
func selectMarketEnd(d *sqldb.Dialect) string {
	return `SELECT COALESCE(k.position, 0), COALESCE(k.merchant_id, 0), COALESCE(k.seq, 0), COALESCE(k.nonce, 0), ` + marketHistory(d) + `
	FROM event_feed m
	LEFT JOIN (SELECT e.position, e.merchant_id, e.seq, e.nonce FROM events e WHERE e.position < ` + d.Feed.End + `
		ORDER BY e.position DESC, e.merchant_id DESC, e.seq DESC LIMIT 1) k ON TRUE
	WHERE m.id = 1`
}

// marketState is what a statement has read with marketHistory.
type marketState struct {
	cursorHistory int64 // MarketCursor.History
	history       string
	sameServer    bool
}

func (s *marketState) dest() []any { return []any{&s.cursorHistory, &s.history, &s.sameServer} }

// MarketEvents implements order.Store.
func (db *DB) MarketEvents(ctx context.Context, after order.MarketCursor, limit int) (_ order.MarketFeed, err error) {
	defer db.observe(&ctx, "market_events")(&err)
	var market order.MarketFeed
	var atCursor int64
	state, err := db.readMarket(ctx, func(state *marketState) (err error) {
		var found bool
		market.Events, found, err = db.readEvents(ctx, db.selectMarketEvents,
			[]any{after.Position, after.MerchantID, after.Seq, after.Nonce, limit}, append([]any{&atCursor}, state.dest()...)...)
		if err == nil && !found {
			err = sql.ErrNoRows
		}
		return err
	})
	if err != nil {
		return order.MarketFeed{}, db.readError("read events of all merchants", err, order.ErrOnCluster)
	}
	history := state.cursorHistory
	if after.History != 0 && after.History != history || after.MerchantID != 0 && atCursor == 0 {
		return order.MarketFeed{}, order.ErrOtherHistory
	}
	market.History, market.Cursor = state.history, after
	if n := len(market.Events); n > 0 {
		last := market.Events[n-1]
		market.Cursor = order.MarketCursor{Position: last.Position, MerchantID: last.MerchantID, Seq: last.Seq, Nonce: last.Nonce}
	}
	market.Cursor.History = history
	return market, nil
}

// MarketEnd implements order.Store.
func (db *DB) MarketEnd(ctx context.Context) (_ order.MarketFeed, err error) {
	defer db.observe(&ctx, "market_end")(&err)
	var market order.MarketFeed
	end := &market.Cursor
	state, err := db.readMarket(ctx, func(state *marketState) error {
		return db.sql.QueryRow(ctx, db.selectMarketEnd, nil, append([]any{&end.Position, &end.MerchantID, &end.Seq, &end.Nonce}, state.dest()...)...)
	})
	if err != nil {
		return order.MarketFeed{}, db.readError("read the end of the events of all merchants", err, order.ErrOnCluster)
	}
	end.History, market.History = state.cursorHistory, state.history
	market.Version = order.DataVersion{Event: end.Position, Nonce: end.Nonce}
	return market, nil
}

// readMarket runs a statement on the marketplace's feed. If the database is now on
// another server, it first begins a new history: see newServer. The error is
// sql.ErrNoRows or ErrOnCluster if the tables are distributed.
func (db *DB) readMarket(ctx context.Context, read func(*marketState) error) (state marketState, err error) {
	if db.dialect.Feed.End == "" {
		return state, order.ErrOnCluster
	}
	if err = read(&state); err == nil && !state.sameServer {
		if err = db.newServer(ctx); err == nil {
			err = read(&state)
		}
	}
	return state, err
}

// newServer makes the positions to come higher than all before, although the server
// counts its transactions from another number. The events that were written there already
// may be anywhere among the others: so the feed begins a new history.
func (db *DB) newServer(ctx context.Context) error {
	feed := db.dialect.Feed
	return db.inTx(ctx, "market_server", func(t *tx) error {
		// A transaction in progress would use the old base.
		if _, err := t.Exec(ctx, feed.LockWriters); err != nil {
			return err
		}
		_, err := t.Exec(ctx, `UPDATE event_feed SET base = (SELECT COALESCE(MAX(position), 0) FROM events), history = $1, server = `+feed.Server+`
			WHERE id = 1 AND (`+countsAnew(db.dialect, "event_feed")+`)`, newNonce())
		return err
	})
}

// RenewMarketHistory begins a new history of the marketplace's feed: earlier cursors are
// not valid any more.
func RenewMarketHistory(ctx context.Context, q sqldb.Querier) error {
	_, err := q.Exec(ctx, `UPDATE event_feed SET history = $1 WHERE id = 1`, newNonce())
	return err
}

// newHistory returns a text that names a new history.
func newHistory() string { return fmt.Sprintf("%016x", rand.Uint64()) }
