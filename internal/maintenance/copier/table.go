package copier

import (
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/store/sqldb"
)

// table describes how the rows of a table are copied.
type table struct {
	name       string
	columns    []string // those of the key first
	keyColumns int
	// permanent means that the service never deletes a row: a row that only the
	// target has cannot come from the source.
	permanent bool
	// immutable means that the service never updates a row.
	immutable bool

	selectWhere, insertOne, insertBatch, deleteOne string // statements
}

// insertRows is how many rows insertBatch writes.
const insertRows = 50

// The tables of the schema, without the one that records migrations.
var (
	merchantsTable = newTable(table{name: "merchants", keyColumns: 1, permanent: true},
		"id, name, created_at, last_event, data_mark")
	tokensTable = newTable(table{name: "tokens", keyColumns: 1, permanent: true},
		"id, hash, merchant_id, scopes, hint, created_at, expires_at, revoked_at, last_used_at")
	countersTable = newTable(table{name: "counters", keyColumns: 1, permanent: true},
		"name, last")
	orderKeysTable = newTable(table{name: "order_keys", keyColumns: 1, permanent: true, immutable: true},
		"key, merchant_id")
	ordersTable = newTable(table{name: "orders", keyColumns: 2, permanent: true},
		"merchant_id, legacy_id, reference, state, created_at, updated_at, currency, country_code, total, has_invoice,"+
			" user_id, email, phone, first_name, last_name, company, revision, active_invoices, digest, details")
	daysTable = newTable(table{name: "order_days", keyColumns: 3},
		"merchant_id, day, state, orders")
	invoicesTable = newTable(table{name: "invoices", keyColumns: 3},
		"merchant_id, legacy_id, id, name, status, size, sha256, created_at, deleted_at, purged_at")
	eventsTable = newTable(table{name: "events", keyColumns: 2, permanent: true, immutable: true},
		"merchant_id, seq, mark, type, actor, at, legacy_id, order_day, from_state, to_state, reason, invoice_id")
	idempotencyTable = newTable(table{name: "idempotency_keys", keyColumns: 2},
		"merchant_id, key, request_digest, created_at, legacy_id, invoice_id, response")

	tables = []*table{
		merchantsTable, tokensTable, countersTable, orderKeysTable, ordersTable, daysTable, invoicesTable, eventsTable, idempotencyTable,
	}
)

// newTable completes a table with its columns and statements.
func newTable(t table, columns string) *table {
	t.columns = strings.Split(columns, ", ")
	t.selectWhere = "SELECT " + columns + " FROM " + t.name + " WHERE "
	t.insertOne, t.insertBatch = t.upsert(1), t.upsert(insertRows)
	conditions := make([]string, t.keyColumns)
	for i := range conditions {
		conditions[i] = t.columns[i] + " = " + sqldb.Params(1+i, 1)
	}
	t.deleteOne = "DELETE FROM " + t.name + " WHERE " + strings.Join(conditions, " AND ")
	return &t
}

// upsert returns the statement that inserts rows or updates existing ones.
func (t *table) upsert(rows int) string {
	values := make([]string, rows)
	for i := range values {
		values[i] = "(" + sqldb.Params(1+i*len(t.columns), len(t.columns)) + ")"
	}
	updates := make([]string, 0, len(t.columns))
	for _, column := range t.columns[t.keyColumns:] {
		updates = append(updates, column+" = excluded."+column)
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES " + strings.Join(values, ", ") +
		" ON CONFLICT (" + strings.Join(t.columns[:t.keyColumns], ", ") + ") DO UPDATE SET " + strings.Join(updates, ", ")
}

// column returns the value of a column in a row.
func (t *table) column(row []any, name string) any { return row[slices.Index(t.columns, name)] }

// int and text return the value of a column that is never NULL.
func (t *table) int(row []any, name string) int64   { return t.column(row, name).(int64) }
func (t *table) text(row []any, name string) string { return t.column(row, name).(string) }

// key returns the key of a row as one text.
func (t *table) key(row []any) string {
	var text []byte
	for _, value := range row[:t.keyColumns] {
		switch value := value.(type) {
		case int64:
			text = strconv.AppendInt(text, value, 10)
		case string:
			text = append(text, value...)
		}
		text = append(text, ' ')
	}
	return string(text)
}
