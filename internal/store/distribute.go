package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/store/sqldb"
)

// Why a database cannot be spread over a cluster.
var (
	ErrNotClustered = errors.New("only a PostgreSQL database can be spread over a cluster")
	ErrNoCitus      = errors.New("the server has no Citus: install it, name it in shared_preload_libraries and restart the server")
)

// Spread says how the rows of a table are spread over a cluster.
type Spread struct {
	Table  string
	Column string // rows with the same value of it are on one node
	Before bool   // the table was spread already, nothing was done
}

// byMerchant is the column by which what belongs to a merchant is spread.
const byMerchant = "merchant_id"

// spreads are the tables that are spread. Whatever a merchant's requests need
// is on the merchant's node, beside the merchant's own row. Keys that are
// unique in the whole service stand wherever their text leads.
//
// What is not in the list stays on the coordinator: tokens, which every request
// reads whoever's it is, counters, the sequence of invoice ids and the schema's
// version.
var spreads = []Spread{
	{Table: "merchants", Column: "id"},
	{Table: "orders", Column: byMerchant},
	{Table: "order_days", Column: byMerchant},
	{Table: "invoices", Column: byMerchant},
	{Table: "events", Column: byMerchant},
	{Table: "idempotency_keys", Column: byMerchant},
	{Table: "order_keys", Column: "key"},
}

// Distribution is what Distribute did.
type Distribution struct {
	Tables []Spread
	Nodes  int // that have rows
}

// Distribute spreads the tables over the cluster of which the server is the
// coordinator, with the rows that they have. All are spread or, after an
// error, none. Done again it does nothing. Requests that write wait while rows
// are on their way.
//
// It returns ErrNotClustered or ErrNoCitus where there is no cluster to spread
// them over.
func (db *DB) Distribute(ctx context.Context) (Distribution, error) {
	if !db.dialect.Clustered {
		return Distribution{}, ErrNotClustered
	}
	// Rows may be on their way for longer than a request may wait.
	connection, err := db.sql.Conn(ctx)
	if err != nil {
		return Distribution{}, db.wrap(err)
	}
	defer func() { _ = connection.Close() }()
	c := cluster{connection}
	if err := c.prepare(ctx); err != nil {
		return Distribution{}, db.wrap(err)
	}
	var done Distribution
	for range sqldb.MaxTxAttempts {
		done.Tables, err = c.spreadAll(ctx)
		if err == nil || !db.sql.Retryable(err) {
			break
		}
	}
	if err != nil {
		return Distribution{}, db.wrap(fmt.Errorf("spread the tables: %w", err))
	}
	for _, spread := range done.Tables {
		if err := c.emptyLocal(ctx, spread.Table); err != nil {
			return Distribution{}, db.wrap(fmt.Errorf("remove the rows of %s that were moved: %w", spread.Table, err))
		}
	}
	err = c.QueryRowContext(ctx, `SELECT COUNT(*) FROM pg_dist_node WHERE shouldhaveshards`).Scan(&done.Nodes)
	return done, db.wrap(err)
}

// cluster is a connection to what is to be its coordinator.
type cluster struct{ *sql.Conn }

// prepare sees to it that the database has the extension.
func (c cluster) prepare(ctx context.Context) error {
	var there, available bool
	err := c.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus'),
		EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citus')`).Scan(&there, &available)
	switch {
	case err != nil:
		return fmt.Errorf("look for Citus: %w", err)
	case there:
		return nil
	case !available:
		return ErrNoCitus
	}
	_, err = c.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS citus`)
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return err
	}
	if fault.Code == "42501" {
		return fmt.Errorf("have a superuser run CREATE EXTENSION citus: %w", err)
	}
	return fmt.Errorf("%w: %s", ErrNoCitus, fault.Message)
}

// spreadAll spreads the tables that are not yet, all of them or none.
func (c cluster) spreadAll(ctx context.Context) ([]Spread, error) {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	tables, err := spreadBefore(ctx, tx)
	if err != nil || !slices.ContainsFunc(tables, isNew) {
		return tables, err
	}
	if err := lockAll(ctx, tx); err != nil {
		return nil, err
	}
	if tables, err = spreadBefore(ctx, tx); err != nil {
		return nil, err
	}
	for _, table := range tables {
		if !isNew(table) {
			continue
		}
		with := "none"
		if table.Column == byMerchant {
			with = spreads[0].Table
		}
		if _, err := tx.ExecContext(ctx, `SELECT create_distributed_table(CAST(CAST($1 AS TEXT) AS REGCLASS), $2, colocate_with => $3)`,
			table.Table, table.Column, with); err != nil {
			return nil, fmt.Errorf("%s: %w", table.Table, err)
		}
	}
	return tables, tx.Commit()
}

func isNew(table Spread) bool { return !table.Before }

// lockAll keeps writers out of all tables from the start: met half-way, each
// would wait for the other. Whoever else spreads them has to wait as well.
func lockAll(ctx context.Context, tx *sql.Tx) error {
	names := make([]string, len(spreads))
	for i, table := range spreads {
		names[i] = table.Table
	}
	for _, text := range []string{
		`SET LOCAL statement_timeout = 0`,
		`SET LOCAL lock_timeout = 0`,
		// Else a table is refused after the rows of another in one transaction.
		`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
		`LOCK TABLE ` + strings.Join(names, ", ") + ` IN EXCLUSIVE MODE`,
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// spreadBefore returns the tables with whether they are spread already.
func spreadBefore(ctx context.Context, tx *sql.Tx) ([]Spread, error) {
	found := slices.Clone(spreads)
	for i := range found {
		want := &found[i]
		var column sql.NullString
		err := tx.QueryRowContext(ctx, `SELECT column_to_column_name(logicalrelid, partkey) FROM pg_dist_partition
			WHERE logicalrelid = CAST(CAST($1 AS TEXT) AS REGCLASS)`, want.Table).Scan(&column)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if column.String != want.Column {
			return nil, fmt.Errorf("%s is spread in another way: undo that with undistribute_table", want.Table)
		}
		want.Before = true
	}
	return found, nil
}

// emptyLocal frees the disk of the rows that a table had before it was spread.
// They still lie where they were, out of sight.
func (c cluster) emptyLocal(ctx context.Context, table string) error {
	var bytes int64
	err := c.QueryRowContext(ctx, `SELECT pg_relation_size(CAST(CAST($1 AS TEXT) AS REGCLASS))`, table).Scan(&bytes)
	if err != nil || bytes == 0 {
		return err
	}
	_, err = c.ExecContext(ctx, `SELECT truncate_local_data_after_distributing_table(CAST(CAST($1 AS TEXT) AS REGCLASS))`, table)
	return err
}
