package store

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// growing has a statement for each kind of rows that grow, with which merchant 1 and the
// installation get those with numbers above $1, up to $2: what has ended, and what others have.
// :now is testTime.
var growing = map[string]string{
	"ended tokens": `INSERT INTO tokens (id, hash, merchant_id, scopes, hint, created_at, created_by, expires_at)
		SELECT 1000000 + n, CAST('t' || n AS BYTEA), 1, 1, CASE n %% 2 WHEN 0 THEN '' ELSE 'mo_' END, 0, 7, 1 + n FROM %s`,
	"sessions of others": `INSERT INTO sessions (hash, token_id, merchant_id, owns_token, created_at, last_used_at)
		SELECT CAST('s' || n AS BYTEA), 1000000 + n, 10 + n %% 90, 1, :now, :now FROM %s`,
	"keys": `INSERT INTO idempotency_keys (merchant_id, key, line, request_digest, created_at, response)
		SELECT 1, 'grown' || n, 0, '', :now - n, '' FROM %s`,
	"webhooks of others": `INSERT INTO webhooks (merchant_id, id, url, description, types, include_orders, headers, username, password, created_at, secret, old_secret, state, reason,
		acknowledged, event_merchant, event_position, event_nonce, feed_history, failures, mail, language, digest_every, link_hash)
		SELECT 10 + n %% 90, 1000000 + n, '', '', 0, 0, '', '', '', 0, '', '', 1, '', 0, 0, 0, 0, 0, 0, 0, '', 0, '' FROM %s`,
	"orders with files": `INSERT INTO orders (merchant_id, legacy_id, reference, state, created_at, currency, country_code, total, has_invoice, user_id, email, first_name, last_name, company,
		merchant_reference, revision, active_invoices, digest, details) SELECT 1, 1000000 + n, 'grown' || n, 9, n, 'EUR', '', 0, 1, 0, '', '', '', '', 'own', 1, 1, '', '' FROM %s`,
	"deliveries": `INSERT INTO webhook_deliveries SELECT 1, 2, n, 0, '', n, 0, '', 200, '', 0, '' FROM %s`,
	"audit":      `INSERT INTO audit SELECT 1, (SELECT audit_seq FROM merchants WHERE id = 1) + n - $1, 0, 'order.created', 1, 7, '', '', 0, '', 0, '', '' FROM %s`,
	"events": `INSERT INTO events (merchant_id, seq, nonce, type, actor, at, legacy_id, order_day, from_state, to_state, position)
		SELECT 1, (SELECT last_event FROM merchants WHERE id = 1) + n - $1, 1, 1, 1, 0, 0, 0, 0, 0, n %% 500 FROM %s`,
	"login links of others": `INSERT INTO login_links SELECT CAST('l' || n AS BYTEA), 10 + n %% 90, 7, 1, '', :now + 600 FROM %s`,
	"merchants":             `INSERT INTO merchants (id, name, created_at) SELECT 10 + n, 'Shop ' || n, 0 FROM %s`,
}

// grows are the numbers of merchants for whom a request costs more with every merchant: it
// shows numbers of all, which are one row for each.
var grows = map[string]string{"overview": "merchants"}

// TestGrowth counts the rows that the statements of requests visit, with some rows of every
// kind and with ten times as many of one kind: the number stays.
func TestGrowth(t *testing.T) {
	t.Parallel()
	if pgtest.Distributed(t) {
		t.Skip("a cluster shows the plans of one of its nodes only")
	}
	db, recorded := openRecorded(t, pgtest.Database(t))
	for _, id := range []int64{1, 2} {
		testenv.NoError(t, addTestMerchant(t.Context(), db, id))
	}
	const few = 1000
	for kind := range growing { // not their cost: each has some rows
		grow(t, db, kind, 0, few)
	}
	requests := newGrowthRequests(t, db)
	before := requests.visits(t, db, recorded)
	for kind := range growing {
		grow(t, db, kind, few, 10*few)
		for name, rows := range requests.visits(t, db, recorded) {
			if rows > before[name]*3/2+20 && grows[name] != kind {
				t.Errorf("%s visits %d rows with ten times as many rows of %s, %d before", name, rows, kind, before[name])
			}
			before[name] = max(before[name], rows)
		}
	}
}

