package citus_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/storetest"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) { maintenancetest.Main(m) }

func TestDistributeWithoutCluster(t *testing.T) {
	t.Parallel()
	sqlite := maintenancetest.New(t, maintenancetest.Kind{})
	testenv.Of(citus.Distribute(t.Context(), sqlite.DB)).WantError(t, "SQLite", sqldb.ErrNotPostgres)
	if pgtest.Distributed(t) {
		return
	}
	postgres := maintenancetest.New(t, maintenancetest.Kind{Postgres: true})
	testenv.Of(citus.Distribute(t.Context(), postgres.DB)).WantError(t, "PostgreSQL", citus.ErrNoCitus)
}

// TestDistributeInUse distributes a database in use, twice.
func TestDistributeInUse(t *testing.T) {
	t.Parallel()
	pgtest.NeedCluster(t)
	url := pgtest.Empty(t)
	db := testenv.Of(store.OpenPostgres(t.Context(), url, store.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	for id := int64(1); id <= 5; id++ {
		addOrders(t, db, id, 20)
	}
	ctx, stop := context.WithCancel(t.Context())
	transitions := make(chan error)
	go func() { transitions <- transitionUntil(ctx, db) }()
	for _, before := range []bool{false, true} {
		result := testenv.Of(citus.Distribute(t.Context(), db.SQL())).Must(t)
		want := citus.Result{Nodes: result.Nodes}
		for _, table := range citus.Tables {
			table.AlreadyDistributed = before
			want.Tables = append(want.Tables, table)
		}
		if diff := cmp.Diff(want, result); diff != "" || result.Nodes == 0 {
			t.Errorf("distributed before: %t, %d nodes (-want +got):\n%s", before, result.Nodes, diff)
		}
	}
	stop()
	testenv.NoError(t, <-transitions)
	storetest.CheckTables(t, maintenancetest.OpenSQL(t, url))
	for _, table := range citus.Tables {
		var size int64
		if err := db.SQL().QueryRow(t.Context(), `SELECT pg_relation_size($1)`, []any{table.Name}, &size); err != nil || size > 0 {
			t.Errorf("%s has %d bytes on the coordinator, error %v", table.Name, size, err)
		}
	}
}

// TestDistributeWithoutWorkers has a coordinator only, which keeps no rows.
func TestDistributeWithoutWorkers(t *testing.T) {
	t.Parallel()
	pgtest.NeedCluster(t)
	url := pgtest.Empty(t)
	db := testenv.Of(store.OpenPostgres(t.Context(), url, store.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	testenv.Of(maintenancetest.OpenSQL(t, url).ExecContext(t.Context(), `SELECT citus_remove_node(nodename, nodeport) FROM pg_dist_node WHERE groupid <> 0`)).Must(t)
	testenv.Of(citus.Distribute(t.Context(), db.SQL())).WantError(t, "no workers", citus.ErrNoNodes)
}

// addOrders adds a merchant with orders.
func addOrders(t *testing.T, db *store.DB, merchantID int64, n int) {
	t.Helper()
	testenv.NoError(t, db.InTx(t.Context(), func(tx order.Tx) error {
		return tx.AddMerchant(t.Context(), order.Merchant{ID: merchantID, Name: fmt.Sprintf("Merchant %d", merchantID), CreatedAt: maintenancetest.Now}, order.AuditEntry{At: maintenancetest.Now})
	}))
	var batch []order.Incoming
	for i := range n {
		batch = append(batch, maintenancetest.Incoming(merchantID, i))
	}
	testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: maintenancetest.Now})).Must(t)
}

// transitionUntil changes the states of orders until ctx ends. Some have to wait for the rows to
// be moved, which may take too long for them.
func transitionUntil(ctx context.Context, db *store.DB) error {
	for i := 0; ctx.Err() == nil; i++ {
		merchant, n := int64(1+i%5), i/5%20
		to := []order.State{order.Canceled, order.Registered}[i/100%2]
		err := db.InTx(context.WithoutCancel(ctx), func(tx order.Tx) error {
			locked, err := tx.LockOrder(ctx, merchant, order.ByReference(maintenancetest.Reference(merchant, n)))
			if err != nil {
				return err
			}
			return tx.Transition(ctx, locked, to, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: maintenancetest.Now})
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, order.ErrUnavailable) {
			return err
		}
	}
	return nil
}

// TestMigrateDistributed distributes tables as 1.0.0 has made them, with a row, and takes all
// later steps: every node gets the changes.
func TestMigrateDistributed(t *testing.T) {
	t.Parallel()
	pgtest.NeedCluster(t)
	url := pgtest.Empty(t)
	tables := maintenancetest.OpenSQL(t, url)
	execute := func(text string) {
		t.Helper()
		testenv.Of(tables.ExecContext(t.Context(), text)).Must(t)
	}
	db := testenv.Of(store.OpenPostgres(t.Context(), url, store.Options{Schema: migrations.Options{OnStep: func(step migrations.Step) {
		if step.Version > 1 {
			return
		}
		execute(`INSERT INTO merchants (id, name, created_at) VALUES (1, 'Merchant 1', 0)`)
		for _, table := range citus.Tables {
			execute(fmt.Sprintf(`SELECT create_distributed_table('%s', '%s')`, table.Name, table.Column))
		}
	}}})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	var batch []order.Incoming
	for i := range 2 {
		batch = append(batch, maintenancetest.Incoming(1, i))
	}
	for _, result := range testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: maintenancetest.Now})).Must(t) {
		testenv.Equal(t, "import", order.Created, result.Status)
	}
	for _, table := range testenv.Of(citus.Distribute(t.Context(), db.SQL())).Must(t).Tables {
		testenv.Equal(t, table.Name+": distributed before", true, table.AlreadyDistributed)
	}
}
