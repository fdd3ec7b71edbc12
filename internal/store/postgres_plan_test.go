package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestPostgresPlans verifies that lists and the reading of keys follow an index
// and end with their LIMIT: nothing but the rows of a page is sorted, in the plan
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
	if _, err := db.ImportOrders(t.Context(), batch, order.Cause{Actor: order.ActorOperator, At: testTime}); err != nil {
		t.Fatal(err)
	}
	// One transaction: one connection.
	err := db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
		checkPlans(t, db, q.WithoutTimeout())
		return nil
	})
	testenv.NoError(t, err)
}

func checkPlans(t *testing.T, db *DB, on sqldb.Querier) {
	t.Helper()
	for _, text := range []string{
		"INSERT INTO webhook_deliveries SELECT 1, n % 3, n, 0, '', n, '', 0, '', 0, '' FROM generate_series(1, 3000) n", "ANALYZE",
		"SET plan_cache_mode = force_generic_plan",
	} {
		if _, err := on.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	highest := pageindex.Key{CreatedAt: math.MaxInt64, LegacyID: math.MaxInt64}
	at := pageindex.Position{UpperBound: highest, Limit: 10, Offset: 50}
	page := func(states ...order.State) statement {
		text, args := pageStatement(1, order.Filter{AnyState: states == nil, States: states}, at)
		return statement{text, args}
	}
	keys := []any{1, 0, 0, highest.CreatedAt, highest.LegacyID, 100}
	for name, test := range map[string]struct {
		statement
		sorts int
		steps []string
	}{
		"any state":        {page(), 0, []string{"Index Scan Backward using orders_by_time"}},
		"one state":        {page(order.Canceled), 0, []string{"Index Scan Backward using orders_by_state"}},
		"three states":     {page(order.StatesOfCode('C')...), 1, []string{"Merge Append", "Scan Backward using orders_by_state", "orders_pkey", "rows=256 "}},
		"keys, descending": {statement{selectKeys(false), keys}, 0, []string{"Merge Append", "Scan Backward using orders_by_state"}},
		"keys, ascending":  {statement{selectKeys(true), keys}, 0, []string{"Merge Append", "Scan using orders_by_state"}},
		"feed":             {statement{db.selectFeed, []any{1, 0, 0, 100}}, 1, []string{"Limit", "Index Scan using events_pkey on events e"}},
		"oldest order":     {statement{selectOldestOrder, []any{1}}, 0, []string{"Index Only Scan using orders_by_state"}},
		"search, one state": {
			statement{selectOfState + sqldb.Literal(order.Registered) + ` AND ` + byCreation, []any{highest.CreatedAt, highest.LegacyID, 20}}, 0,
			[]string{"Limit", "Scan Backward using orders_of_all_by_state"},
		},
		"search, one state of a period": {
			statement{selectOfState + sqldb.Literal(order.Registered) + ` AND ` + byRange, []any{0, highest.CreatedAt, highest.LegacyID, 20}}, 0,
			[]string{"Limit", "Scan Backward using orders_of_all_by_state"},
		},
		"search, updates": {
			statement{selectOfUpdates, []any{highest.CreatedAt, highest.LegacyID, 20}}, 0,
			[]string{"Limit", "Scan Backward using orders_of_all_by_update"},
		},
		"search, deadlines": {
			statement{selectOfDeadlines, []any{highest.CreatedAt, 0, 0, 20}}, 0, []string{"Limit", "Scan using orders_open_deadlines"},
		},
		"search, words of periods": {
			statement{selectMatches + db.dialect.InList + selectMatchesEnd, []any{"'{-2900,-2899}'", "'n'", "'o'", 20}}, 0,
			[]string{"Limit", "Scan using order_words_pkey"},
		},
		"search, slice": {
			statement{selectSlice, []any{-2900, "'n'", "'o'", 128, 0, 1000, 20}}, 0, []string{"Recursive Union", "Limit", "Scan using order_words_pkey on order_words o"},
		},
		"search, newest of a period": {
			statement{selectNewest, []any{-2900, "'n'", "'o'", 128, 1000}}, 0, []string{"Recursive Union", "Scan Backward using order_words_pkey"},
		},
		"search, periods":      {statement{selectPeriods, []any{-3000, -1}}, 0, []string{"Scan using order_words_pkey"}},
		"search, staged block": {statement{selectStagedBlock, []any{0}}, 0, []string{"Scan using order_words_pkey"}},
		"search, orders":       {statement{selectFound, slices.Repeat([]any{1, 2}, rowsAtATime)}, 0, []string{"BitmapOr", "orders_pkey"}},
		"deliveries of an order": {
			statement{selectOrderDeliveries, []any{1, 1, 100}}, 1,
			[]string{"Limit", "Scan using events_by_order", "Scan using webhook_deliveries_by_event"},
		},
		"events": {statement{selectDeltasByKeys, []any{1, 1}}, 0, []string{"Index Scan using orders_pkey"}},
	} {
		lines := genericPlan(t, on, test.statement)
		plan := strings.Join(lines, "\n")
		if sorts := strings.Count(plan, "Sort  ("); sorts != test.sorts || strings.Contains(plan, "Seq Scan on orders") {
			t.Errorf("%s: sorts %d times, want %d\n%s", name, sorts, test.sorts, plan)
		}
		for _, step := range test.steps {
			if !strings.Contains(plan, step) {
				t.Errorf("%s: %s is missing\n%s", name, step, plan)
			}
		}
	}
}

// genericPlan returns the plan of a statement that does not depend on its
// arguments.
func genericPlan(t *testing.T, r sqldb.Querier, s statement) []string {
	t.Helper()
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		args[i] = fmt.Sprint(arg)
	}
	if _, err := r.Exec(t.Context(), "PREPARE explained AS "+s.text); err != nil {
		t.Fatalf("%s: %v", s.text, err)
	}
	lines, err := sqldb.All(t.Context(), r, "EXPLAIN EXECUTE explained ("+strings.Join(args, ", ")+")", nil, func(rows sqldb.Rows) (string, error) {
		var line string
		err := rows.Scan(&line)
		return line, err
	})
	if err != nil {
		t.Fatalf("%s: %v", s.text, err)
	}
	if _, err := r.Exec(t.Context(), "DEALLOCATE explained"); err != nil {
		t.Fatal(err)
	}
	return lines
}
