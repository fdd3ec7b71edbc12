package store

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/store/pgtest"

	"merchantorders/internal/store/sqldb"
)

// eachDatabase runs a test on a new database of each kind.
func eachDatabase(t *testing.T, run func(t *testing.T, open func() *DB)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "orders.db")
		run(t, func() *DB { return openTest(t, path) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Database(t)
		run(t, func() *DB { return postgresURL(url).Open(t).(*DB) })
	})
}

// TestCopiedTables holds what is copied to what there is: a table or a column that
// a new schema brings is not to be forgotten.
func TestCopiedTables(t *testing.T) {
	described := make(map[string]string)
	for _, table := range copiedTables {
		described[table.name] = strings.Join(table.columns, ", ")
	}
	eachDatabase(t, func(t *testing.T, open func() *DB) {
		db := open()
		text := `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid`
		if db.dialect.Clustered {
			text = `SELECT t.tablename, c.column_name FROM pg_tables t
				JOIN information_schema.columns c ON c.table_schema = t.schemaname AND c.table_name = t.tablename
				WHERE t.schemaname = current_schema() ORDER BY t.tablename, c.ordinal_position`
		}
		there := make(map[string][]string)
		err := sqldb.Each(t.Context(), db.sql, text, nil, func(rows sqldb.Rows) error {
			var table, column string
			err := rows.Scan(&table, &column)
			if !strings.HasPrefix(table, "goose") && !strings.HasPrefix(table, "citus") {
				there[table] = append(there[table], column)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]string)
		for table, columns := range there {
			got[table] = strings.Join(columns, ", ")
		}
		if diff := cmp.Diff(got, described); diff != "" {
			t.Errorf("tables (-there +copied):\n%s", diff)
		}
	})
}

// TestCopyPlans holds a copy and a check to what they need of a merchant: they go
// through all of it, but each step must cost no more for what lies before and
// behind.
func TestCopyPlans(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	const (
		orders    = "SEARCH orders USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND number>? AND number<?)"
		invoices  = "SEARCH invoices USING INDEX sqlite_autoindex_invoices_2 (merchant_id=? AND order_number>? AND order_number<?)"
		byNumber  = "SEARCH o USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND number=?)"
		inInvoice = "SEARCH i USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND "
	)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"orders":   {ordersTable.selectRows + whereNumbers, []string{orders}},
		"invoices": {invoicesTable.selectRows + whereOrderNumbers, []string{invoices}},
		"events":   {eventsTable.selectRows + whereSeqs, []string{"SEARCH events USING PRIMARY KEY (merchant_id=? AND seq>? AND seq<?)"}},
		"keys":     {keysTable.selectRows + `key IN ($1, $2)`, []string{"SEARCH order_keys USING PRIMARY KEY (key=?)"}},
		"kept file": {selectKeptOne, []string{
			inInvoice + "order_number=? AND id=?)", byNumber,
		}},
		"kept files": {selectKeptPage, []string{inInvoice + "(order_number,id)>(?,?))", byNumber}},
	} {
		if diff := cmp.Diff(test.want, plan(t, db, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, text := range map[string]string{"orders": selectOrdersEnd, "invoices": selectInvoicesEnd} {
		steps := plan(t, db, text)
		if !slices.ContainsFunc(steps, func(step string) bool {
			return strings.Contains(step, "SEARCH") && strings.Contains(step, "COVERING INDEX") && strings.Contains(step, "merchant_id=? AND ")
		}) {
			t.Errorf("the end of %s: %q", name, steps)
		}
	}
}

func TestExclude(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() *DB) {
		a, b := open(), open()
		first, err := a.Exclude(t.Context(), true)
		if err != nil {
			t.Fatal(err)
		}
		second, err := b.Exclude(t.Context(), true)
		if err != nil {
			t.Fatalf("two that share: %v", err)
		}
		if _, err := b.Exclude(t.Context(), false); !errors.Is(err, ErrCopying) {
			t.Errorf("alone beside two: %v, want %v", err, ErrCopying)
		}
		if err := errors.Join(first.Close(), second.Close()); err != nil {
			t.Fatal(err)
		}
		alone, err := b.Exclude(t.Context(), false)
		if err != nil {
			t.Fatalf("alone: %v", err)
		}
		if _, err := a.Exclude(t.Context(), true); !errors.Is(err, ErrCopying) {
			t.Errorf("shared beside one alone: %v, want %v", err, ErrCopying)
		}
		if err := alone.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := a.Exclude(t.Context(), false)
		if err != nil {
			t.Fatalf("alone afterwards: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Exclude(ctx, false); err == nil {
			t.Error("taken after the end")
		}
	})
}

// TestPut makes parts equal, and leaves alone what is equal.
func TestPut(t *testing.T) {
	eachDatabase(t, func(t *testing.T, open func() *DB) {
		db := open()
		day := func(n, orders int64) []any { return []any{int64(1), n, int64(1), orders} }
		part := Part{table: daysTable, where: `merchant_id = $1`, args: []any{int64(1)}}
		for n := range int64(2*rowsAtOnce + 7) {
			part.rows = append(part.rows, day(n, n))
		}
		put := func(want int) {
			t.Helper()
			if n, err := db.Put(t.Context(), part); n != want || err != nil {
				t.Errorf("put: %d rows, %v, want %d", n, err, want)
			}
			got, err := part.read(t.Context(), db.sql)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got, func(a, b []any) int { return int(a[1].(int64) - b[1].(int64)) })
			if diff := cmp.Diff(part.rows, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		}
		put(2*rowsAtOnce + 7)
		put(0)
		part.rows[3] = day(3, 99)
		part.rows = part.rows[:len(part.rows)-2]
		put(3)

		keys := Part{table: keysTable, where: `key IN ($1, $2)`, args: []any{"a", "b"}, rows: [][]any{{"a", int64(1)}}}
		if n, err := db.Put(t.Context(), keys); n != 1 || err != nil {
			t.Fatalf("put a key: %d, %v", n, err)
		}
		for name, other := range map[string][][]any{"another's": {{"a", int64(2)}}, "none": nil} {
			keys.rows = other
			if _, err := db.Put(t.Context(), keys); !errors.Is(err, ErrForeign) {
				t.Errorf("%s: %v, want %v", name, err, ErrForeign)
			}
		}
	})
}
