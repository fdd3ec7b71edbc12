package sqldbtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// SQLitePlan returns the steps in which SQLite goes about a statement, without those
// that only hold others together.
func SQLitePlan(t *testing.T, q sqldb.Querier, text string) []string {
	t.Helper()
	var args []any
	for n := 1; strings.Contains(text, "$"+strconv.Itoa(n)); n++ {
		args = append(args, 1) // any value will do
	}
	var steps []string
	err := q.Query(t.Context(), "EXPLAIN QUERY PLAN "+text, args, func(rows sqldb.Rows) error {
		var id, parent, unused int64
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		first, _, _ := strings.Cut(step, " ")
		if slices.Contains([]string{"SEARCH", "SCAN", "USE", "MERGE"}, first) {
			steps = append(steps, step)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return steps
}

// PostgresPlan is what the plan of a statement must be, in the plan that PostgreSQL makes
// once for all arguments.
type PostgresPlan struct {
	text  string
	args  []any
	sorts int
	steps []string
}

// NewPostgresPlan returns a plan that sorts rows so often and has these parts.
func NewPostgresPlan(text string, args []any, sorts int, steps ...string) PostgresPlan {
	return PostgresPlan{text, args, sorts, steps}
}

// CheckPostgresPlans compares plans. q must be a transaction: one connection.
func CheckPostgresPlans(t *testing.T, q sqldb.Querier, plans map[string]PostgresPlan) {
	t.Helper()
	for _, text := range []string{"ANALYZE", "SET plan_cache_mode = force_generic_plan"} {
		testenv.Of(q.Exec(t.Context(), text)).Must(t)
	}
	for name, want := range plans {
		plan := genericPlan(t, q, want)
		if sorts := strings.Count(plan, "Sort  ("); sorts != want.sorts || strings.Contains(plan, "Seq Scan on orders") {
			t.Errorf("%s: sorts %d times, want %d\n%s", name, sorts, want.sorts, plan)
		}
		testenv.Contains(t, name, plan, want.steps...)
	}
}

// genericPlan returns the plan of a statement that does not depend on its arguments.
func genericPlan(t *testing.T, q sqldb.Querier, p PostgresPlan) string {
	t.Helper()
	args := make([]string, len(p.args))
	for i, arg := range p.args {
		args[i] = fmt.Sprint(arg)
	}
	if _, err := q.Exec(t.Context(), "PREPARE explained AS "+p.text); err != nil {
		t.Fatalf("%s: %v", p.text, err)
	}
	lines, err := sqldb.Column[string](t.Context(), q, "EXPLAIN EXECUTE explained ("+strings.Join(args, ", ")+")")
	if err != nil {
		t.Fatalf("%s: %v", p.text, err)
	}
	testenv.Of(q.Exec(t.Context(), "DEALLOCATE explained")).Must(t)
	return strings.Join(lines, "\n")
}