// grow adds rows of a kind, with the numbers above from, up to to.
func grow(t *testing.T, db *DB, kind string, from, to int) {
	t.Helper()
	text := strings.ReplaceAll(fmt.Sprintf(growing[kind], "generate_series($1 + 1, $2) AS n"), ":now", fmt.Sprint(testTime.Unix()))
	slow := db.sql.WithoutTimeout()
	testenv.Of(slow.Exec(t.Context(), text, from, to)).Must(t)
	// The newest event has the merchant's nonce, or its feed would begin a new history.
	testenv.Of(slow.Exec(t.Context(), `UPDATE merchants SET last_event = COALESCE((SELECT MAX(seq) FROM events WHERE merchant_id = 1), 0),
		data_nonce = COALESCE((SELECT nonce FROM events WHERE merchant_id = 1 ORDER BY seq DESC LIMIT 1), data_nonce),
		audit_seq = (SELECT MAX(seq) FROM audit WHERE merchant_id = 1) WHERE id = 1`)).Must(t)
	testenv.Of(slow.Exec(t.Context(), "ANALYZE")).Must(t)
}

// growthRequests are what requests do to the store, by name. Each can be done again.
type growthRequests map[string]func() error

func newGrowthRequests(t *testing.T, db *DB) growthRequests {
	t.Helper()
	ctx, now := t.Context(), func() time.Time { return testTime }
	results := testenv.Of(db.ImportOrders(ctx, testBatch(1, "G", 100), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	orders := order.NewService(db, nil, now, slog.New(slog.DiscardHandler))
	tokens := token.NewRegistry(db, now)
	sessions := token.NewSessions(db, tokens)
	text, made, err := tokens.Create(ctx, 1, order.MerchantScopes, 0)
	testenv.NoError(t, err)
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: 1, TokenID: made.ID, Scopes: made.Scopes}
	secret := testenv.Of(sessions.Begin(ctx, caller)).Must(t)
	person, merchant, next := token.Person{MerchantID: 1, Scopes: order.ScopeOrdersRead}, int64(1), 0
	accept := func(key string) error {
		next++
		_, err := orders.Accept(ctx, caller, order.ByLegacyID(results[next].LegacyID), order.Options[order.WriteResult]{
			Key: order.Key{Text: key}, Record: func(order.WriteResult, error) ([]byte, error) { return []byte("{}"), nil },
		})
		return err
	}
	ignore := func(_ any, err error) error { return err }
	return growthRequests{
		"request": func() error { return ignore(tokens.Authenticate(ctx, text, netip.Addr{})) },
		"page of the console": func() error {
			_, _, err := sessions.Find(ctx, secret, netip.Addr{})
			return err
		},
		"accept":          func() error { return accept("") },
		"accept with key": func() error { return accept(fmt.Sprint("key", next)) },
		"list":            func() error { return ignore(orders.List(ctx, 1, order.NewFilter())) },
		"one order":       func() error { return ignore(db.Order(ctx, 1, order.ByLegacyID(results[0].LegacyID))) },
		"history":         func() error { return ignore(db.OrderEvents(ctx, 1, order.ByLegacyID(results[0].LegacyID), 0, 100)) },
		"export": func() error {
			return ignore(db.ExportKeys(ctx, 1, order.ExportQuery{MerchantID: 1, From: order.NoDay, To: order.NoDay}, nil, 100))
		},
		"people": func() error {
			_, _, err := sessions.Open(ctx, 1, nil)
			return err
		},
		"new token": func() error {
			return ignore(tokens.Add(ctx, caller, token.Request{MerchantID: 1, Scopes: order.ScopeOrdersRead}, order.Options[token.Created]{}))
		},
		"sign-in by link": func() error {
			link, err := sessions.NewLoginLink(ctx, caller, person, order.Options[token.CreatedLink]{})
			if err != nil {
				return err
			}
			return ignore(sessions.UseLoginLink(ctx, order.Caller{}, link.Secret, func(token.LoginLink) error { return nil }))
		},
		"tokens": func() error { return ignore(db.Tokens(ctx, token.Filter{MerchantID: 1, Limit: 101}, testTime)) },
		"active tokens": func() error {
			return ignore(db.Tokens(ctx, token.Filter{Validity: token.Active, Limit: 101}, testTime))
		},
		"home": func() error {
			_, err := orders.StateCounts(ctx, 1)
			if err == nil {
				_, _, err = orders.WithoutInvoice(ctx, 1, nil, 10)
			}
			if err == nil {
				_, err = db.Unanswered(ctx, 1, order.UnansweredQuery{Limit: 20})
			}
			return err
		},
		"own number": func() error {
			_, _, err := orders.ByMerchantReference(ctx, 1, "own")
			return err
		},
		"feed":       func() error { return ignore(db.Events(ctx, 1, 0, 100)) },
		"all events": func() error { return ignore(db.MarketEvents(ctx, order.MarketCursor{}, 100)) },
		"delivery": func() error {
			if _, err := db.DueEndpoints(ctx, &merchant, testTime); err != nil {
				return err
			}
			return ignore(db.WebhookDeliveries(ctx, delivery.Key{MerchantID: 1, ID: 2}, 1<<40, 50))
		},
		"webhooks":         func() error { return ignore(db.WebhookPage(ctx, 0, 0, 100)) },
		"audit":            func() error { return ignore(db.AuditLog(ctx, order.AuditQuery{Limit: 100})) },
		"audit of a store": func() error { return ignore(db.AuditLog(ctx, order.AuditQuery{MerchantID: &merchant, Limit: 100})) },
		"overview":         func() error { return ignore(db.Overview(ctx, order.OverviewQuery{Limit: 20}, testTime)) },
		"search": func() error {
			return ignore(db.Search(ctx, order.Search{Reference: "G-5", From: order.NoDay, To: order.NoDay, Limit: 20}))
		},
		"merchants": func() error { return ignore(db.Merchants(ctx, order.MerchantFilter{Limit: 100})) },
		"link in an e-mail": func() error {
			return db.InAddressTx(ctx, func(tx digest.Tx) error { return ignore(tx.Links(ctx, 1, "address=", testTime.Add(-time.Hour))) })
		},
	}
}

// visits returns how many rows the statements of each request visit.
func (g growthRequests) visits(t *testing.T, db *DB, recorded *recorder) map[string]int {
	t.Helper()
	visited := make(map[string]int)
	for name, request := range g {
		recorded.forget()
		if err := request(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, s := range recorded.statements() {
			visited[name] += rowsVisited(t, db, s)
		}
	}
	return visited
}

// planNode is a node of a plan that was executed.
type planNode struct {
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Relation string  `json:"Relation Name"`
	Plans    []planNode
}

// rowsVisited returns how many rows of tables and indexes a statement visits. Those that only
// add rows visit none.
func rowsVisited(t *testing.T, db *DB, s statement) int {
	t.Helper()
	if strings.HasPrefix(s.text, "INSERT") {
		return 0
	}
	var text string
	back := fmt.Errorf("rolled back")
	err := db.sql.InTx(t.Context(), func(tx sqldb.Querier) error {
		if _, err := tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off"); err != nil { // tables are small
			return err
		}
		if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) "+s.text, s.args, &text); err != nil {
			return fmt.Errorf("%s: %w", s.text, err)
		}
		return back
	})
	testenv.Equal(t, "error", back, err)
	var plans []struct{ Plan planNode }
	testenv.NoError(t, json.Unmarshal([]byte(text), &plans))
	return int(plans[0].Plan.visited())
}

func (n planNode) visited() float64 {
	var sum float64
	if n.Relation != "" {
		sum = (n.Rows + n.Filtered) * n.Loops
	}
	for _, child := range n.Plans {
		sum += child.visited()
	}
	return sum
}
