package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"merchantorders/internal/store/migrations"
)

const (
	// openTimeout limits the first contact with a server: all its addresses, name
	// resolution and TLS included.
	openTimeout = 8 * time.Second
	// schemaTimeout limits the wait for another instance that migrates the schema.
	schemaTimeout = 2 * time.Minute
	// copyLockTimeout limits the wait for a lock that may belong to a process that
	// was killed: the server notices that after a moment.
	copyLockTimeout = 3 * time.Second

	// Numbers of advisory locks, of the instance that migrates and of copies: any
	// that nothing else on the database uses.
	schemaLock = 0x6f7264657273 // "orders"
	copyLock   = 0x636f7079     // "copy"
)

// Reasons why a database cannot be used.
var (
	errSchemaLocked = errors.New("another instance is migrating the schema and has not finished; find out what it is doing, then start again")
	errPooler       = errors.New("a pooler gives each transaction any of its connections: set pool_mode = session in PgBouncer, or give the address of the server; the service has a pool of its own (" + poolSizeParameter + ")")
	errReadOnly     = errors.New("it is read-only: a standby, or set to read-only")
	errOnWorker     = errors.New("it is a worker of a cluster: give the address of the coordinator")
)

// prepare checks that the database takes writes and that the role has all
// rights, and brings the schema up to date as far as the options allow. cluster reports
// whether the database is that of a Citus cluster.
func prepare(ctx context.Context, db *sql.DB, options migrations.Options) (cluster bool, err error) {
	first, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := checkPooler(first, db); err != nil {
		return false, err
	}
	var readOnly string
	if err := db.QueryRowContext(first, `SHOW transaction_read_only`).Scan(&readOnly); err != nil {
		return false, err
	}
	if readOnly == "on" {
		return false, errReadOnly
	}
	if cluster, err = checkNotWorker(first, db); err != nil {
		return false, err
	}
	// An instance that has nothing to change needs no lock and no right to create
	// tables.
	change, err := migrations.Postgres.Check(first, db, options)
	if change || errors.Is(err, migrations.ErrNoSchema) {
		problem, schemaErr := otherSchema(first, db)
		if problem != "" {
			schemaErr = errors.New(problem + ": " + otherSchemaAdvice)
		}
		err = cmp.Or(schemaErr, err)
	}
	if err == nil && change {
		err = migrate(ctx, db, cluster, options)
	}
	if err != nil {
		return false, err
	}
	return cluster, checkRights(ctx, db)
}

// poolerChecks is how often checkPooler looks: a pooler need not use the same connection
// again at once.
const poolerChecks = 3

