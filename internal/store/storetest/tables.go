package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/testenv"
)

// tableColumns are the tables with their columns, in the order of the schema.
var tableColumns = map[string]string{
	"merchants": "id, name, name_nonce, created_at, suspended_at, suspension_reason, rate_limit, rate_burst, time_zone, last_event, data_nonce, history, last_position, audit_seq, " +
		"in_state_1, in_state_2, in_state_3, in_state_4, in_state_5, in_state_6, in_state_7, in_state_8, in_state_9, in_state_10, in_state_11, slip_name, return_address, tracking_link",
	"tokens":     "id, hash, merchant_id, scopes, hint, label, created_at, created_by, expires_at, bound_at, revoked_at, last_used_at, last_used_from, passkey",
	"counters":   "name, last",
	"order_keys": "key, merchant_id",
	"orders": "merchant_id, legacy_id, reference, state, created_at, updated_at, expires_at, deadline_warned, currency, country_code, total, has_invoice, " +
		"user_id, email, phone, first_name, last_name, company, merchant_reference, merchant_note, revision, active_invoices, digest, details",
	"order_words": "word, created_at, legacy_id, merchant_id", // not in which block
	"order_days":  "merchant_id, day, state, orders",
	"invoices":    "merchant_id, legacy_id, id, name, status, size, sha256, created_at, deleted_at, purged_at",
	"events":      "merchant_id, seq, nonce, type, actor, at, legacy_id, order_day, from_state, to_state, reason, detail, invoice_id, webhook_id, token_id, request_id, position",
	"event_feed":  "id, history, server, base",

	"link_key":         "id, secret, created_at",
	"idempotency_keys": "merchant_id, key, line, request_digest, created_at, legacy_id, invoice_id, response",

	"webhooks": "merchant_id, id, url, description, types, include_orders, headers, username, password, created_at, secret, old_secret, old_secret_until, state, reason, " +
		"state_set_at, acknowledged, event_merchant, event_position, event_nonce, feed_history, failures, failing_since, next_attempt_at, " +
		"mail, language, digest_every, sent_at, link_hash, link_until, held, held_until, deliveries, lease_number, revision, lease_until, digest_end, batch",
	"webhook_deliveries": "merchant_id, webhook_id, id, at, message_id, event_seq, event_merchant, event_type, status, error, took_ms, response, events, last_event",

	"sessions":    "hash, token_id, owns_token, created_at, last_used_at, merchant_id",
	"login_links": "hash, merchant_id, created_by, scopes, name, expires_at",

	"kept": "merchant_id, kind, person, name, value, at",

	"deleted_orders": "merchant_id, legacy_id, reference, created_at, deleted_at",

	"audit": "merchant_id, seq, at, action, actor, token_id, request_id, address, legacy_id, reference, subject_id, detail, hash",
}

// tables reads what a database contains.
type tables struct {
	testing.TB
	sql *sql.DB
}

// each reads rows and calls scan for each of them.
func (c tables) each(text string, scan func(*sql.Rows) error, args ...any) {
	c.Helper()
	// Cleanups read too, and the test's own context has ended then.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), time.Minute)
	defer cancel()
	rows, err := c.sql.QueryContext(ctx, text, args...)
	if err != nil {
		c.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			c.Fatalf("%s: %v", text, err)
		}
	}
	if err := rows.Err(); err != nil {
		c.Fatalf("%s: %v", text, err)
	}
}

// rows returns everything that the database holds, a text a row.
func (c tables) rows() map[string][]string {
	c.Helper()
	all := make(map[string][]string)
	for table, columns := range tableColumns {
		names := strings.Split(columns, ", ")
		c.each("SELECT "+columns+" FROM "+table, func(rows *sql.Rows) error {
			values, into := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			err := rows.Scan(into...)
			all[table] = append(all[table], fmt.Sprintf("%v", values))
			return err
		})
		slices.Sort(all[table])
	}
	return all
}

// storedOrder is what the tables have to agree on about an order.
type storedOrder struct {
	merchantID, number int64
	reference          string
	day                order.Day
	state              order.State
	slots              int64 // files active or on their way
}

// CheckTables reports what is inconsistent in the tables: day
// counts that are not those of the orders, events with gaps or that lead
// elsewhere, audit chains that are broken or lack a change, slots that no file takes,
// keys of no order.
func CheckTables(t testing.TB, db *sql.DB) {
	t.Helper()
	c := tables{TB: t, sql: db}
	orders := c.storedOrders()
	c.checkDays(orders)
	c.checkStateCounts(orders)
	c.checkEvents(orders)
	c.checkAudit()
	c.checkSlots(orders)
	c.checkKeys(orders)
	c.checkWords()
}

func (c tables) storedOrders() map[int64]storedOrder {
	orders := make(map[int64]storedOrder)
	c.each("SELECT merchant_id, legacy_id, reference, created_at, state, active_invoices FROM orders", func(rows *sql.Rows) error {
		var o storedOrder
		var createdAt int64
		err := rows.Scan(&o.merchantID, &o.number, &o.reference, &createdAt, &o.state, &o.slots)
		o.day = order.DayOf(time.Unix(createdAt, 0))
		orders[o.number] = o
		return err
	})
	return orders
}

