package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/sqldbtest"
	"merchantorders/internal/testenv"
)

// TestPostgresPlans verifies that lists follow an index and end with their LIMIT: nothing but the rows of a page is sorted, in the plan
// that the server makes once for all arguments.
func TestPostgresPlans(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster makes no plan for all arguments; TestDistributedPlans checks its plans")
	}
	db := postgresURL(pgtest.Database(t)).Open(t).(*DB)
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	batch := testBatch(1, "R", 3000)
	for i := range batch {
		batch[i].Order.State = order.States()[i%11]
		batch[i].Order.CreatedAt = testTime.Add(time.Duration(rand.IntN(86400)) * time.Second)
	}
	testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	// One transaction: one connection.
	testenv.NoError(t, db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
		checkPlans(t, db, q.WithoutTimeout())
		return nil
	}))
}

// checkPlans checks the plans of statements.
func checkPlans(t *testing.T, db *DB, on sqldb.Querier) {
	t.Helper()
	if _, err := on.Exec(t.Context(), "INSERT INTO webhook_deliveries SELECT 1, n % 3, n, 0, '', n, 0, '', 0, '', 0, '' FROM generate_series(1, 3000) n"); err != nil {
		t.Fatal(err)
	}
	const highest = int64(math.MaxInt64)
	plan := func(sorts int, steps ...string) func(string, []any) sqldbtest.PostgresPlan {
		return func(text string, args []any) sqldbtest.PostgresPlan {
			return sqldbtest.NewPostgresPlan(text, args, sorts, steps...)
		}
	}
	all, one, three := planList(false), planList(false, order.Canceled), planList(false, order.StatesOfCode('C')...)
	ofDays, oneOfDays := planList(true), planList(true, order.Canceled)
	at := position{createdAt: highest, skipped: 50}
	keys := []any{1, 0, 0, highest, highest, 100}
	sqldbtest.CheckPostgresPlans(t, on, map[string]sqldbtest.PostgresPlan{
		"any state":              plan(0, "Index Scan Backward using orders_by_time")(all.pageStatement(at, true)),
		"one state":              plan(0, "Index Scan Backward using orders_by_state")(one.pageStatement(at, true)),
		"three states":           plan(1, "Merge Append", "Scan Backward using orders_by_state", "orders_pkey", "rows=256 ")(three.pageStatement(at, true)),
		"days":                   plan(0, "Index Scan Backward using orders_by_time", "Index Only Scan using orders_by_time")(ofDays.pageStatement(at, true)),
		"days, state":            plan(0, "Index Scan Backward using orders_by_state", "Index Only Scan using orders_")(oneOfDays.pageStatement(at, true)),
		"sums of a state":        plan(1, "Limit", "using orders_by_state")(one.sumStatement(100)),
		"key":                    plan(0, "Index Only Scan Backward using orders_by_time")(all.keyStatement(at)),
		"key of three states":    plan(0, "Merge Append", "Index Only Scan Backward using orders_by_state")(three.keyStatement(at)),
		"key of days, state":     plan(0, "Index Only Scan Backward using orders_by_state")(oneOfDays.keyStatement(at)),
		"export":                 sqldbtest.NewPostgresPlan(selectExportKeys(0), keys, 0, "Index Scan using orders_by_time"),
		"export of a state":      sqldbtest.NewPostgresPlan(selectExportKeys(order.Canceled), keys, 0, "Index Scan using orders_by_state"),
		"feed":                   sqldbtest.NewPostgresPlan(db.selectFeed, []any{1, 0, 0, 100}, 1, "Limit", "Index Scan using events_pkey on events e"),
		"feed of all merchants":  sqldbtest.NewPostgresPlan(db.selectMarketEvents, []any{0, 0, 0, 0, 100}, 1, "Limit", "Index Scan using events_by_position on events e"),
		"due of the marketplace": sqldbtest.NewPostgresPlan(db.selectMarketDue, []any{0}, 0, "events_by_position on events e"),
		"oldest order":           sqldbtest.NewPostgresPlan(selectOldestOrder, []any{1, 0}, 0, "Index Only Scan using orders_by_state"),
		"orders":                 sqldbtest.NewPostgresPlan(selectOrders(db.dialect), []any{"'{1}'", "'{1}'"}, 0, "Nested Loop", "orders_pkey"),
		"search, orders":         sqldbtest.NewPostgresPlan(selectFound, slices.Repeat([]any{1, 2}, search.ReadLimit), 0, "BitmapOr", "orders_pkey"),
		"with a deadline":        sqldbtest.NewPostgresPlan(selectWithDeadline, []any{1, 0, 0, 0, highest, 10}, 0, "Index Scan using orders_with_deadline", "ROW(expires_at, created_at, legacy_id) > "),
		"near their deadline":    sqldbtest.NewPostgresPlan(selectNearDeadlines, []any{highest, 0, 0, 64}, 0, "Limit", "Index Scan using orders_open_deadlines", "(deadline_warned = 0)"),
		"without a deadline":     sqldbtest.NewPostgresPlan(selectWithoutDeadline, []any{1, 0, 0, 10}, 0, "Index Scan using orders_without_deadline"),
		"without an invoice":     sqldbtest.NewPostgresPlan(selectWithoutInvoice, []any{1, 0, 0, 100}, 1, "Limit", "Index Scan using orders_without_invoice", "orders_pkey"),
		"merchant's own number":  sqldbtest.NewPostgresPlan(selectByMerchantReference, []any{1, "'R'", 100}, 0, "Limit", "Index Scan Backward using orders_merchant_reference"),
		"deliveries of an order": sqldbtest.NewPostgresPlan(selectOrderDeliveries, []any{1, 1, 100, 100}, 1, "Limit", "Scan using events_by_order", "Scan using webhook_deliveries_by_event"),
	})
}