// checkPooler returns errPooler if two connections at a time are one of the server. Then
// the statements that one has prepared, and the locks that it holds, are another's.
func checkPooler(ctx context.Context, db *sql.DB) error {
	var conns [2]*sql.Conn
	for i := range conns {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		conns[i] = conn
	}
	for range poolerChecks {
		var backends [2]string
		for i, conn := range conns {
			// Not prepared, so that it works behind every pooler.
			err := conn.QueryRowContext(ctx, `SELECT concat_ws(' ', pid, backend_start, inet_server_addr()) FROM pg_stat_activity
				WHERE pid = pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&backends[i])
			if err != nil {
				return err
			}
		}
		if backends[0] == backends[1] {
			return errPooler
		}
	}
	return nil
}

// checkNotWorker reports whether the database is that of a Citus cluster. It returns
// errOnWorker for a worker of a cluster: tables created there would conflict with those
// that the coordinator creates.
func checkNotWorker(ctx context.Context, db *sql.DB) (cluster bool, err error) {
	err = db.QueryRowContext(ctx, `SELECT to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL`).Scan(&cluster)
	if err != nil || !cluster {
		return false, err
	}
	var group int64
	if err := db.QueryRowContext(ctx, `SELECT groupid FROM pg_dist_local_group`).Scan(&group); err != nil {
		return false, fmt.Errorf("read the node's role in the cluster: %w", err)
	}
	if group != 0 {
		return false, errOnWorker
	}
	return true, nil
}

// otherSchema returns a problem if an installation has its tables in another schema than the one
// where the role makes new ones: a role that does not see them would make a second installation,
// unless the URL names its schema, and one that does would spread them over two.
func otherSchema(ctx context.Context, db *sql.DB) (problem string, err error) {
	err = db.QueryRowContext(ctx, `SELECT COALESCE('the tables are in the schema ' || string_agg(nspname, ', ')
			|| ', and the role makes new ones in ' || COALESCE(current_schema(), 'none'), '')
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'order_words' AND relkind IN ('r', 'p')
		HAVING NOT bool_or(nspname = COALESCE(current_schema(), '')) AND (to_regclass('order_words') IS NOT NULL
			OR current_schema() IS NULL OR (SELECT source FROM pg_settings WHERE name = 'search_path') <> 'client')`).Scan(&problem)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return problem, err
}

const otherSchemaAdvice = "add search_path=SCHEMA to the URL, and let the role use that schema; a second installation in this database needs its own there"

// migrate brings the schema up to date under an advisory lock: of instances that
// start at the same time one migrates and the others wait.
func migrate(ctx context.Context, db *sql.DB, cluster bool, options migrations.Options) error {
	lock, err := advisoryLock(ctx, db, "pg_try_advisory_lock", schemaLock, schemaTimeout)
	if errors.Is(err, errLockTaken) {
		return errSchemaLocked
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if !cluster { // a lock of many nodes takes long
		if err := awaitTables(ctx, db); err != nil {
			return err
		}
	}
	if err := dropUnfinished(ctx, db); err != nil {
		return err
	}
	return migrations.Postgres.Up(ctx, db, options)
}

// dropUnfinished drops the indexes that a killed step has left, which no query uses, and which
// the step would take for its own when it runs again.
func dropUnfinished(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT CAST(CAST(indexrelid AS regclass) AS TEXT) FROM pg_index JOIN pg_class c ON c.oid = indrelid
		WHERE NOT indisvalid AND relname = ANY ($1) AND pg_table_is_visible(c.oid)
			AND indexrelid NOT IN (SELECT index_relid FROM pg_stat_progress_create_index)`, migrations.Tables)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var drop []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		drop = append(drop, "DROP INDEX CONCURRENTLY "+name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, text := range drop {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

const (
	// tablesTimeout limits the wait for transactions that hold tables, and tableTimeout each
	// attempt to lock one, behind which requests wait.
	tablesTimeout  = time.Minute
	tableTimeout   = "300ms"
	tablesInterval = time.Second
)

// awaitTables waits until no transaction holds a table, as that of pg_dump or of a forgotten
// psql does. A step would wait for its end, and all requests behind the step.
func awaitTables(ctx context.Context, db *sql.DB) error {
	for end := time.Now().Add(tablesTimeout); ; {
		var table string
		var err error
		for _, table = range migrations.Tables {
			_, err = db.ExecContext(ctx, fmt.Sprintf(`DO $$ BEGIN
				IF to_regclass('%[1]s') IS NOT NULL THEN
					SET LOCAL lock_timeout = '%[2]s';
					LOCK TABLE %[1]s IN ACCESS EXCLUSIVE MODE;
				END IF;
			END $$`, table, tableTimeout))
			if err != nil {
				break
			}
		}
		if !hasCode(err, lockNotAvailable) {
			return err
		}
		if time.Now().After(end) {
			return holds(ctx, db, table)
		}
		select {
		case <-time.After(tablesInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// holds returns an error that names who holds a table.
func holds(ctx context.Context, db *sql.DB, table string) error {
	var who string
	err := db.QueryRowContext(ctx, `SELECT COALESCE(string_agg(DISTINCT concat_ws(' ', 'process', pid, application_name), ', '), 'somebody')
		FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE relation = to_regclass($1) AND granted AND pid <> pg_backend_pid()`, table).Scan(&who)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s holds the table %s: wait for the end of its transaction, or end it, then start again; requests would wait behind the migration", who, table)
}

// errLockTaken means that another one held an advisory lock for too long.
var errLockTaken = errors.New("the advisory lock is taken")

// lockInterval is how often a lock is tried again.
const lockInterval = 50 * time.Millisecond

// advisoryLock takes an advisory lock, which the result holds until it is closed.
// It returns errLockTaken after the timeout. It tries again and again: a statement that
// waited for the lock would have a snapshot, for whose end an index that the holder of the
// lock creates CONCURRENTLY would wait.
func advisoryLock(ctx context.Context, db *sql.DB, function string, number int64, timeout time.Duration) (io.Closer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	lock := connLock{conn}
	err = lock.take(ctx, function, number, timeout)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// take is advisoryLock on a connection.
func (l connLock) take(ctx context.Context, function string, number int64, timeout time.Duration) error {
	retry := time.NewTicker(lockInterval)
	defer retry.Stop()
	for over := time.After(timeout); ; {
		var taken bool
		if err := l.QueryRowContext(ctx, `SELECT `+function+`($1)`, number).Scan(&taken); err != nil || taken {
			return err
		}
		select {
		case <-retry.C:
		case <-over:
			return errLockTaken
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// connLock is a connection that holds an advisory lock.
type connLock struct{ *sql.Conn }

// Close releases the lock and ends the connection instead of giving it back to
// its pool. Ending it alone would release the lock a little later.
func (l connLock) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), copyLockTimeout)
	defer cancel()
	_, _ = l.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`)
	_ = l.Raw(func(any) error { return driver.ErrBadConn })
	return nil
}

// checkRights returns an error that names the tables which the role may not use,
// so that the operator learns it at the start and not from failing requests.
func checkRights(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	var missing, hidden string
	var usage bool
	err := db.QueryRowContext(ctx, `SELECT COALESCE(string_agg(name, ', ' ORDER BY n) FILTER (
			WHERE NOT (has_table_privilege(name, 'SELECT') AND has_table_privilege(name, 'INSERT')
				AND has_table_privilege(name, 'UPDATE') AND has_table_privilege(name, 'DELETE'))), ''),
			COALESCE(string_agg(name, ', ' ORDER BY n) FILTER (WHERE row_security_active(name)), ''), has_sequence_privilege($2, 'USAGE')
		FROM unnest(string_to_array($1, ' ')) WITH ORDINALITY t (name, n)`,
		strings.Join(migrations.Tables, " "), migrations.InvoiceIDs).Scan(&missing, &hidden, &usage)
	switch {
	case err != nil:
		return fmt.Errorf("read the rights of the role: %w", err)
	case missing != "":
		return errors.New("the role needs SELECT, INSERT, UPDATE and DELETE on " + missing)
	case hidden != "":
		return errors.New(hiddenRows(hidden) + "; " + hiddenRowsAdvice)
	case !usage:
		return errors.New("the role needs USAGE on the sequence " + migrations.InvoiceIDs)
	}
	return nil
}

// hiddenRows says that policies apply to tables.
func hiddenRows(tables string) string { return "row security hides rows of " + tables }

const hiddenRowsAdvice = "run ALTER TABLE ... DISABLE ROW LEVEL SECURITY for each, or ALTER ROLE ... BYPASSRLS"
