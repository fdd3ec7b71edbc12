package copier

import (
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// tables are all tables that are copied.
var tables = []*table{
	merchantsTable, tokensTable, countersTable, linkKeyTable, orderKeysTable, ordersTable, daysTable, invoicesTable, eventsTable, auditTable, deletedOrdersTable, idempotencyTable,
	webhooksTable, deliveriesTable, keptTable,
}

// notCopied are the sign-ins of people, who sign in again at the new installation, and the
// state of the feed of all merchants, which each database has for itself.
var notCopied = []string{"sessions", "login_links", "event_feed"}

// ownColumns are the columns that each database has for itself.
var ownColumns = []string{"history", "position", "last_position", "lease_until"}

// onEachDatabase runs a test on SQLite and on PostgreSQL.
func onEachDatabase(t *testing.T, test func(t *testing.T, in *maintenancetest.Installation)) {
	t.Helper()
	t.Parallel()
	for _, kind := range []maintenancetest.Kind{{}, {Postgres: true}} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			test(t, maintenancetest.New(t, kind))
		})
	}
}

// TestCopiedTables compares the tables with the schema of the database: no table
// or column of a new schema may be forgotten. Each database has ownColumns, and words derived
// from its orders.
func TestCopiedTables(t *testing.T) {
	copied := make(map[string]string)
	for _, table := range tables {
		copied[table.name] = strings.Join(table.columns, ", ")
	}
	onEachDatabase(t, func(t *testing.T, in *maintenancetest.Installation) {
		text := `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`
		if in.Kind.Postgres {
			text = `SELECT t.tablename, c.column_name FROM pg_tables t
				JOIN information_schema.columns c ON c.table_schema = t.schemaname AND c.table_name = t.tablename
				WHERE t.schemaname = current_schema() ORDER BY t.tablename, c.ordinal_position`
		}
		columns := make(map[string][]string)
		testenv.NoError(t, in.DB.Query(t.Context(), text, nil, func(rows sqldb.Rows) error {
			var table, column string
			err := rows.Scan(&table, &column)
			if !slices.Contains(notCopied, table) && !strings.HasPrefix(table, "goose") && table != "schema_steps" && !strings.HasPrefix(table, "citus") && table != "order_words" && !slices.Contains(ownColumns, column) {
				columns[table] = append(columns[table], column)
			}
			return err
		}))
		got := make(map[string]string)
		for table, names := range columns {
			got[table] = strings.Join(names, ", ")
		}
		testenv.Equal(t, "copied tables", got, copied)
	})
}

// TestReadPlans verifies that each read of a page uses an index and costs no
// more for the rows before and after the page.
func TestReadPlans(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	const (
		orders   = "SEARCH orders USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND legacy_id=?)"
		invoices = "SEARCH invoices USING INDEX sqlite_autoindex_invoices_2 (merchant_id=? AND legacy_id>? AND legacy_id<?)"
		events   = "SEARCH events USING PRIMARY KEY (merchant_id=? AND seq>? AND seq<?)"
		keys     = "SEARCH order_keys USING PRIMARY KEY (key=?)"
	)
	for text, want := range map[string]string{
		ordersTable.selectWhere + whereLegacyIDs + `($2)`:   orders,
		invoicesTable.selectWhere + invoicesTable.wherePage: invoices,
		eventsTable.selectWhere + eventsTable.wherePage:     events,
		orderKeysTable.selectWhere + `key IN ($1, $2)`:      keys,
	} {
		testenv.Equal(t, text, []string{want}, in.QueryPlan(t, text))
	}
	for _, text := range []string{invoicesTable.selectPageEnd} {
		steps := in.QueryPlan(t, text)
		if !slices.ContainsFunc(steps, func(step string) bool {
			return strings.Contains(step, "SEARCH") && strings.Contains(step, "COVERING INDEX") && strings.Contains(step, "merchant_id=? AND ")
		}) {
			t.Errorf("%s: %q", text, steps)
		}
	}
}

// TestApply makes rows equal to a set and writes nothing that is equal already.
func TestApply(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, in *maintenancetest.Installation) {
		apply := func(set rowSet) (n int, err error) {
			err = in.DB.InTx(t.Context(), func(tx sqldb.Querier) (err error) {
				n, err = set.applyTo(t.Context(), tx, in.DB.Dialect())
				return err
			})
			return n, err
		}
		day := func(n, orders int64) []any { return []any{int64(1), n, int64(1), orders} }
		days := rowSet{table: daysTable, where: `merchant_id = $1`, args: []any{int64(1)}}
		for n := range int64(2*sqldb.BatchSize + 7) {
			days.rows = append(days.rows, day(n, n))
		}
		applyDays := func(want int) {
			t.Helper()
			testenv.Of(apply(days)).Want(t, "applied rows", want)
			got := testenv.Of(days.readFrom(t.Context(), in.DB)).Must(t)
			slices.SortFunc(got, func(a, b []any) int { return int(a[1].(int64) - b[1].(int64)) })
			testenv.Equal(t, "rows", days.rows, got)
		}
		applyDays(2*sqldb.BatchSize + 7)
		applyDays(0)
		days.rows[3] = day(3, 99)
		days.rows = days.rows[:len(days.rows)-2]
		applyDays(3)

		keys := rowSet{table: orderKeysTable, where: `key IN ($1, $2)`, args: []any{"a", "b"}, rows: [][]any{{"a", int64(1)}}}
		if n, err := apply(keys); n != 1 || err != nil {
			t.Fatalf("applied %d keys, error %v", n, err)
		}
		for name, rows := range map[string][][]any{"key of another merchant": {{"a", int64(2)}}, "missing key": nil} {
			keys.rows = rows
			testenv.Of(apply(keys)).WantError(t, name, ErrForeignTarget)
		}
	})
}