// checkDays counts the orders and compares with the day counts.
func (c tables) checkDays(orders map[int64]storedOrder) {
	want, got := make(map[string]int64), make(map[string]int64)
	for _, o := range orders {
		want[fmt.Sprintf("merchant %d, %v, %v", o.merchantID, o.day, o.state)]++
	}
	c.each("SELECT merchant_id, day, state, orders FROM order_days WHERE orders <> 0", func(rows *sql.Rows) error {
		var merchantID, n int64
		var day order.Day
		var state order.State
		err := rows.Scan(&merchantID, &day, &state, &n)
		got[fmt.Sprintf("merchant %d, %v, %v", merchantID, day, state)] = n
		return err
	})
	testenv.Equal(c, "day counts", want, got)
}

// checkStateCounts counts the orders and compares with the numbers in the merchants' rows.
func (c tables) checkStateCounts(orders map[int64]storedOrder) {
	type merchantState struct {
		merchantID int64
		state      order.State
	}
	want := make(map[merchantState]int64)
	for _, o := range orders {
		want[merchantState{o.merchantID, o.state}]++
	}
	var columns strings.Builder
	for _, state := range order.States() {
		fmt.Fprintf(&columns, ", in_state_%d", state)
	}
	c.each("SELECT id"+columns.String()+" FROM merchants", func(rows *sql.Rows) error {
		var id int64
		var stored [order.NumStates]int64
		dest := []any{&id}
		for _, state := range order.States() {
			dest = append(dest, &stored[state])
		}
		err := rows.Scan(dest...)
		for _, state := range order.States() {
			testenv.Equal(c, fmt.Sprintf("merchant %d: %v: counted", id, state), want[merchantState{id, state}], stored[state])
		}
		return err
	})
}

// checkEvents goes through the events: they must be numbered without gaps, and
// lead to the orders as they stand.
func (c tables) checkEvents(orders map[int64]storedOrder) {
	last, states := make(map[int64]order.DataVersion), make(map[int64]order.State)
	deleted := c.deletedOrders()
	c.each("SELECT merchant_id, seq, nonce, legacy_id, order_day, from_state, to_state FROM events ORDER BY merchant_id, seq", func(rows *sql.Rows) error {
		var merchantID, seq, nonce, number int64
		var day order.Day
		var from, to order.State
		if err := rows.Scan(&merchantID, &seq, &nonce, &number, &day, &from, &to); err != nil {
			return err
		}
		if seq != last[merchantID].Event+1 || nonce == 0 {
			c.Errorf("merchant %d: event %d with nonce %d comes after %v", merchantID, seq, nonce, last[merchantID])
		}
		if number == 0 && from == 0 && to == 0 {
			last[merchantID] = order.DataVersion{Event: seq, Nonce: nonce}
			return nil // of a webhook
		}
		if o := orders[number]; (o.merchantID != merchantID || o.day != day) && !deleted[number] {
			c.Errorf("merchant %d: event %d is of order %d, day %v; there is %+v", merchantID, seq, number, day, o)
		}
		last[merchantID] = order.DataVersion{Event: seq, Nonce: nonce}
		if to.Valid() {
			testenv.Equal(c, fmt.Sprintf("merchant %d: the state from which event %d moves order %d", merchantID, seq, number), from, states[number])
			states[number] = to
		}
		return nil
	})
	c.each("SELECT merchant_id, seq FROM events e WHERE position < (SELECT b.position FROM events b WHERE b.merchant_id = e.merchant_id AND b.seq = e.seq - 1)", func(rows *sql.Rows) error {
		var merchantID, seq int64
		err := rows.Scan(&merchantID, &seq)
		c.Errorf("merchant %d: event %d is before the one before it in the feed of all merchants", merchantID, seq)
		return err
	})
	for number, o := range orders {
		testenv.Equal(c, fmt.Sprintf("state of order %d, to which its events lead", number), o.state, states[number])
	}
	c.each("SELECT id, last_event, data_nonce FROM merchants", func(rows *sql.Rows) error {
		var id int64
		var version order.DataVersion
		err := rows.Scan(&id, &version.Event, &version.Nonce)
		testenv.Equal(c, fmt.Sprintf("data version of merchant %d", id), last[id], version)
		return err
	})
}

