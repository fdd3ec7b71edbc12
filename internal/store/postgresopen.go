package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
)

const (
	// openLimit bounds the first contact with a server: all its addresses,
	// names looked up and encryption tried.
	openLimit = 8 * time.Second
	// schemaLimit bounds the wait for another instance that is changing the
	// schema.
	schemaLimit = 2 * time.Minute
	// schemaLock is the number of the advisory lock of who changes the schema:
	// any that nothing else on the database uses.
	schemaLock = 0x6f7264657273 // "orders"
)

const postgresMigrations = "migration/postgres"

// errSchemaLocked: see schemaLimit.
var errSchemaLocked = errors.New("another instance is changing the schema, and does not come to an end")

// preparePostgres sees to it that the database can be worked on: it takes
// writes, the schema is up to date, and the role has the rights to use it.
func preparePostgres(ctx context.Context, db *sql.DB) error {
	first, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var readOnly string
	if err := db.QueryRowContext(first, `SHOW transaction_read_only`).Scan(&readOnly); err != nil {
		return err
	}
	if readOnly == "on" {
		return errors.New("it takes no writes: it is a standby, or set to read only")
	}
	if err := notOnWorker(first, db); err != nil {
		return err
	}
	current, err := postgresIsCurrent(first, db)
	if err == nil && !current {
		err = migratePostgres(ctx, db)
	}
	if err != nil {
		return err
	}
	return checkRights(ctx, db)
}

// postgresIsCurrent reports whether there is nothing to migrate. An instance
// that starts then needs no lock, and no right to make tables.
func postgresIsCurrent(ctx context.Context, db *sql.DB) (bool, error) {
	newest, err := newestSchema(postgresMigrations)
	if err != nil {
		return false, err
	}
	var version int64
	err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	var fault *pgconn.PgError
	if errors.As(err, &fault) && fault.Code == "42P01" { // no such table
		return false, nil
	}
	return version == newest, err
}

// migratePostgres brings the schema up to date under an advisory lock, so that
// of instances that start at the same moment one does it and the others wait.
func migratePostgres(ctx context.Context, db *sql.DB) error {
	locker, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = locker.Close() }()
	waiting, cancel := context.WithTimeout(ctx, schemaLimit)
	defer cancel()
	if _, err := locker.ExecContext(waiting, `SELECT pg_advisory_lock($1)`, int64(schemaLock)); err != nil {
		if waiting.Err() != nil && ctx.Err() == nil {
			return errSchemaLocked
		}
		return err
	}
	// The connection that holds the lock is not used again: that lets go of it,
	// whatever the state of the connection is.
	defer func() { _ = locker.Raw(func(any) error { return driver.ErrBadConn }) }()
	return migrate(ctx, db, goose.DialectPostgres, postgresMigrations)
}

// postgresTables are those that the service works on.
var postgresTables = []string{
	"merchants", "tokens", "counters", "order_keys", "orders", "order_days", "invoices", "events",
	"idempotency_keys",
}

// checkRights returns an error that names the tables which the role may not
// use: better told now than by every request.
func checkRights(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	var missing []string
	for _, table := range postgresTables {
		var may bool
		err := db.QueryRowContext(ctx, `SELECT has_table_privilege($1, 'SELECT') AND has_table_privilege($1, 'INSERT')
			AND has_table_privilege($1, 'UPDATE') AND has_table_privilege($1, 'DELETE')`, table).Scan(&may)
		if err != nil {
			return fmt.Errorf("look at the rights to table %s: %w", table, err)
		}
		if !may {
			missing = append(missing, table)
		}
	}
	if len(missing) > 0 {
		return errors.New("the role needs SELECT, INSERT, UPDATE and DELETE on " + strings.Join(missing, ", "))
	}
	var may bool
	err := db.QueryRowContext(ctx, `SELECT has_sequence_privilege('invoice_ids', 'USAGE')`).Scan(&may)
	if err != nil {
		return fmt.Errorf("look at the rights to sequence invoice_ids: %w", err)
	}
	if !may {
		return errors.New("the role needs USAGE on the sequence invoice_ids")
	}
	return nil
}

// postgresReason returns why a database could not be opened in a short form, as
// an operator can read it in one line: the library tells of every address that
// it tried, each in several layers.
func postgresReason(err error) error {
	var fault *pgconn.PgError
	var name *net.DNSError
	var network *net.OpError
	switch {
	case errors.As(err, &fault):
		return fmt.Errorf("%s (SQLSTATE %s)", fault.Message, fault.Code)
	case errors.As(err, &name) && name.IsNotFound:
		return errors.New("no such host")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no answer in time")
	case errors.As(err, &network):
		return network.Err
	}
	return err
}

// address is where a database is, without anything that could be secret.
func address(config *pgx.ConnConfig) string {
	places := []string{hostPort(config.Host, config.Port)}
	for _, other := range config.Fallbacks {
		// Each is there twice where encryption is tried first.
		if next := hostPort(other.Host, other.Port); next != places[len(places)-1] {
			places = append(places, next)
		}
	}
	return strings.Join(places, ", ")
}

func hostPort(host string, port uint16) string {
	if filepath.IsAbs(host) {
		return host // the folder of a socket
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
