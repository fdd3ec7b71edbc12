package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// All changes of a merchant write to its row, which numbers its events and its entries
// in the audit log, and to its day counts. A transaction collects what it has to write
// there, and writes it last: first the day counts and then the rows of the merchants, each
// by id. So transactions lock orders, day counts and merchants in the same order and cannot
// deadlock, they lock merchants for a short time, and many changes take one statement for
// each merchant and few for all together.

// merchantRecords are the events and audit entries of a transaction for one merchant, or
// the entries of what belongs to no merchant.
type merchantRecords struct {
	merchantID int64 // 0: none
	moved      stateCounts
	days       map[dayState]int64 // changes of day counts
	events     []recordedEvent
	entries    []order.AuditEntry
}

// recordedEvent is an event without a number.
type recordedEvent struct {
	order.Event
	order order.LockedOrder
}

type dayState struct {
	day   order.Day
	state order.State
}

// addEvent records an event of an order and its entry in the audit log.
func (t *tx) addEvent(o order.LockedOrder, event order.Event) {
	t.add(o.MerchantID, recordedEvent{event, o}, event.Audit(o))
}

// addAudit records an entry of the audit log of a merchant, which must exist, or of that
// of what belongs to no merchant, 0. Changes of orders and files need no call: addEvent
// records their entries.
func (t *tx) addAudit(merchantID int64, entry order.AuditEntry) {
	r := t.recordsOf(merchantID)
	r.entries = append(r.entries, entry)
}

// add records an event of a merchant and its entry in the audit log.
func (t *tx) add(merchantID int64, event recordedEvent, entry order.AuditEntry) {
	r := t.recordsOf(merchantID)
	r.events, r.entries = append(r.events, event), append(r.entries, entry)
	r.moved.move(event.From, event.To)
	if event.From == event.To {
		return
	}
	if r.days == nil {
		r.days = make(map[dayState]int64)
	}
	day := order.DayOf(event.order.CreatedAt)
	if event.From != 0 {
		r.days[dayState{day, event.From}]--
	}
	if event.To != 0 {
		r.days[dayState{day, event.To}]++
	}
}

// recordsOf returns the records of a merchant.
func (t *tx) recordsOf(merchantID int64) *merchantRecords {
	for _, r := range slices.Backward(t.records) {
		if r.merchantID == merchantID {
			return r
		}
	}
	r := &merchantRecords{merchantID: merchantID}
	t.records = append(t.records, r)
	return r
}

// writeRecords writes what was recorded. It locks the rows of the merchants until the
// transaction ends, so it is among its last statements. The chain of what belongs to no
// merchant is last, because all merchants share it.
func (t *tx) writeRecords(ctx context.Context) error {
	records := t.records
	t.records = nil
	slices.SortFunc(records, func(a, b *merchantRecords) int {
		return cmp.Or(cmp.Compare(flag(a.merchantID == 0), flag(b.merchantID == 0)), cmp.Compare(a.merchantID, b.merchantID))
	})
	var days, events, entries []any // values of rows
	for _, r := range records {
		days = r.dayCounts(days)
	}
	if err := t.insert(ctx, addDayCounts, days); err != nil {
		return fmt.Errorf("count orders of days: %w", err)
	}
	for _, r := range records {
		version, position, chain, err := t.takeNumbers(ctx, r)
		if err != nil {
			return fmt.Errorf("number events of merchant %d: %w", r.merchantID, err)
		}
		for i, event := range r.events {
			event.Seq = version.Event - int64(len(r.events)-1-i)
			events = eventValues(events, r.merchantID, version.Nonce, position, event)
		}
		for _, entry := range r.entries {
			entries = chain.add(entries, entry)
		}
	}
	if err := t.insert(ctx, insertEvents, events); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	if err := t.insert(ctx, insertAudit, entries); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

// addDayCounts adds to day counts. Each day and state of a merchant may occur only once
// in a statement.
var addDayCounts = sqldb.NewBulkInsert("order_days", "merchant_id, day, state, orders",
	" ON CONFLICT (merchant_id, day, state) DO UPDATE SET orders = order_days.orders + excluded.orders")

// dayCounts appends the values of addDayCounts, sorted, so that two transactions lock
// them in the same order.
func (r *merchantRecords) dayCounts(values []any) []any {
	for _, k := range slices.SortedFunc(maps.Keys(r.days), func(a, b dayState) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state))
	}) {
		if n := r.days[k]; n != 0 {
			values = append(values, r.merchantID, int64(k.day), int64(k.state), n)
		}
	}
	return values
}

