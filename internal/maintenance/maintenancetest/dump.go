package maintenancetest

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// Dump returns everything that the installation holds, by table: one text for
// each row, and under "files" one for each file. Two installations with equal
// dumps are equal.
func (in *Installation) Dump(t testing.TB) map[string][]string {
	t.Helper()
	dump := make(map[string][]string)
	for _, table := range in.tables(t) {
		dump[table] = in.rows(t, table)
	}
	var lastInvoice int64
	testenv.NoError(t, in.DB.QueryRow(t.Context(), in.DB.Dialect().LastInvoiceID, nil, &lastInvoice))
	dump["counters"] = append(dump["counters"], fmt.Sprintf("[invoice %d]", lastInvoice))
	slices.Sort(dump["counters"])
	testenv.NoError(t, in.Files.Each(t.Context(), func(path string) error {
		dump["files"] = append(dump["files"], fmt.Sprintf("%s %x", path, sha256.Sum256(in.Read(t, path))))
		return nil
	}))
	slices.Sort(dump["files"])
	return dump
}

// tables returns the names of the tables, without those of the migration history, of the
// feed of all merchants and of Citus.
func (in *Installation) tables(t testing.TB) []string {
	t.Helper()
	text := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if in.Kind.Postgres {
		text = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	return slices.DeleteFunc(testenv.Of(sqldb.Column[string](t.Context(), in.DB, text)).Must(t), func(name string) bool {
		return strings.HasPrefix(name, "goose") || name == "schema_steps" || name == "event_feed" || strings.HasPrefix(name, "citus")
	})
}

// rows returns the rows of a table. It leaves out the counter of invoices, which
// only SQLite has in a table, the histories of merchants and the positions of events, which
// are never copied, and the blocks of words, which each database has for itself.
func (in *Installation) rows(t testing.TB, table string) []string {
	t.Helper()
	text := "SELECT * FROM " + table
	if table == "counters" {
		text += " WHERE name <> 'invoice'"
	}
	texts := []string{}
	in.each(t, text, func(rows *sql.Rows) {
		columns := testenv.Of(rows.Columns()).Must(t)
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		testenv.NoError(t, rows.Scan(dest...))
		for i, column := range columns {
			if slices.Contains([]string{"history", "position", "last_position", "block"}, column) {
				values[i] = nil
			}
		}
		texts = append(texts, fmt.Sprintf("%v", values))
	})
	slices.Sort(texts)
	return texts
}

// Histories returns the history of the events of each merchant, by id.
func (in *Installation) Histories(t testing.TB) []string {
	t.Helper()
	var histories []string
	for _, merchantID := range []int64{Alpha, Beta, Gamma} {
		feed := testenv.Of(in.Store.Events(t.Context(), merchantID, 0, 1)).Must(t)
		histories = append(histories, feed.History)
	}
	return histories
}

// each calls scan for each row of a query.
func (in *Installation) each(t testing.TB, text string, scan func(*sql.Rows), args ...any) {
	t.Helper()
	rows := testenv.Of(in.SQL.QueryContext(t.Context(), text, args...)).Must(t)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		scan(rows)
	}
	testenv.NoError(t, rows.Err())
}

// Exec runs a statement that must change a row.
func (in *Installation) Exec(t testing.TB, text string, args ...any) {
	t.Helper()
	result := testenv.Of(in.SQL.ExecContext(t.Context(), text, args...)).Must(t)
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%s: %d rows, error %v", text, n, err)
	}
}

// Read returns the content of a file.
func (in *Installation) Read(t testing.TB, path string) []byte {
	t.Helper()
	file := testenv.Of(in.Files.Open(t.Context(), path)).Must(t)
	defer func() { _ = file.Close() }()
	return testenv.Of(io.ReadAll(file)).Must(t)
}

// Replace replaces the content of a file. It removes the file if content is nil.
func (in *Installation) Replace(t testing.TB, path string, content []byte) {
	t.Helper()
	testenv.NoError(t, in.Files.Remove(t.Context(), path))
	if content == nil {
		return
	}
	staged := testenv.Of(in.Files.Stage(t.Context())).Must(t)
	defer staged.Abort()
	testenv.Of(staged.Write(content)).Must(t)
	testenv.NoError(t, staged.Commit(t.Context(), path))
}

// InvoicePath returns the path of an invoice file of order n of a merchant.
func InvoicePath(merchantID int64, n int, name string) string {
	return order.InvoicePath(Reference(merchantID, n), name)
}

// QueryPlan returns the steps of SQLite's plan for a statement that search, scan
// or sort.
func (in *Installation) QueryPlan(t testing.TB, text string) []string {
	t.Helper()
	var args []any
	for n := 1; strings.Contains(text, fmt.Sprintf("$%d", n)); n++ {
		args = append(args, 1) // any value
	}
	var steps []string
	in.each(t, "EXPLAIN QUERY PLAN "+text, func(rows *sql.Rows) {
		var id, parent, unused int64
		var step string
		testenv.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		first, _, _ := strings.Cut(step, " ")
		if slices.Contains([]string{"SEARCH", "SCAN", "USE", "MERGE"}, first) {
			steps = append(steps, step)
		}
	}, args...)
	return steps
}
