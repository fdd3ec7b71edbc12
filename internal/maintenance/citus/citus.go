// Package citus distributes the tables of a PostgreSQL database over a Citus
// cluster, so that all rows that a merchant's requests need are on one node.
package citus

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/store/sqldb"
)

// Reasons why a database cannot be distributed.
var (
	ErrNoCitus = errors.New("the server has no Citus: install it, name it in shared_preload_libraries and restart the server")
	ErrNoNodes = errors.New("the cluster has no worker: run citus_add_node on the coordinator for each")
)

// Table is a distributed table.
type Table struct {
	Name   string
	Column string // rows with the same value are on the same node
	// AlreadyDistributed is true if the table was distributed before.
	AlreadyDistributed bool
}

// byMerchant is the distribution column of what belongs to a merchant.
const byMerchant = "merchant_id"

// Tables are the tables to distribute. Rows of a merchant are on the node of
// the merchant's own row. Order keys, which are unique in the whole service,
// are distributed by themselves.
//
// The other tables stay on the coordinator: tokens, which are read before the
// merchant is known, sessions and login links, counters, the key of links, the
// version of the schema, and event_feed, which is empty then.
var Tables = []Table{
	{Name: "merchants", Column: "id"},
	{Name: "orders", Column: byMerchant},
	{Name: "order_words", Column: byMerchant},
	{Name: "order_days", Column: byMerchant},
	{Name: "invoices", Column: byMerchant},
	{Name: "events", Column: byMerchant},
	{Name: "idempotency_keys", Column: byMerchant},
	{Name: "audit", Column: byMerchant},
	{Name: "deleted_orders", Column: byMerchant},
	{Name: "webhooks", Column: byMerchant},
	{Name: "webhook_deliveries", Column: byMerchant},
	{Name: "order_keys", Column: "key"},
}

// Result is the state after Distribute.
type Result struct {
	Tables []Table
	Nodes  int // that hold rows
}

// Distribute distributes the tables with their rows over the cluster whose
// coordinator the server is. After an error no table has changed. A table that
// is distributed already stays as it is. Requests that write wait until the rows
// are moved.
//
// It returns sqldb.ErrNotPostgres, ErrNoCitus or ErrNoNodes if there is no cluster, and sqldb.ErrMarketWebhooks.
func Distribute(ctx context.Context, db sqldb.DB) (Result, error) {
	// Moving rows may take longer than the time limits of pooled connections.
	conn, err := db.Conn(ctx)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = conn.Close() }()
	if err := createExtension(ctx, conn); err != nil {
		return Result{}, err
	}
	var result Result
	for range sqldb.MaxTxAttempts {
		result.Tables, err = distributeTables(ctx, conn)
		if err == nil || !db.Retryable(err) {
			break
		}
	}
	if err != nil {
		return Result{}, fmt.Errorf("distribute the tables: %w", err)
	}
	for _, table := range result.Tables {
		if err := truncateLocal(ctx, conn, table.Name); err != nil {
			return Result{}, fmt.Errorf("remove the rows of %s from the coordinator: %w", table.Name, err)
		}
	}
	err = conn.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_dist_node WHERE shouldhaveshards`).Scan(&result.Nodes)
	return result, err
}

// createExtension creates the extension citus unless the database has it.
func createExtension(ctx context.Context, conn *sql.Conn) error {
	var created, available bool
	err := conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'),
		EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus')`).Scan(&created, &available)
	switch {
	case err != nil:
		return fmt.Errorf("look for Citus: %w", err)
	case created:
		return nil
	case !available:
		return ErrNoCitus
	}
	_, err = conn.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS citus`)
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err
	}
	if pgErr.Code == "42501" { // insufficient_privilege
		return fmt.Errorf("have a superuser run CREATE EXTENSION citus: %w", err)
	}
	return fmt.Errorf("%w: %s", ErrNoCitus, pgErr.Message)
}

// distributeTables distributes the tables that are not distributed yet, all or
// none.
func distributeTables(ctx context.Context, conn *sql.Conn) ([]Table, error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	tables, err := readTables(ctx, tx)
	if err != nil || !slices.ContainsFunc(tables, func(t Table) bool { return !t.AlreadyDistributed }) {
		return tables, err
	}
	if err := lockTables(ctx, tx); err != nil {
		return nil, err
	}
	// Another process may have distributed them before the lock.
	if tables, err = readTables(ctx, tx); err != nil {
		return nil, err
	}
	var nodes bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_dist_node WHERE shouldhaveshards)
		OR NOT EXISTS (SELECT FROM pg_dist_node)`).Scan(&nodes); err != nil || !nodes {
		return nil, cmp.Or(err, ErrNoNodes)
	}
	var marketWebhooks bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM webhooks WHERE merchant_id = 0)`).Scan(&marketWebhooks); err != nil || marketWebhooks {
		return nil, cmp.Or(err, sqldb.ErrMarketWebhooks)
	}
	for _, table := range tables {
		if table.AlreadyDistributed {
			continue
		}
		colocateWith := "none"
		if table.Column == byMerchant {
			colocateWith = "merchants"
		}
		if _, err := tx.ExecContext(ctx, `SELECT create_distributed_table(CAST(CAST($1 AS TEXT) AS REGCLASS), $2, colocate_with => $3)`,
			table.Name, table.Column, colocateWith); err != nil {
			return nil, fmt.Errorf("%s: %w", table.Name, err)
		}
	}
	// The servers have no common order of transactions, so there is no feed of all
	// merchants any more, also for instances that were started before.
	if _, err := tx.ExecContext(ctx, `DELETE FROM event_feed`); err != nil {
		return nil, err
	}
	return tables, tx.Commit()
}

// lockTables locks all tables against writers at once: a writer that locked one
// of them meanwhile would be in a deadlock with this transaction.
func lockTables(ctx context.Context, tx *sql.Tx) error {
	names := make([]string, len(Tables))
	for i, table := range Tables {
		names[i] = table.Name
	}
	for _, statement := range []string{
		`SET LOCAL statement_timeout = 0`,
		`SET LOCAL lock_timeout = 0`,
		// In parallel mode Citus refuses a second table in the transaction.
		`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
		`LOCK TABLE ` + strings.Join(names, ", ") + ` IN EXCLUSIVE MODE`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// readTables returns Tables and whether each is distributed.
func readTables(ctx context.Context, tx *sql.Tx) ([]Table, error) {
	tables := slices.Clone(Tables)
	for i := range tables {
		table := &tables[i]
		var column sql.NullString
		err := tx.QueryRowContext(ctx, `SELECT column_to_column_name(logicalrelid, partkey) FROM pg_dist_partition
			WHERE logicalrelid = CAST(CAST($1 AS TEXT) AS REGCLASS)`, table.Name).Scan(&column)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if column.String != table.Column {
			return nil, fmt.Errorf("%s is not distributed by %s: run undistribute_table first", table.Name, table.Column)
		}
		table.AlreadyDistributed = true
	}
	return tables, nil
}

// truncateLocal removes the rows that a table had before it was distributed.
// They stay on the coordinator's disk, invisible.
func truncateLocal(ctx context.Context, conn *sql.Conn, table string) error {
	var size int64
	err := conn.QueryRowContext(ctx, `SELECT pg_relation_size(CAST(CAST($1 AS TEXT) AS REGCLASS))`, table).Scan(&size)
	if err != nil || size == 0 {
		return err
	}
	_, err = conn.ExecContext(ctx, `SELECT truncate_local_data_after_distributing_table(CAST(CAST($1 AS TEXT) AS REGCLASS))`, table)
	return err
}
