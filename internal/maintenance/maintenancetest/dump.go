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
)

// Dump reads everything that an installation holds: each row of each table and
// each file, a text for each, by table. Two installations with the same dump are
// the same.
func (in *Installation) Dump(t testing.TB) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, table := range in.tables(t) {
		all[table] = in.rows(t, table)
	}
	all["counters"] = append(all["counters"], fmt.Sprintf("[invoice %d]", in.lastInvoice(t)))
	slices.Sort(all["counters"])
	err := in.Files.Each(t.Context(), func(path string) error {
		all["files"] = append(all["files"], fmt.Sprintf("%s %x", path, sha256.Sum256(in.Read(t, path))))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all["files"])
	return all
}

// tables returns the tables that there are, but for the one of the migrations.
func (in *Installation) tables(t testing.TB) []string {
	t.Helper()
	text := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if in.Kind.Postgres {
		text = `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`
	}
	var tables []string
	in.each(t, text, func(rows *sql.Rows) {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "goose") && !strings.HasPrefix(name, "citus") {
			tables = append(tables, name)
		}
	})
	return tables
}

// rows returns the rows of a table. The newest id of an invoice stands in a table
// in one of the databases only.
func (in *Installation) rows(t testing.TB, table string) []string {
	t.Helper()
	text := "SELECT * FROM " + table
	if table == "counters" {
		text += " WHERE name <> 'invoice'"
	}
	found := []string{}
	in.each(t, text, func(rows *sql.Rows) {
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprintf("%v", values))
	})
	slices.Sort(found)
	return found
}

func (in *Installation) lastInvoice(t testing.TB) int64 {
	t.Helper()
	text := `SELECT last FROM counters WHERE name = 'invoice'`
	if in.Kind.Postgres {
		text = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM invoice_ids`
	}
	var last int64
	if err := in.SQL.QueryRowContext(t.Context(), text).Scan(&last); err != nil {
		t.Fatal(err)
	}
	return last
}

func (in *Installation) each(t testing.TB, text string, scan func(*sql.Rows)) {
	t.Helper()
	rows, err := in.SQL.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		scan(rows)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// Exec changes the tables behind the service's back.
func (in *Installation) Exec(t testing.TB, text string, args ...any) {
	t.Helper()
	result, err := in.SQL.ExecContext(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%s: %d rows, %v", text, n, err)
	}
}

// Read returns the content of a file.
func (in *Installation) Read(t testing.TB, path string) []byte {
	t.Helper()
	file, err := in.Files.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Replace puts other content in the place of a file, or, with nil, nothing.
func (in *Installation) Replace(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := in.Files.Remove(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if content == nil {
		return
	}
	draft, err := in.Files.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Abort()
	if _, err := draft.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := draft.Commit(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

// InvoicePath is where a file of the nth order lies.
func InvoicePath(merchantID int64, n int, name string) string {
	return order.InvoicePath(Reference(merchantID, n), name)
}
