package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"

	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/postgres"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// openCluster opens a database with merchants 1 to 8 on a cluster.
func openCluster(t *testing.T) (*DB, *recorder) {
	t.Helper()
	pgtest.NeedCluster(t)
	db, recorded := openRecorded(t, pgtest.Database(t))
	for id := range int64(8) {
		testenv.NoError(t, addTestMerchant(t.Context(), db, 1+id))
	}
	return db, recorded
}

// TestDistributedPlans runs what requests do and has each of its statements
// explained: it must be one task, on the merchant's node, or none, on the
// coordinator. Only keys of orders are wherever their text leads.
func TestDistributedPlans(t *testing.T) {
	t.Parallel()
	db, recorded := openCluster(t)
	nodes := make(map[string]bool)
	for merchant := range int64(8) {
		recorded.forget()
		for _, s := range requestsOf(t, db, recorded, 1+merchant) {
			tasks, where := explain(t, db, s)
			switch {
			case tasks == 0 && !slices.ContainsFunc(citus.Tables, func(table citus.Table) bool { return s.names(table.Name) }):
			case tasks > 0 && s.names("order_keys"):
			case tasks != 1:
				t.Errorf("%d tasks: %s", tasks, s.text)
			default:
				nodes[fmt.Sprintf("%d on %s", 1+merchant, where)] = true
			}
		}
	}
	testenv.Equal(t, "nodes of 8 merchants", 8, len(nodes))
	recorded.forget()
	// Of an unknown token, or an operator's; readiness is this too.
	testenv.Of(db.Grant(t.Context(), token.Hash{})).WantError(t, "grant", token.ErrUnknown)
	for _, s := range recorded.statements() {
		if tasks, where := explain(t, db, s); tasks != 0 {
			t.Errorf("%d tasks on %s: %s", tasks, where, s.text)
		}
	}
	for name, text := range map[string]string{"stale": selectExpiredReservations, "deleted": selectDeletedInvoices, "old keys": selectOldIdempotencyKeys} {
		// They belong to no request: every node runs them.
		if tasks, _ := explain(t, db, statement{text, []any{1, 1}}); tasks < 2 {
			t.Errorf("%s: %d tasks", name, tasks)
		}
	}
}

// TestDistributedCounts reads the numbers of all merchants on a cluster.
func TestDistributedCounts(t *testing.T) {
	t.Parallel()
	db, _ := openCluster(t)
	for id := range int64(8) {
		testenv.Of(db.ImportOrders(t.Context(), testBatch(1+id, fmt.Sprintf("M%d", id), 3), order.Cause{At: testTime})).Must(t)
	}
	o, err := db.Overview(t.Context(), order.OverviewQuery{Limit: 20}, testTime)
	if err != nil || o.States[order.Registered] != 24 || len(o.Merchants) != 8 || o.Merchants[7].Unanswered != 3 {
		t.Errorf("overview %+v, %v", o, err)
	}
	testenv.NoError(t, WriteStateCounts(t.Context(), db.sql, 1))
	if tasks, _ := explain(t, db, statement{updateCounts, []any{1}}); tasks != 1 {
		t.Errorf("%d tasks: %s", tasks, updateCounts)
	}
}