// takeNumbers takes the next numbers of events and of the audit log of a merchant, and
// adds what the events change to its numbers of orders. It returns the data version that
// the merchant has after the transaction: the last of the numbers and the nonce of the
// events; and their position in the feed of all merchants. The merchant's row stays
// locked until the transaction ends, so numbers are in commit order and have no gaps.
func (t *tx) takeNumbers(ctx context.Context, r *merchantRecords) (version order.DataVersion, position int64, chain auditChain, err error) {
	var last int64
	var hash []byte
	n := len(r.entries)
	switch {
	case r.merchantID == 0:
		err = t.QueryRow(ctx, takeServiceAuditNumbers, []any{n}, &last)
	case len(r.events) == 0:
		err = t.QueryRow(ctx, takeAuditNumbers, []any{n, r.merchantID}, &last, &hash)
	default:
		version.Nonce = newNonce()
		var args []any
		for _, state := range order.States() {
			args = append(args, r.moved[state])
		}
		args = append(args, len(r.events), n, version.Nonce, r.merchantID)
		err = t.QueryRow(ctx, t.db.takeEventNumbers, args, &version.Event, &position, &last, &hash)
		*t.changed = append(*t.changed, r.merchantID)
	}
	if err == nil {
		chain, err = t.chainBefore(ctx, r.merchantID, last, n, hash)
	}
	return version, position, chain, err
}

// takeEventNumbers returns the statement that takes numbers of events and of the audit
// log. The parameters of the states have their numbers, and the others follow.
func takeEventNumbers(d *sqldb.Dialect) string {
	return fmt.Sprintf(`UPDATE merchants SET `+stateColumns(`in_state_%[1]d = in_state_%[1]d + $%[1]d`)+`,
			last_event = last_event + $%[1]d, audit_seq = audit_seq + $%[2]d, data_nonce = $%[3]d, last_position = %[5]s WHERE id = $%[4]d
		RETURNING last_event, last_position, audit_seq, (SELECT hash FROM audit WHERE merchant_id = $%[4]d AND seq = audit_seq - $%[2]d)`,
		order.NumStates, order.NumStates+1, order.NumStates+2, order.NumStates+3, d.Feed.NextPosition)
}

// newNonce returns a random number, never 0.
func newNonce() int64 { return 1 + rand.Int64N(math.MaxInt64) }

var insertEvents = sqldb.NewBulkInsert("events", `merchant_id, seq, nonce, type, actor, at, legacy_id, order_day,
	from_state, to_state, reason, detail, invoice_id, token_id, request_id, webhook_id, position`, "")

// eventValues appends the values of a row of insertEvents.
func eventValues(values []any, merchantID, nonce, position int64, e recordedEvent) []any {
	detail := strings.Join(e.Fields, " ")
	if e.Type == order.DeadlineNear {
		detail = strconv.FormatInt(e.ExpiresAt.Unix(), 10)
	}
	return append(values, merchantID, e.Seq, nonce, int64(e.Type), int64(e.By.Actor), e.At.Unix(), e.order.LegacyID, int64(order.DayOf(e.order.CreatedAt)),
		int64(e.From), int64(e.To), textOrNull(string(e.Reason)), textOrNull(detail), idOrNull(e.InvoiceID), idOrNull(e.By.TokenID), textOrNull(e.By.RequestID), idOrNull(e.WebhookID), position)
}

// idOrNull returns an id as it is stored where 0 is NULL.
func idOrNull(id int64) any { return orNull(id) }

// textOrNull returns a text as it is stored where an empty one is NULL.
func textOrNull(text string) any { return orNull(text) }

func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
