package store

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"

	"merchantorders/internal/store/sqldb/sqldbtest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestSQLitePlans verifies the query plan of each statement. A step that scans a
// table or sorts orders takes longer with every order, which no other test would
// notice.
func TestSQLitePlans(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	const (
		byLegacyID  = "SEARCH o USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND legacy_id=?)"
		byReference = "SEARCH o USING INDEX sqlite_autoindex_orders_2 (merchant_id=? AND reference=?)"
		itsInvoices = "SEARCH i USING INDEX invoices_active (merchant_id=? AND legacy_id=?) LEFT-JOIN"
		itsFile     = "SEARCH i USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND legacy_id=? AND id=?) LEFT-JOIN"
		itsEvents   = "SEARCH k USING COVERING INDEX events_by_order (merchant_id=? AND legacy_id=? AND seq>?) LEFT-JOIN"
		ifDeleted   = "SEARCH d USING PRIMARY KEY (merchant_id=? AND legacy_id=?)" // only for an event without an order
		thatEvent   = "SEARCH e USING PRIMARY KEY (merchant_id=? AND seq=?) LEFT-JOIN"
		inList      = "SCAN json_each VIRTUAL TABLE INDEX 1:"
		itsName     = "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)"
		daysOf      = "SEARCH order_days USING PRIMARY KEY (merchant_id=?)" // not by state: that is one of few
		event       = "SEARCH merchants USING INTEGER PRIMARY KEY (rowid=?)"
		ofMerchants = "SEARCH tokens USING INDEX tokens_of_merchants (merchant_id=? AND <expr>>?)"
		ofPasskeys  = "SEARCH tokens USING INDEX tokens_of_passkeys (merchant_id=? AND <expr>>?)"
		entryOf     = "SEARCH a USING PRIMARY KEY (merchant_id=? AND seq=?)"
		toClean     = "SEARCH i USING INDEX invoices_to_clean (status=?)"
	)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"order by legacy id": {selectOrderByLegacyID, []string{byLegacyID, itsName, itsInvoices}},
		"order by reference": {selectOrderByReference, []string{byReference, itsName, itsInvoices}},
		"orders":             {selectOrders(db.dialect), []string{inList, itsName, inList, byLegacyID, inList, itsInvoices}},
		"active invoices":    {selectActiveInvoices, []string{"SEARCH i USING INDEX invoices_active (merchant_id=? AND legacy_id=?)"}},
		"invoice by name": {selectInvoiceByName, []string{
			"SEARCH invoices USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND legacy_id=?)", "SCAN files",
			"SEARCH invoices USING COVERING INDEX sqlite_autoindex_invoices_2 (merchant_id=? AND legacy_id=? AND name=?)",
		}},
		"invoice by id":     {selectInvoiceByID, []string{strings.TrimSuffix(itsFile, " LEFT-JOIN"), byLegacyID, itsName}},
		"lock by legacy id": {selectLockedByLegacyID, []string{strings.Replace(byLegacyID, " o ", " orders ", 1)}},
		"lock by reference": {selectLockedByReference, []string{strings.Replace(byReference, " o ", " orders ", 1)}},
		"export":            {selectExportKeys(0), []string{"SEARCH orders USING INDEX orders_by_time (merchant_id=? AND (created_at,legacy_id)>(?,?) AND (created_at,legacy_id)<(?,?))"}},
		"export of a state": {selectExportKeys(order.Registered), []string{"SEARCH orders USING INDEX orders_by_state (merchant_id=? AND state=? AND (created_at,legacy_id)>(?,?) AND (created_at,legacy_id)<(?,?))"}},
		"position of an order": {selectCursor, []string{
			strings.Replace(byReference, " o ", " orders ", 1), "SEARCH deleted_orders USING INDEX sqlite_autoindex_deleted_orders_2 (merchant_id=? AND reference=?)",
		}},
		"expired reservations": {selectExpiredReservations, []string{toClean, byLegacyID, "USE TEMP B-TREE FOR ORDER BY"}},
		"deleted invoices":     {selectDeletedInvoices, []string{toClean, byLegacyID, "USE TEMP B-TREE FOR LAST TERM OF ORDER BY"}},
		"idempotency record":   {selectIdempotencyRecord, []string{"SEARCH idempotency_keys USING PRIMARY KEY (merchant_id=? AND key=? AND line=?)"}},
		"reservation": {selectReservation, []string{
			"SEARCH invoices USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND legacy_id=? AND id=?)",
		}},
		"old idempotency keys": {selectOldIdempotencyKeys, []string{"SEARCH idempotency_keys USING COVERING INDEX idempotency_keys_by_time (created_at<?)"}},
		"grant": {selectGrant, []string{
			"SEARCH t USING INDEX sqlite_autoindex_tokens_1 (hash=?)", "SEARCH merchants USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN",
		}},
		"audit of an order": {selectAuditOfOrder, []string{
			"SEARCH audit USING COVERING INDEX audit_by_order (merchant_id=? AND legacy_id=? AND seq<?)",
			"SCAN k", "SEARCH a USING PRIMARY KEY (merchant_id=? AND seq=?)",
			"USE TEMP B-TREE FOR ORDER BY", // of the entries of one order
		}},
		"audit of a merchant": {selectAuditOfMerchant, []string{"SEARCH audit USING PRIMARY KEY (merchant_id=? AND seq<?)"}},
		"audit by time":       {selectAuditByTime, []string{"SEARCH audit USING INDEX audit_by_time (at>? AND (at,merchant_id,seq)<(?,?,?))"}},
		"files to remove":     {selectFilesToRemove, []string{byLegacyID, "SEARCH i USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND legacy_id=?)"}},
		"day counts": {selectDayCounts(db.dialect), []string{
			inList, "SEARCH orders USING COVERING INDEX orders_by_state (merchant_id=? AND state=? AND created_at>? AND created_at<?)",
			"SEARCH order_days USING PRIMARY KEY (merchant_id=? AND day>? AND day<?)",
		}},
		"feed": {db.selectFeed, []string{
			"SEARCH e USING PRIMARY KEY (merchant_id=? AND seq>?)", byLegacyID + " LEFT-JOIN", itsFile, ifDeleted, "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)", "SCAN k LEFT-JOIN",
			"SEARCH events USING PRIMARY KEY (merchant_id=? AND seq=?)",
		}},
		"feed of all merchants": {db.selectMarketEvents, []string{
			"SEARCH e USING INDEX events_by_position ((position,merchant_id,seq)>(?,?,?) AND position<?)", byLegacyID + " LEFT-JOIN", itsFile, ifDeleted,
			"SEARCH m USING INTEGER PRIMARY KEY (rowid=?)", "SCAN k LEFT-JOIN", "SEARCH events USING PRIMARY KEY (merchant_id=? AND seq=?)",
		}},
		"end of the feed of all merchants": {db.selectMarketEnd, []string{
			"SEARCH e USING INDEX events_by_position (position<?)", "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)", "SCAN k LEFT-JOIN",
		}},
		"events of an order by legacy id": {selectOrderEventsByLegacyID, []string{byLegacyID, itsEvents, thatEvent, itsFile}},
		"events of an order by reference": {selectOrderEventsByReference, []string{byReference, itsEvents, thatEvent, itsFile}},
		"data versions":                   {selectDataVersions + db.dialect.InList, []string{event, "SCAN json_each VIRTUAL TABLE INDEX 1:"}},
		// Webhooks are few: no statement reads more than all of them once.
		"webhook":           {selectEndpoint, []string{"SEARCH webhooks USING PRIMARY KEY (merchant_id=? AND id=?)"}},
		"webhooks":          {selectMerchantEndpoints, []string{"SEARCH webhooks USING PRIMARY KEY (merchant_id=?)"}},
		"webhook page":      {selectWebhookPage, []string{"SEARCH webhooks USING INDEX webhooks_by_id (id>?)"}},
		"due webhooks":      {selectDue, []string{"SCAN w", itsName}},
		"due of a merchant": {selectDueOfMerchant, []string{"SEARCH m USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH w USING PRIMARY KEY (merchant_id=?)"}},
		"due of the marketplace": {db.selectMarketDue, []string{
			"SEARCH m USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH w USING PRIMARY KEY (merchant_id=?)",
			"SEARCH e USING COVERING INDEX events_by_position (position>? AND position<?)",
		}},
		"late of the marketplace": {selectMarketWaiting, []string{
			"SEARCH w USING PRIMARY KEY (merchant_id=?)", "SEARCH e USING INDEX events_by_position (position>? AND position<?)",
		}},
		"webhook deliveries": {selectDeliveries, []string{"SEARCH d USING PRIMARY KEY (merchant_id=? AND webhook_id=? AND id<?)"}},
		"deliveries of an order": {selectOrderDeliveries, []string{
			"MERGE (UNION)",
			"SEARCH e USING COVERING INDEX events_by_order (merchant_id=? AND legacy_id=?)",
			"SEARCH k USING COVERING INDEX webhook_deliveries_by_event (merchant_id=? AND event_seq=?)",
			"SEARCH d USING PRIMARY KEY (merchant_id=? AND webhook_id=? AND id=?)",
			"USE TEMP B-TREE FOR ORDER BY", // of the deliveries of one order
			"SEARCH e USING COVERING INDEX events_by_order (merchant_id=? AND legacy_id=?)",
			"SEARCH k USING COVERING INDEX webhook_deliveries_by_event (merchant_id=? AND event_seq>? AND event_seq<?)",
			"SEARCH d USING PRIMARY KEY (merchant_id=? AND webhook_id=? AND id=?)",
			"SEARCH t USING PRIMARY KEY (merchant_id=? AND seq=?)", "SEARCH w USING PRIMARY KEY (merchant_id=? AND id=?)",
			"USE TEMP B-TREE FOR ORDER BY",
		}},
		"webhook counts": {selectWebhookCounts, []string{
			"SCAN w", "SEARCH m USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN", "SEARCH e USING PRIMARY KEY (merchant_id=? AND seq=?) LEFT-JOIN",
			"USE TEMP B-TREE FOR GROUP BY",
		}},
		"order counts": {selectOrderCounts, []string{"SCAN merchants"}},
		"unanswered":   {selectUnanswered, []string{"SCAN merchants", "USE TEMP B-TREE FOR ORDER BY"}},
		"count orders": {updateCounts, append([]string{event}, slices.Repeat([]string{daysOf}, order.NumStates-1)...)},
		"oldest order": {selectOldestOrder, []string{
			"SCAN m", "SEARCH o USING COVERING INDEX orders_by_state (merchant_id=? AND state=?)", "SCAN unanswered",
		}},
		"unanswered orders with a deadline": {selectWithDeadline, []string{
			"SEARCH o USING INDEX orders_with_deadline (merchant_id=? AND state=? AND (expires_at,created_at,legacy_id)>(?,?,?) AND expires_at<?)",
		}},
		"orders near their deadline": {selectNearDeadlines, []string{
			"SEARCH orders USING INDEX orders_open_deadlines (state=? AND (expires_at,legacy_id)>(?,?) AND expires_at<?)",
		}},
		"unanswered orders without a deadline": {selectWithoutDeadline, []string{
			"SEARCH o USING INDEX orders_without_deadline (merchant_id=? AND state=? AND (created_at,legacy_id)>(?,?))",
		}},
		"orders without an invoice": {selectWithoutInvoice, []string{
			"MERGE (UNION ALL)", "SEARCH o USING INDEX orders_without_invoice (merchant_id=? AND (created_at,legacy_id)>(?,?))", "SCAN none",
			"USE TEMP B-TREE FOR ORDER BY", // of the page
			"SEARCH invoices USING COVERING INDEX invoices_reserved (merchant_id=?)", "SCAN r", byLegacyID,
			"SEARCH i USING COVERING INDEX invoices_active (merchant_id=? AND legacy_id=?)",
			"USE TEMP B-TREE FOR ORDER BY", "SCAN reserved", "USE TEMP B-TREE FOR ORDER BY", // of those with a reservation
		}},
		"orders with the merchant's own number": {selectByMerchantReference, []string{
			"SEARCH o USING INDEX orders_merchant_reference (merchant_id=? AND merchant_reference=?)", event, event,
		}},
		"no order with the merchant's own number": {selectNoMerchantReference, []string{
			"SCAN CONSTANT ROW", event, event, "SEARCH o USING COVERING INDEX orders_merchant_reference (merchant_id=? AND merchant_reference=?)",
		}},
		"tokens of sessions to delete": {selectEndedTokens, []string{"SEARCH tokens USING INDEX tokens_of_sessions (<expr><?)"}},
		"active tokens":                {activeTokens(db, 0), []string{"SEARCH tokens USING INDEX tokens_of_all_by_end (<expr>>?)", "USE TEMP B-TREE FOR ORDER BY"}},
		"active tokens of a merchant":  {activeTokens(db, 1), []string{"SEARCH tokens USING INDEX tokens_by_end (merchant_id=? AND <expr>>?)", "USE TEMP B-TREE FOR ORDER BY"}},
		"token counts": {selectTokenCounts, []string{
			"SCAN CONSTANT ROW", ofMerchants, "SCAN n", ofMerchants, "SCAN n", ofPasskeys, "SCAN n", "SEARCH tokens USING INDEX tokens_of_links (merchant_id=? AND created_at>?)", "SCAN n",
			"SEARCH login_links USING INDEX login_links_by_merchant (merchant_id=? AND expires_at>?)", "SCAN n",
		}},
		"name of a deleted token":    {selectTokenDetail, []string{"SEARCH audit USING COVERING INDEX audit_of_tokens (subject_id=?)", entryOf}},
		"name of a merchant's token": {selectTokenDetailOf, []string{"SEARCH audit USING COVERING INDEX audit_of_tokens (subject_id=? AND merchant_id=?)", entryOf}},
		"open sessions": {selectOpenSessions, []string{
			"SEARCH s USING INDEX sessions_by_time (merchant_id=? AND created_at>? AND created_at<?)", "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
		}},
		"excess sessions": {selectExcessSessions, []string{
			"MERGE (UNION)", "SEARCH sessions USING INDEX sessions_by_token (token_id=?)", "USE TEMP B-TREE FOR ORDER BY", "SCAN of_token", "USE TEMP B-TREE FOR ORDER BY",
			"SEARCH sessions USING COVERING INDEX sessions_by_merchant (merchant_id=?)", "SCAN of_merchant", "USE TEMP B-TREE FOR ORDER BY",
		}},
		"links in e-mails": {selectLinks, []string{"SEARCH audit USING INDEX audit_of_links (merchant_id=? AND at>?)"}},
		"revoked tokens": {selectRevoked + db.dialect.InList, []string{
			"SEARCH tokens USING INTEGER PRIMARY KEY (rowid=?)", "SCAN json_each VIRTUAL TABLE INDEX 1:",
		}},
	} {
		testenv.Equal(t, name, test.want, sqldbtest.SQLitePlan(t, db.sql, test.text))
	}
}

