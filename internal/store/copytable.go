package store

import (
	"slices"
	"strconv"
	"strings"
)

// copiedTable is a table as a copy sees it: rows of values, told apart by their
// key. What the values mean is of no interest.
type copiedTable struct {
	name    string
	columns []string
	keys    int // how many of the columns, the first ones, are the key
	// lasting says that the service never takes a row back: one that the target
	// alone has is none of the source's.
	lasting bool
	// fixed says that a row never changes once it is written.
	fixed bool

	selectRows, insertOne, insertMany, deleteOne string
}

// rowsAtOnce is how many rows one statement writes where there are as many.
const rowsAtOnce = 50

// Every table there is, but for the one in which migrations are noted.
var (
	merchantsTable = newCopiedTable(copiedTable{name: "merchants", keys: 1, lasting: true},
		"id, name, created_at, last_event")
	tokensTable = newCopiedTable(copiedTable{name: "tokens", keys: 1, lasting: true},
		"id, hash, merchant_id, scopes, hint, created_at, expires_at, revoked_at, last_used_at")
	countersTable = newCopiedTable(copiedTable{name: "counters", keys: 1, lasting: true},
		"name, last")
	keysTable = newCopiedTable(copiedTable{name: "order_keys", keys: 1, lasting: true, fixed: true},
		"key, merchant_id")
	ordersTable = newCopiedTable(copiedTable{name: "orders", keys: 2, lasting: true},
		"merchant_id, number, reference, state, created_at, updated_at, currency, country_code, total, has_invoice,"+
			" user_id, email, phone, first_name, last_name, company, revision, active_invoices, digest, details")
	daysTable = newCopiedTable(copiedTable{name: "order_days", keys: 3},
		"merchant_id, day, state, orders")
	invoicesTable = newCopiedTable(copiedTable{name: "invoices", keys: 3},
		"merchant_id, order_number, id, name, status, size, sha256, created_at, ended_at, purged_at")
	eventsTable = newCopiedTable(copiedTable{name: "events", keys: 2, lasting: true, fixed: true},
		"merchant_id, seq, type, actor, at, order_number, order_day, from_state, to_state, reason, invoice_id")
	answersTable = newCopiedTable(copiedTable{name: "idempotency_keys", keys: 2},
		"merchant_id, key, request, taken_at, order_number, invoice_id, answer")

	copiedTables = []*copiedTable{
		merchantsTable, tokensTable, countersTable, keysTable, ordersTable, daysTable, invoicesTable, eventsTable, answersTable,
	}
)

// newCopiedTable adds to what is known of a table its columns, the key first,
// and its statements.
func newCopiedTable(t copiedTable, columns string) *copiedTable {
	t.columns = strings.Split(columns, ", ")
	t.selectRows = "SELECT " + columns + " FROM " + t.name + " WHERE "
	t.insertOne, t.insertMany = t.insert(1), t.insert(rowsAtOnce)
	conditions := make([]string, t.keys)
	for i := range conditions {
		conditions[i] = t.columns[i] + " = " + parameter(i)
	}
	t.deleteOne = "DELETE FROM " + t.name + " WHERE " + strings.Join(conditions, " AND ")
	return &t
}

// insert returns the statement that writes so many rows, over those that are
// there.
func (t *copiedTable) insert(rows int) string {
	values := make([]string, rows)
	for i := range values {
		values[i] = "(" + parameters(i*len(t.columns), len(t.columns)) + ")"
	}
	changes := make([]string, 0, len(t.columns))
	for _, column := range t.columns[t.keys:] {
		changes = append(changes, column+" = excluded."+column)
	}
	return "INSERT INTO " + t.name + " (" + strings.Join(t.columns, ", ") + ") VALUES " + strings.Join(values, ", ") +
		" ON CONFLICT (" + strings.Join(t.columns[:t.keys], ", ") + ") DO UPDATE SET " + strings.Join(changes, ", ")
}

// column returns where a column stands.
func (t *copiedTable) column(name string) int { return slices.Index(t.columns, name) }

// keyOf returns the key of a row as one text.
func (t *copiedTable) keyOf(row []any) string {
	var text []byte
	for _, value := range row[:t.keys] {
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

// parameter returns the name of the parameter that so many come before.
func parameter(before int) string { return "$" + strconv.Itoa(before+1) }

// parameters returns a list of n parameters after those that come before.
func parameters(before, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = parameter(before + i)
	}
	return strings.Join(names, ", ")
}