// requestsOf does for a merchant what requests do, and returns the statements
// that it took.
func requestsOf(t *testing.T, db *DB, recorded *recorder, merchant int64) []statement {
	t.Helper()
	ctx := t.Context()
	db.maxSkipped = 1
	service := order.NewService(db, nil, func() time.Time { return testTime }, slog.New(slog.DiscardHandler))
	results := testenv.Of(db.ImportOrders(ctx, testBatch(merchant, fmt.Sprintf("M%d", merchant), 8), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	number := results[0].LegacyID
	testenv.NoError(t, transitionTest(ctx, db, merchant, number, order.Canceled))
	var batch []order.BatchChange
	for n := range 4 {
		update := order.Update{To: order.Canceled}
		if n%2 == 0 {
			update = order.Update{Correction: order.Correction{Carrier: order.CarrierCorrection{TrackingCodes: order.To("x")}}}
		}
		batch = append(batch, order.BatchChange{MerchantID: merchant, Reference: fmt.Sprintf("M%d-%d", merchant, 1+n), Update: update})
	}
	for _, result := range testenv.Of(service.ChangeOrders(ctx, order.Command(), batch, nil)).Must(t) {
		testenv.NoError(t, result.Err)
	}
	fileTest(t, db, merchant, number)
	testenv.Of(db.StateCounts(ctx, merchant)).Must(t)
	testenv.Of(db.Unanswered(ctx, merchant, order.UnansweredQuery{Limit: 2})).Must(t)
	testenv.Of(db.WithoutInvoice(ctx, merchant, nil, 2)).Must(t)
	testenv.Of(db.Inspect(ctx, merchant, fmt.Sprintf("M%d-0", merchant))).Must(t)
	if _, _, err := db.ByMerchantReference(ctx, merchant, "x", 2); err != nil {
		t.Error(err)
	}
	for _, key := range []order.Identifier{order.ByLegacyID(number), order.ByReference(fmt.Sprintf("M%d-0", merchant))} {
		testenv.Of(db.Order(ctx, merchant, key)).Must(t)
		if events, err := db.OrderEvents(ctx, merchant, key, 0, 10); err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
	}
	query := order.ExportQuery{MerchantID: merchant, From: order.NoDay, To: order.NoDay}
	if keys, err := db.ExportKeys(ctx, merchant, query, nil, 10); err != nil || len(keys) == 0 {
		t.Fatal(keys, err)
	}
	if orders, err := db.Orders(ctx, []order.Locator{{MerchantID: merchant, LegacyID: number}}); err != nil || len(orders) != 1 {
		t.Fatal(orders, err)
	}
	if feed, err := db.Events(ctx, merchant, 0, 10); err != nil || len(feed.Events) == 0 {
		t.Fatal(feed, err)
	}
	if versions, err := db.DataVersions(ctx, []int64{merchant}); err != nil || versions[merchant].Event == 0 {
		t.Fatal(versions, err)
	}
	if revoked, err := db.RevokedTokens(ctx, []int64{1}); err != nil || len(revoked) > 0 {
		t.Fatal(revoked, err)
	}
	for _, states := range [][]order.State{nil, {order.Registered}, {order.Registered, order.Canceled}} {
		filter := order.NewFilter()
		filter.AnyState, filter.States, filter.PageSize = states == nil, states, 1
		inZone := filter
		inZone.From, inZone.To, inZone.Zone = 0, order.DayOf(testTime), time.FixedZone("ahead", 2*60*60)
		for _, page := range []int64{1, 3, 6, 99} { // far down are those after 2
			filter.Page, inZone.Page = page, page
			for _, f := range []order.Filter{filter, inZone} {
				if _, err := db.List(ctx, merchant, f); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	today := order.DayOf(testTime)
	if counts, err := db.DayCounts(ctx, merchant, order.Filter{From: today - 1, To: today + 1, Zone: time.FixedZone("ahead", 12*60*60)}); err != nil || len(counts) == 0 {
		t.Fatal(counts, err)
	}
	if _, err := db.InvoiceFile(ctx, merchant, fmt.Sprintf("M%d-0", merchant), "a.pdf"); err == nil {
		t.Error("the file is deleted")
	}
	return recorded.statements()
}

// fileTest uploads a file, deletes it, and releases a reservation.
func fileTest(t *testing.T, db *DB, merchant, number int64) {
	t.Helper()
	ctx := t.Context()
	key := order.Key{Text: "k", Digest: sha256.Sum256([]byte("upload"))}
	err := db.InTx(ctx, func(tx order.Tx) error {
		if err := tx.ReserveIdempotencyKey(ctx, merchant, key, testTime); err != nil {
			return err
		}
		locked, err := tx.LockOrder(ctx, merchant, order.ByLegacyID(number))
		if err != nil {
			return err
		}
		if _, err := tx.InvoiceNameUsed(ctx, locked, "a.pdf"); err != nil {
			return err
		}
		for _, name := range []string{"a.pdf", "b.pdf"} {
			id, err := tx.ReserveInvoice(ctx, locked, order.Invoice{Name: name, CreatedAt: testTime})
			if err != nil {
				return err
			}
			if name == "b.pdf" {
				return tx.ReleaseInvoice(ctx, locked, id)
			}
			if err := errors.Join(tx.HoldIdempotencyKey(ctx, locked, key, id),
				tx.ActivateInvoice(ctx, locked, order.Invoice{ID: id}, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: testTime}),
				tx.SaveResponse(ctx, merchant, key, []byte("answer"))); err != nil {
				return err
			}
			if _, err := tx.Invoices(ctx, locked); err != nil {
				return err
			}
			if err := tx.DeleteInvoice(ctx, locked, id, order.Cause{By: order.Caller{Actor: order.ActorMerchant}, At: testTime}); err != nil {
				return err
			}
		}
		return nil
	})
	testenv.NoError(t, err)
	err = db.InTx(ctx, func(tx order.Tx) error { return tx.ReserveIdempotencyKey(ctx, merchant, key, testTime) })
	var repeated *order.ReplayError
	if !errors.As(err, &repeated) {
		t.Fatalf("error %v, want a replay", err)
	}
}

// statement is one that was run.
type statement struct {
	text string
	args []any
}

func (s statement) names(table string) bool {
	return regexp.MustCompile(`\b` + table + `\b`).MatchString(s.text)
}

// explain returns into how many tasks for nodes a statement is divided, those of its parts
// included, and the node of one of them.
func explain(t *testing.T, db *DB, s statement) (int, string) {
	t.Helper()
	tasks, node := 0, ""
	err := db.sql.Query(t.Context(), "EXPLAIN "+s.text, s.args, func(rows sqldb.Rows) error {
		var line string
		err := rows.Scan(&line)
		line = strings.TrimSpace(line)
		var count int
		_, _ = fmt.Sscanf(line, "Task Count: %d", &count)
		tasks += count
		if where, ok := strings.CutPrefix(line, "Node: "); ok {
			node = where
		}
		return err
	})
	if err != nil {
		t.Fatalf("explain %s: %v", s.text, err)
	}
	return tasks, node
}

// recorder is a database that records the statements that run on it.
type recorder struct {
	sqldb.DB
	mu  sync.Mutex
	ran []statement
}

// openRecorded opens a database whose statements are recorded.
func openRecorded(t *testing.T, url string) (*DB, *recorder) {
	t.Helper()
	db := testenv.Of(postgres.Open(t.Context(), url, nil, migrations.Options{})).Must(t)
	r := &recorder{DB: db}
	t.Cleanup(func() { _ = db.Close() })
	return New(r, Options{}), r
}

func (r *recorder) record(text string, args []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, statement{text, args})
}

// Exec, Query, QueryRow and WithoutTimeout implement sqldb.Querier.
func (r *recorder) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	return recordingQuerier{r.DB, r}.Exec(ctx, text, args...)
}

func (r *recorder) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	return recordingQuerier{r.DB, r}.Query(ctx, text, args, scan)
}

func (r *recorder) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	return recordingQuerier{r.DB, r}.QueryRow(ctx, text, args, dest...)
}

