package copier

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"merchantorders/internal/store/sqldb"
)

// table describes how the rows of a table are copied.
type table struct {
	name       string
	columns    []string // those of the key first
	keyColumns int
	// pageColumn orders the rows of a merchant that are read page by page.
	pageColumn string
	// permanent means that the service never deletes a row: a row that only the
	// target has cannot come from the source.
	permanent bool
	// immutable means that the service never updates a row.
	immutable bool
	// identity is the column that tells rows of the same key apart, if there is one: an
	// immutable row with the same identity and other values is damaged.
	identity string

	selectWhere, deleteOne string // statements
	// upsert inserts rows or updates existing ones.
	upsert sqldb.BulkInsert
	// selectPageEnd finds the end of a page, wherePage is the condition for its
	// rows.
	selectPageEnd, wherePage string
}

const (
	// rowPage is how many rows are read at a time.
	rowPage = 1000
	// allRows is the condition that every row meets.
	allRows = `TRUE`
)

// The tables of the schema, without those of the migration history.
var (
	merchantsTable = newTable(table{name: "merchants", keyColumns: 1, permanent: true},
		"id, name, name_nonce, created_at, suspended_at, suspension_reason, rate_limit, rate_burst, time_zone, last_event, data_nonce, audit_seq,"+
			" in_state_1, in_state_2, in_state_3, in_state_4, in_state_5, in_state_6, in_state_7, in_state_8,"+
			" in_state_9, in_state_10, in_state_11, slip_name, return_address, tracking_link")
	tokensTable = newTable(table{name: "tokens", keyColumns: 1},
		"id, hash, merchant_id, scopes, hint, label, created_at, created_by, expires_at, bound_at, revoked_at, last_used_at, last_used_from, passkey")
	countersTable = newTable(table{name: "counters", keyColumns: 1, permanent: true},
		"name, last")
	linkKeyTable = newTable(table{name: "link_key", keyColumns: 1, permanent: true},
		"id, secret, created_at")
	orderKeysTable = newTable(table{name: "order_keys", keyColumns: 1, permanent: true, immutable: true},
		"key, merchant_id")
	deletedOrdersTable = newTable(table{name: "deleted_orders", keyColumns: 2, pageColumn: "legacy_id", permanent: true, immutable: true},
		"merchant_id, legacy_id, reference, created_at, deleted_at")
	ordersTable = newTable(table{name: "orders", keyColumns: 2},
		"merchant_id, legacy_id, reference, state, created_at, updated_at, expires_at, deadline_warned, currency, country_code, total, has_invoice,"+
			" user_id, email, phone, first_name, last_name, company, merchant_reference, merchant_note, revision, active_invoices, digest, details, invoice_numbers")
	daysTable = newTable(table{name: "order_days", keyColumns: 3},
		"merchant_id, day, state, orders")
	invoicesTable = newTable(table{name: "invoices", keyColumns: 3, pageColumn: "legacy_id"},
		"merchant_id, legacy_id, id, name, status, size, sha256, created_at, deleted_at, purged_at, kind, number, mark, link")
	eventsTable = newTable(table{name: "events", keyColumns: 2, pageColumn: "seq", permanent: true, immutable: true, identity: "nonce"},
		"merchant_id, seq, nonce, type, actor, at, legacy_id, order_day, from_state, to_state, reason, detail, invoice_id,"+
			" webhook_id, token_id, request_id")
	auditTable = newTable(table{name: "audit", keyColumns: 2, pageColumn: "seq", permanent: true, immutable: true, identity: "hash"},
		"merchant_id, seq, at, action, actor, token_id, request_id, address, legacy_id, reference, subject_id, detail, hash")
	// The ends of leases are left out: they are of instances that use the source.
	webhooksTable = newTable(table{name: "webhooks", keyColumns: 2},
		"merchant_id, id, url, description, types, include_orders, headers, username, password, created_at, secret, old_secret, old_secret_until, state, reason,"+
			" state_set_at, acknowledged, event_merchant, event_position, event_nonce, feed_history, failures, failing_since, next_attempt_at,"+
			" mail, language, digest_every, sent_at, link_hash, link_until, held, held_until, deliveries, lease_number, revision, digest_end, batch")
	keptTable = newTable(table{name: "kept", keyColumns: 4},
		"merchant_id, kind, person, name, value, at")
	deliveriesTable = newTable(table{name: "webhook_deliveries", keyColumns: 3, pageColumn: "at"},
		"merchant_id, webhook_id, id, at, message_id, event_seq, event_merchant, event_type, status, error, took_ms, response, events, last_event")
	idempotencyTable = newTable(table{name: "idempotency_keys", keyColumns: 3, pageColumn: "created_at"},
		"merchant_id, key, line, request_digest, created_at, legacy_id, invoice_id, response")
)

// newTable completes a table with its columns and statements.
func newTable(t table, columns string) *table {
	t.columns = strings.Split(columns, ", ")
	t.selectWhere = "SELECT " + columns + " FROM " + t.name + " WHERE "
	conditions := make([]string, t.keyColumns)
	for i := range conditions {
		conditions[i] = t.columns[i] + " = " + sqldb.Params(1+i, 1)
	}
	var updates []string
	for _, column := range t.columns[t.keyColumns:] {
		updates = append(updates, column+" = excluded."+column)
	}
	t.upsert = sqldb.NewBulkInsert(t.name, columns,
		" ON CONFLICT ("+strings.Join(t.columns[:t.keyColumns], ", ")+") DO UPDATE SET "+strings.Join(updates, ", "))
	t.deleteOne = "DELETE FROM " + t.name + " WHERE " + strings.Join(conditions, " AND ")
	after := `merchant_id = $1 AND ` + t.pageColumn + ` > $2`
	t.selectPageEnd = `SELECT MAX(p.n), COUNT(*) FROM (SELECT ` + t.pageColumn + ` AS n FROM ` + t.name +
		` WHERE ` + after + ` ORDER BY ` + t.pageColumn + ` LIMIT $3+0) p`
	t.wherePage = after + ` AND ` + t.pageColumn + ` <= $3`
	return &t
}

// pages yields the rows of a merchant page by page. A page is complete up to its
// last value of the page column.
func (t *table) pages(ctx context.Context, q sqldb.Querier, merchantID int64) iter.Seq2[rowSet, error] {
	return func(yield func(rowSet, error) bool) {
		for after, end := int64(0), int64(0); end < math.MaxInt64; after = end {
			var last sql.NullInt64
			var count int64
			err := q.QueryRow(ctx, t.selectPageEnd, []any{merchantID, after, rowPage}, &last, &count)
			end = last.Int64
			if count < rowPage {
				end = math.MaxInt64
			}
			var rows rowSet
			if err == nil {
				rows, err = readRows(ctx, q, t, t.wherePage, merchantID, after, end)
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// column returns the value of a column in a row.
func (t *table) column(row []any, name string) any { return row[slices.Index(t.columns, name)] }

// int and text return the value of a column that is never NULL.
func (t *table) int(row []any, name string) int64   { return t.column(row, name).(int64) }
func (t *table) text(row []any, name string) string { return t.column(row, name).(string) }

// key returns the key of a row as one text.
func (t *table) key(row []any) string { return fmt.Sprintln(row[:t.keyColumns]...) }
