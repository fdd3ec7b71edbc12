package store

import (
	"context"
	"fmt"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The statements of a survey cover all merchants. None of them reads the orders of a
// merchant: its row has their numbers by state, and the index by state begins with the
// oldest order.
const (
	selectOldestOrder = `WITH unanswered AS MATERIALIZED (
			SELECT m.suspended_at, (SELECT MIN(o.created_at) FROM orders o WHERE o.merchant_id = m.id AND o.state = $1) AS oldest FROM merchants m)
		SELECT MIN(oldest), SUM(CASE WHEN suspended_at IS NULL THEN 1 ELSE 0 END), SUM(CASE WHEN suspended_at IS NULL AND oldest < $2 THEN 1 ELSE 0 END)
		FROM unanswered`
	selectWebhookCounts = `SELECT w.state, COUNT(*), MIN(e.at), SUM(CASE WHEN e.at < $1 THEN 1 ELSE 0 END),
		SUM(CASE WHEN w.merchant_id = 0 THEN 1 ELSE 0 END) FROM webhooks w
		LEFT JOIN merchants m ON m.id = w.merchant_id AND m.suspended_at IS NULL
		LEFT JOIN events e ON e.merchant_id = m.id AND e.seq = w.acknowledged + 1 WHERE w.mail = 0 GROUP BY w.state`
	selectSchema = `SELECT MAX(version) FROM schema_steps` // also those that only add
)

// selectMarketWaiting reads the time of the first event behind the cursor of each endpoint of
// the marketplace, also of one that the feed holds back, and what the endpoint holds.
var selectMarketWaiting = `SELECT ` + nextOfMarket("at", sqldb.MaxPosition) + `, w.held FROM webhooks w WHERE w.merchant_id = 0 AND w.` + delivers

// selectMarketHeld returns the statement that reads the time of the first event that the feed
// of all merchants holds back.
func selectMarketHeld(d *sqldb.Dialect) string {
	return `SELECT (SELECT e.at FROM events e WHERE e.position >= ` + d.Feed.End + ` ORDER BY e.position, e.merchant_id, e.seq LIMIT 1)`
}

// lateAfter is how long a merchant may leave an order without an answer.
const lateAfter = 24 * time.Hour

// webhookLateAfter is how long an event may take to a webhook.
const webhookLateAfter = time.Hour

// Survey is what the metrics tell of the orders and webhooks of all merchants.
type Survey struct {
	SchemaVersion int64
	Orders        map[order.State]int64    // every state has an entry
	OldestNew     time.Time                // creation of the oldest order in state Registered; zero: none
	Merchants     int64                    // those that are not suspended
	LateMerchants int64                    // those of them with an order that has been in state Registered for longer than lateAfter
	Overdue       int64                    // registered orders past their deadline; at most order.MaxOverdue
	Webhooks      map[delivery.State]int64 // every state has an entry
	// MarketWebhooks are those of them that are the marketplace's; every state has an entry.
	MarketWebhooks map[delivery.State]int64
	// OldestUndelivered is the time of the oldest event that an active or failing webhook
	// has yet to acknowledge; zero: none. Those of suspended merchants do not count.
	OldestUndelivered time.Time
	// OldestMarketUndelivered is that of the webhooks of the marketplace alone.
	OldestMarketUndelivered time.Time
	// OldestHeld is the time of the oldest event that the feed of all merchants holds back
	// because a transaction is in progress; zero: none.
	OldestHeld   time.Time
	LateWebhooks int64 // active and failing ones that have yet to acknowledge an event older than webhookLateAfter
	// Runs has the nightly jobs that have run.
	Runs map[NightlyJob]NightlyRun
}

// Survey reads a survey at a time. Its statements end with ctx.
func (db *DB) Survey(ctx context.Context, now time.Time) (_ Survey, err error) {
	defer db.observe(&ctx, "survey")(&err)
	q := db.sql.WithoutTimeout()
	var survey Survey
	var counts stateCounts
	if err := q.QueryRow(ctx, selectOrderCounts, nil, counts.dest()...); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("count the orders by state: %w", err))
	}
	survey.Orders = counts.byState()
	if err := q.QueryRow(ctx, selectOverdue, []any{now.Unix(), order.MaxOverdue}, &survey.Overdue); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("count the orders past their deadline: %w", err))
	}
	if err := q.QueryRow(ctx, selectOldestOrder, []any{int64(order.Registered), now.Add(-lateAfter).Unix()},
		sqldb.Time(&survey.OldestNew), sqldb.IntOrZero(&survey.Merchants), sqldb.IntOrZero(&survey.LateMerchants)); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("read the oldest registered orders: %w", err))
	}
	if err := db.surveyWebhooks(ctx, q, &survey, now); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("count the webhooks: %w", err))
	}
	if survey.Runs, err = readRuns(ctx, q); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("read the nightly runs: %w", err))
	}
	if err := q.QueryRow(ctx, selectSchema, nil, &survey.SchemaVersion); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("read the version of the schema: %w", err))
	}
	return survey, nil
}

