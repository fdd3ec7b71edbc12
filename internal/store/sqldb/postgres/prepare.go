package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/store/migrations"
)

const (
	// openTimeout limits the first contact with a server: all its addresses, name
	// resolution and TLS included.
	openTimeout = 8 * time.Second
	// schemaTimeout limits the wait for another instance that migrates the schema.
	schemaTimeout = 2 * time.Minute
	// schemaLock is the number of the advisory lock of the instance that migrates:
	// any number that nothing else on the database uses.
	schemaLock = 0x6f7264657273 // "orders"
)

// Reasons why a database cannot be used.
var (
	errSchemaLocked = errors.New("another instance is migrating the schema and has not finished; find out what it is doing, then start again")
	errReadOnly     = errors.New("it is read-only: a standby, or set to read-only")
	errOnWorker     = errors.New("it is a worker of a cluster: give the address of the coordinator")
)

// prepare checks that the database takes writes and that the role has all
// rights, and brings the schema up to date.
func prepare(ctx context.Context, db *sql.DB) error {
	first, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var readOnly string
	if err := db.QueryRowContext(first, `SHOW transaction_read_only`).Scan(&readOnly); err != nil {
		return err
	}
	if readOnly == "on" {
		return errReadOnly
	}
	if err := checkNotWorker(first, db); err != nil {
		return err
	}
	current, err := schemaIsCurrent(first, db)
	if err == nil && !current {
		err = migrate(ctx, db)
	}
	if err != nil {
		return err
	}
	return checkRights(ctx, db)
}

// checkNotWorker returns errOnWorker for a worker of a Citus cluster. Tables
// created there would conflict with those that the coordinator creates.
func checkNotWorker(ctx context.Context, db *sql.DB) error {
	var clustered bool
	err := db.QueryRowContext(ctx, `SELECT to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL`).Scan(&clustered)
	if err != nil || !clustered {
		return err
	}
	var group int64
	if err := db.QueryRowContext(ctx, `SELECT groupid FROM pg_dist_local_group`).Scan(&group); err != nil {
		return fmt.Errorf("read the node's role in the cluster: %w", err)
	}
	if group != 0 {
		return errOnWorker
	}
	return nil
}

// schemaIsCurrent reports whether there is nothing to migrate. Then an instance
// needs no lock and no right to create tables.
func schemaIsCurrent(ctx context.Context, db *sql.DB) (bool, error) {
	newest, err := migrations.Postgres.Newest()
	if err != nil {
		return false, err
	}
	var version int64
	err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	var pgError *pgconn.PgError
	if errors.As(err, &pgError) && pgError.Code == undefinedTable {
		return false, nil
	}
	return version == newest, err
}

// migrate brings the schema up to date under an advisory lock: of instances that
// start at the same time one migrates and the others wait.
func migrate(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	waiting, cancel := context.WithTimeout(ctx, schemaTimeout)
	defer cancel()
	if _, err := conn.ExecContext(waiting, `SELECT pg_advisory_lock($1)`, int64(schemaLock)); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return errSchemaLocked
		}
		return err
	}
	// Ending the connection releases the lock, whatever state it is in.
	defer discard(conn)
	return migrations.Postgres.Up(ctx, db)
}

// discard ends a connection instead of giving it back to its pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}

// checkRights returns an error that names the tables which the role may not use,
// so that the operator learns it at the start and not from failing requests.
func checkRights(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var missing []string
	for _, table := range migrations.Tables {
		var granted bool
		err := db.QueryRowContext(ctx, `SELECT has_table_privilege($1, 'SELECT') AND has_table_privilege($1, 'INSERT')
			AND has_table_privilege($1, 'UPDATE') AND has_table_privilege($1, 'DELETE')`, table).Scan(&granted)
		if err != nil {
			return fmt.Errorf("read the rights on table %s: %w", table, err)
		}
		if !granted {
			missing = append(missing, table)
		}
	}
	if len(missing) > 0 {
		return errors.New("the role needs SELECT, INSERT, UPDATE and DELETE on " + strings.Join(missing, ", "))
	}
	var granted bool
	err := db.QueryRowContext(ctx, `SELECT has_sequence_privilege($1, 'USAGE')`, migrations.InvoiceIDs).Scan(&granted)
	if err != nil {
		return fmt.Errorf("read the rights on sequence %s: %w", migrations.InvoiceIDs, err)
	}
	if !granted {
		return errors.New("the role needs USAGE on the sequence " + migrations.InvoiceIDs)
	}
	return nil
}