func (r *recorder) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return recordingQuerier{r.DB, r}.QueryMany(ctx, queries, scan)
}

func (r *recorder) WithoutTimeout() sqldb.Querier { return recordingQuerier{r.DB.WithoutTimeout(), r} }

// InTx implements sqldb.DB.
func (r *recorder) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	return r.DB.InTx(ctx, func(q sqldb.Querier) error { return fn(recordingQuerier{q, r}) })
}

// Snapshot implements sqldb.DB.
func (r *recorder) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	return r.DB.Snapshot(ctx, func(q sqldb.Querier) error { return fn(recordingQuerier{q, r}) })
}

// recordingQuerier records the statements of another Querier.
type recordingQuerier struct {
	sqldb.Querier
	r *recorder
}

func (q recordingQuerier) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	q.r.record(text, args)
	return q.Querier.Exec(ctx, text, args...)
}

func (q recordingQuerier) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	q.r.record(text, args)
	return q.Querier.Query(ctx, text, args, scan)
}

func (q recordingQuerier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	q.r.record(text, args)
	return q.Querier.QueryRow(ctx, text, args, dest...)
}

func (q recordingQuerier) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	recorded := func(yield func(string, []any) bool) {
		queries(func(text string, args []any) bool {
			q.r.record(text, args)
			return yield(text, args)
		})
	}
	return q.Querier.QueryMany(ctx, recorded, scan)
}

func (q recordingQuerier) Later(ctx context.Context, noRow error, text string, args ...any) error {
	q.r.record(text, args)
	return q.Querier.Later(ctx, noRow, text, args...)
}

func (q recordingQuerier) WithoutTimeout() sqldb.Querier {
	return recordingQuerier{q.Querier.WithoutTimeout(), q.r}
}

func (r *recorder) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = nil
}

func (r *recorder) statements() []statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ran)
}