// surveyWebhooks reads the part of a survey about webhooks.
func (db *DB) surveyWebhooks(ctx context.Context, q sqldb.Querier, survey *Survey, now time.Time) error {
	survey.Webhooks, survey.MarketWebhooks = make(map[delivery.State]int64), make(map[delivery.State]int64)
	for _, state := range webhook.States {
		survey.Webhooks[state], survey.MarketWebhooks[state] = 0, 0
	}
	late := now.Add(-webhookLateAfter)
	// undelivered counts endpoints that have yet to acknowledge an event of a time.
	undelivered := func(oldest time.Time, lateCount int64) {
		survey.LateWebhooks += lateCount
		survey.OldestUndelivered = earlier(survey.OldestUndelivered, oldest)
	}
	err := q.Query(ctx, selectWebhookCounts, []any{late.Unix()}, func(rows sqldb.Rows) error {
		var state delivery.State
		var count, lateCount, market int64
		var oldest time.Time
		err := rows.Scan(sqldb.Int(&state), &count, sqldb.Time(&oldest), &lateCount, &market)
		survey.Webhooks[state], survey.MarketWebhooks[state] = count, market
		if state.Delivers() {
			undelivered(oldest, lateCount)
		}
		return err
	})
	if err != nil || db.dialect.Feed.End == "" {
		return err
	}
	if err := q.QueryRow(ctx, selectMarketHeld(db.dialect), nil, sqldb.Time(&survey.OldestHeld)); err != nil {
		return err
	}
	type waiting struct {
		oldest time.Time
		held   []byte
	}
	endpoints, err := sqldb.All(ctx, q, selectMarketWaiting, nil, func(rows sqldb.Rows) (w waiting, err error) {
		err = rows.Scan(sqldb.Time(&w.oldest), &w.held)
		return w, err
	})
	for _, w := range endpoints {
		for _, h := range ofJSON[[]delivery.Held](w.held) {
			var at time.Time // zero: there is no such event yet
			if err := q.QueryRow(ctx, `SELECT MIN(at) FROM events WHERE merchant_id = $1 AND seq = $2`, []any{h.MerchantID, h.Event}, sqldb.Time(&at)); err != nil {
				return err
			}
			w.oldest = earlier(w.oldest, at)
		}
		undelivered(w.oldest, flag(!w.oldest.IsZero() && w.oldest.Unix() < late.Unix()))
		survey.OldestMarketUndelivered = earlier(survey.OldestMarketUndelivered, w.oldest)
	}
	return err
}

// earlier returns the earlier one of two times; a zero one does not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Pool returns the use of the database connections at the moment.
func (db *DB) Pool() sqldb.PoolUse { return db.sql.Pool() }
