package search

import (
	"math"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/sqldbtest"
	"merchantorders/internal/testenv"
)

// TestSQLitePlans verifies that each statement reads a range of an index, and sorts
// nothing.
func TestSQLitePlans(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	texts := []string{
		"SCAN CONSTANT ROW", "SEARCH order_words USING PRIMARY KEY (block=? AND word>? AND word<?)", "SCAN t",
		"SEARCH order_words USING PRIMARY KEY (block=? AND word>? AND word<?)",
	}
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"one state": {selectOfState + sqldb.Literal(order.Registered) + ` AND ` + byCreation, []string{
			"SEARCH orders USING COVERING INDEX orders_of_all_by_state (state=? AND (created_at,legacy_id)<(?,?))",
		}},
		"one state of a period": {selectOfState + sqldb.Literal(order.Registered) + ` AND ` + byRange, []string{
			"SEARCH orders USING COVERING INDEX orders_of_all_by_state (state=? AND created_at>? AND (created_at,legacy_id)<(?,?))",
		}},
		"one merchant": {selectOfMerchant, []string{
			"SEARCH orders USING COVERING INDEX orders_by_time (merchant_id=? AND (created_at,legacy_id)<(?,?))",
		}},
		"state of a merchant": {selectOfState + sqldb.Literal(order.Registered) + ` AND ` + ofMerchant, []string{
			"SEARCH orders USING COVERING INDEX orders_by_state (merchant_id=? AND state=? AND (created_at,legacy_id)<(?,?))",
		}},
		"updates": {selectOfUpdates, []string{
			"SEARCH orders USING COVERING INDEX orders_of_all_by_update (updated_at>? AND (updated_at,legacy_id)<(?,?))",
		}},
		"deadlines": {selectOfDeadlines, []string{
			"SEARCH orders USING COVERING INDEX orders_open_deadlines (state=? AND (expires_at,legacy_id)>(?,?) AND expires_at<?)",
		}},
		"words of periods": {selectMatches + db.Dialect().InList + selectMatchesEnd, []string{
			"SEARCH order_words USING PRIMARY KEY (block=? AND word>? AND word<?)", "SCAN json_each VIRTUAL TABLE INDEX 1:",
		}},
		"slice": {selectSlice, slices.Concat(texts, []string{
			"SCAN t", "SEARCH o USING PRIMARY KEY (block=? AND word=? AND created_at>? AND created_at<?)",
		})},
		"newest of a period": {selectNewest, slices.Concat(texts, []string{
			"SCAN t", "SEARCH order_words USING PRIMARY KEY (block=? AND word=? AND created_at<?)",
		})},
		"periods":      {selectPeriods, []string{"SCAN CONSTANT ROW", "SEARCH order_words USING PRIMARY KEY (block>? AND block<?)", "SEARCH order_words USING PRIMARY KEY (block>? AND block<?)"}},
		"staged words": {selectStaged, []string{"SCAN CONSTANT ROW", "SEARCH order_words USING PRIMARY KEY (block>?)"}},
		"words to move": {moveStaged, []string{
			"SEARCH order_words USING PRIMARY KEY (block=? AND word=? AND created_at=? AND legacy_id=? AND merchant_id=?)",
			"SEARCH order_words USING PRIMARY KEY (block>?)",
		}},
	} {
		testenv.Equal(t, name, test.want, sqldbtest.SQLitePlan(t, db, test.text))
	}
}

// TestPostgresPlans verifies that each statement follows an index and ends with its LIMIT.
func TestPostgresPlans(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster makes no plan for all arguments")
	}
	db := openPostgres(t)
	orders := sampleOrders(3000)
	for i := range orders {
		orders[i].State = order.States()[i%11]
		orders[i].CreatedAt = orders[i].CreatedAt.Add(-time.Duration(i) * time.Second)
	}
	fill(t, db, orders)
	const highest = math.MaxInt64
	testenv.NoError(t, db.InTx(t.Context(), func(q sqldb.Querier) error {
		sqldbtest.CheckPostgresPlans(t, q.WithoutTimeout(), map[string]sqldbtest.PostgresPlan{
			"one state":             sqldbtest.NewPostgresPlan(selectOfState+sqldb.Literal(order.Registered)+` AND `+byCreation, []any{highest, highest, 20}, 0, "Limit", "Scan Backward using orders_of_all_by_state"),
			"one state of a period": sqldbtest.NewPostgresPlan(selectOfState+sqldb.Literal(order.Registered)+` AND `+byRange, []any{0, highest, highest, 20}, 0, "Limit", "Scan Backward using orders_of_all_by_state"),
			"updates":               sqldbtest.NewPostgresPlan(selectOfUpdates, []any{highest, highest, 20}, 0, "Limit", "Scan Backward using orders_of_all_by_update"),
			"deadlines":             sqldbtest.NewPostgresPlan(selectOfDeadlines, []any{highest, 0, 0, 20}, 0, "Limit", "Scan using orders_open_deadlines"),
			"words of periods":      sqldbtest.NewPostgresPlan(selectMatches+db.Dialect().InList+selectMatchesEnd, []any{"'{-2900,-2899}'", "'n'", "'o'", 20}, 0, "Limit", "Scan using order_words_pkey"),
			"slice":                 sqldbtest.NewPostgresPlan(selectSlice, []any{-2900, "'n'", "'o'", 128, 0, 1000, 20}, 0, "Recursive Union", "Limit", "Scan using order_words_pkey on order_words o"),
			"newest of a period":    sqldbtest.NewPostgresPlan(selectNewest, []any{-2900, "'n'", "'o'", 128, 1000}, 0, "Recursive Union", "Scan Backward using order_words_pkey"),
			"periods":               sqldbtest.NewPostgresPlan(selectPeriods, []any{-3000, -1}, 0, "Scan using order_words_pkey"),
		})
		return nil
	}))
}