// checkAudit goes through the audit log: each chain must be intact and as long as its
// counter says, and have an entry for each event.
func (c tables) checkAudit() {
	chains, changes := make(map[int64]order.AuditEntry), make(map[int64]int64)
	c.each(`SELECT merchant_id, seq, at, action, actor, token_id, request_id, address, legacy_id, reference, subject_id, detail, hash
		FROM audit ORDER BY merchant_id, seq`, func(rows *sql.Rows) error {
		var e order.AuditEntry
		var at int64
		var hash []byte
		err := rows.Scan(&e.MerchantID, &e.Seq, &at, &e.Action, &e.By.Actor, &e.By.TokenID, &e.By.RequestID, &e.By.Address,
			&e.LegacyID, &e.Reference, &e.SubjectID, &e.Detail, &hash)
		e.At = time.Unix(at, 0)
		previous := chains[e.MerchantID]
		if e.Hash = e.Sum(previous.Hash); !bytes.Equal(e.Hash[:], hash) || e.Seq != previous.Seq+1 {
			c.Errorf("audit entry %+v does not follow %+v", e, previous)
		}
		chains[e.MerchantID] = e
		if e.LegacyID != 0 || e.Action == webhook.AuditFailed || e.Action == webhook.AuditFailing {
			changes[e.MerchantID]++
		}
		return err
	})
	c.each("SELECT id, audit_seq, last_event FROM merchants UNION ALL SELECT 0, last, 0 FROM counters WHERE name = 'audit'", func(rows *sql.Rows) error {
		var id, last, events int64
		err := rows.Scan(&id, &last, &events)
		if last != chains[id].Seq || changes[id] < events {
			c.Errorf("merchant %d: audit entry %d should be the last one, it is %d; %d entries with an event for %d events", id, last, chains[id].Seq, changes[id], events)
		}
		return err
	})
}

// deletedOrders returns the legacy ids of the orders that were deleted.
func (c tables) deletedOrders() map[int64]bool {
	deleted := make(map[int64]bool)
	c.each("SELECT legacy_id FROM deleted_orders", func(rows *sql.Rows) error {
		var number int64
		err := rows.Scan(&number)
		deleted[number] = true
		return err
	})
	return deleted
}

// checkSlots counts the invoices that take a slot, statuses reserved (1) and
// active (2), and compares with what the orders say.
func (c tables) checkSlots(orders map[int64]storedOrder) {
	taken := make(map[int64]int64)
	c.each("SELECT legacy_id, COUNT(*) FROM invoices WHERE status IN (1, 2) GROUP BY legacy_id", func(rows *sql.Rows) error {
		var number, n int64
		err := rows.Scan(&number, &n)
		taken[number] = n
		return err
	})
	for number, o := range orders {
		if o.slots != taken[number] || o.slots > order.MaxInvoices {
			c.Errorf("order %d has %d active invoices by its own count, by its invoices %d", number, o.slots, taken[number])
		}
	}
}

// checkWords compares the words of the search with the orders.
func (c tables) checkWords() {
	var want, got []string
	c.each("SELECT merchant_id, legacy_id, reference, created_at, email, phone, first_name, last_name, company, merchant_reference, merchant_note, invoice_numbers, details FROM orders",
		func(rows *sql.Rows) error {
			var o order.Order
			var createdAt int64
			var details []byte
			err := rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference, &createdAt, &o.Customer.Email, &o.Customer.Phone,
				&o.Customer.FirstName, &o.Customer.LastName, &o.Customer.Company, &o.MerchantData.Reference, &o.MerchantData.Note, &o.InvoiceNumbers, &details)
			if err == nil {
				err = orderpb.DecodeDetails(details, &o)
			}
			o.CreatedAt = time.Unix(createdAt, 0)
			for _, word := range search.WordsOf(&o) {
				want = append(want, fmt.Sprintln(word.Text, createdAt, o.LegacyID, o.MerchantID))
			}
			return err
		})
	c.each("SELECT word, created_at, legacy_id, merchant_id FROM order_words", func(rows *sql.Rows) error {
		var word string
		var merchantID, number, createdAt int64
		err := rows.Scan(&word, &createdAt, &number, &merchantID)
		got = append(got, fmt.Sprintln(word, createdAt, number, merchantID))
		return err
	})
	slices.Sort(want)
	slices.Sort(got)
	testenv.Equal(c, "words of the search", want, got)
}

// checkKeys compares the keys with the references and numbers of the orders.
func (c tables) checkKeys(orders map[int64]storedOrder) {
	want, got := make(map[string]int64), make(map[string]int64)
	for number, o := range orders {
		want[o.reference] = o.merchantID
		want[fmt.Sprintf("#%d", number)] = o.merchantID
	}
	c.each("SELECT merchant_id, legacy_id, reference FROM deleted_orders", func(rows *sql.Rows) error {
		var merchantID, number int64
		var reference string
		err := rows.Scan(&merchantID, &number, &reference)
		want[reference], want[fmt.Sprintf("#%d", number)] = merchantID, merchantID
		return err
	})
	c.each("SELECT key, merchant_id FROM order_keys", func(rows *sql.Rows) error {
		var key string
		var merchantID int64
		err := rows.Scan(&key, &merchantID)
		got[key] = merchantID
		return err
	})
	if !maps.Equal(want, got) {
		c.Errorf("order keys (-want +got):\n%s", cmp.Diff(want, got))
	}
}
