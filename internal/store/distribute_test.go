package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/storetest"
)

func TestDistributeWithoutCluster(t *testing.T) {
	t.Parallel()
	_, err := openTest(t, filepath.Join(t.TempDir(), "orders.db")).Distribute(t.Context())
	if !errors.Is(err, ErrNotClustered) {
		t.Errorf("SQLite: %v", err)
	}
	if pgtest.Distributed(t) {
		return
	}
	db := openPostgresTest(t, pgtest.Database(t))
	if _, err := db.Distribute(t.Context()); !errors.Is(err, ErrNoCitus) {
		t.Errorf("PostgreSQL: %v", err)
	}
}

// needCluster skips a test where there is no cluster to run it on. There is no
// package to install one from.
func needCluster(t *testing.T) {
	t.Helper()
	if !pgtest.Distributed(t) {
		t.Skip("needs a Citus cluster: " + pgtest.Variable + " must name its coordinator")
	}
}

func openPostgresTest(t testing.TB, url string) *DB {
	t.Helper()
	db, err := OpenPostgres(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return db
}

// TestDistributeFilled spreads a database that is in use, and spreads it again.
func TestDistributeFilled(t *testing.T) {
	t.Parallel()
	needCluster(t)
	url := pgtest.Empty(t)
	db := openPostgresTest(t, url)
	for id := range int64(5) {
		if err := addTestMerchant(t.Context(), db, 1+id); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ImportOrders(t.Context(), testBatch(1+id, fmt.Sprintf("M%d", id), 20), testTime); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	moving := make(chan error)
	go func() { moving <- moveUntil(ctx, db) }()
	for i, before := range []bool{false, true} {
		done, err := openPostgresTest(t, url).Distribute(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := Distribution{Nodes: done.Nodes}
		for _, table := range spreads {
			table.Before = before
			want.Tables = append(want.Tables, table)
		}
		if diff := cmp.Diff(want, done); diff != "" || done.Nodes == 0 {
			t.Errorf("run %d, %d nodes (-want +got):\n%s", i+1, done.Nodes, diff)
		}
	}
	stop()
	if err := <-moving; err != nil {
		t.Errorf("a move meanwhile: %v", err)
	}
	storetest.CheckTables(t, postgresURL(url).SQL(t))
	for _, table := range spreads {
		var bytes int64
		if err := db.sql.QueryRow(t.Context(), `SELECT pg_relation_size($1)`, []any{table.Table}, &bytes); err != nil || bytes > 0 {
			t.Errorf("%s: %d bytes are left on the coordinator: %v", table.Table, bytes, err)
		}
	}
}

// moveUntil moves orders to and fro until ctx ends.
func moveUntil(ctx context.Context, db *DB) error {
	for i := int64(0); ctx.Err() == nil; i++ {
		merchant := 1 + i%5
		number := 20*(merchant-1) + 1 + i/5%20
		to := []order.State{order.Canceled, order.Registered}[i/100%2]
		// The last one shall be done too.
		if err := moveTest(context.WithoutCancel(ctx), db, merchant, number, to); err != nil {
			return err
		}
	}
	return nil
}

// TestMigrateDistributed: a later version's schema change reaches every node.
func TestMigrateDistributed(t *testing.T) {
	t.Parallel()
	needCluster(t)
	db := openPostgresTest(t, pgtest.Database(t))
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	// As goose does it: one transaction for each step.
	conn, err := db.sql.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	tx, err := conn.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	for _, text := range []string{
		`ALTER TABLE merchants ADD COLUMN later TEXT`,
		`ALTER TABLE orders ADD COLUMN later BIGINT NOT NULL DEFAULT 7`,
		`CREATE INDEX orders_later ON orders (merchant_id, later)`,
		`CREATE TABLE later (merchant_id BIGINT NOT NULL PRIMARY KEY)`,
		`UPDATE merchants SET later = 'x' WHERE later IS NULL`,
	} {
		if _, err := tx.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var later string
	if err := db.sql.QueryRow(t.Context(), `SELECT later FROM merchants WHERE id = 1`, nil, &later); err != nil || later != "x" {
		t.Errorf("got %q, %v", later, err)
	}
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", 2), testTime); err != nil {
		t.Error(err)
	}
}