// activeTokens returns the statement that lists the active tokens of a merchant, or of all.
func activeTokens(db *DB, merchantID int64) string {
	text, _ := db.tokensStatement(token.Filter{MerchantID: merchantID, Validity: token.Active, Limit: 100}, time.Time{})
	return text
}

// planList returns a list of states, or of any, and of days in another zone than UTC.
func planList(ofDays bool, states ...order.State) *listing {
	filter := order.NewFilter()
	filter.AnyState, filter.States = states == nil, states
	if ofDays {
		filter.From, filter.To, filter.Zone = 0, 10, time.FixedZone("ahead", 2*60*60)
	}
	return newListing(1, filter)
}

// TestSQLiteListPlans verifies that lists follow an index and end with their LIMIT.
func TestSQLiteListPlans(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	const (
		merchant = "SEARCH merchants USING INTEGER PRIMARY KEY (rowid=?)"
		ofDays   = "SEARCH order_days USING PRIMARY KEY (merchant_id=? AND day>? AND day<?)"
		below    = "(created_at,legacy_id)<(?,?))"
		inRange  = "created_at>? AND (created_at,legacy_id)<(?,?))"
		hours    = "created_at>? AND created_at<?)"
		byTime   = "INDEX orders_by_time (merchant_id=? AND "
		byState  = "INDEX orders_by_state (merchant_id=? AND state=? AND "
		keys     = "SEARCH orders USING COVERING "
		merge    = "MERGE (UNION ALL)"
	)
	// The keys of several states are merged. Only the rows of the page are sorted.
	merged := func(plan ...string) []string {
		return append(plan, "SCAN v", "SCAN k", "SEARCH o USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND legacy_id=?)")
	}
	for name, test := range map[string]struct {
		list              *listing
		page, key, counts []string
	}{
		"any state":   {planList(false), []string{"SEARCH o USING " + byTime + below}, []string{keys + byTime + below}, []string{merchant}},
		"one state":   {planList(false, 1), []string{"SEARCH o USING " + byState + below}, []string{keys + byState + below}, []string{merchant}},
		"two states":  {planList(false, 1, 2), merged(merge, keys+byState+below, keys+byState+below), []string{merge, keys + byState + below, keys + byState + below}, []string{merchant}},
		"days":        {planList(true), []string{"SEARCH o USING " + byTime + inRange}, []string{keys + byTime + inRange}, []string{ofDays, keys + byTime + hours, keys + byTime + hours}},
		"days, state": {planList(true, 1), []string{"SEARCH o USING " + byState + inRange}, []string{keys + byState + inRange}, []string{ofDays, keys + byState + hours, keys + byState + hours}},
		"days, two states": {
			planList(true, 1, 2), merged(merge, keys+byState+inRange, keys+byState+inRange), []string{merge, keys + byState + inRange, keys + byState + inRange},
			[]string{ofDays, keys + byState + hours, keys + byState + hours},
		},
	} {
		counts := append([]string{merchant, merchant}, test.counts...)
		page := append(test.page, counts...)
		if len(test.list.filter.States) > 1 {
			page = append(page, "USE TEMP B-TREE FOR ORDER BY")
		}
		plan := func(text string, _ []any) []string { return sqldbtest.SQLitePlan(t, db.sql, text) }
		testenv.Equal(t, name+": page", page, plan(test.list.pageStatement(position{}, true)))
		testenv.Equal(t, name+": key", test.key, plan(test.list.keyStatement(position{})))
		testenv.Equal(t, name+": counts", append([]string{merchant}, counts...), plan(test.list.countStatement()))
		testenv.Equal(t, name+": days", []string{ofDays}, plan(test.list.dayStatement(false)))
	}
}
