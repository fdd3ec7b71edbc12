package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
)

// oldestVersion is the oldest major version of the server that is supported.
const oldestVersion = 15

// info is what a server tells of itself and of the rights of its user.
type info struct {
	version  int       // of the server: 150004 is 15.4
	name     string    // the same for people
	now      time.Time // the clock of the server
	readOnly bool      // a standby, or a database that refuses changes
	standby  bool
	empty    bool     // there are no tables
	migrates bool     // the user may migrate the tables that there are
	foreign  []string // tables, and the sequence, that the user may not use
	hidden   []string // tables of which policies hide rows from the user
	apart    string   // of otherSchema
	full     string   // of fullDisk
	advice   []sqldb.Flaw
}

// Examine returns what a server tells of itself. It changes nothing.
func Examine(ctx context.Context, url string) (sqldb.Examination, error) {
	i, err := read(ctx, url)
	if err != nil {
		return sqldb.Examination{}, err
	}
	found := sqldb.Examination{Product: "PostgreSQL " + i.name, Now: i.now, Rights: "the user may read, change and migrate all tables", Advice: i.advice}
	switch {
	case i.version < oldestVersion*10_000:
		found.Unusable = &sqldb.Flaw{Advice: fmt.Sprintf("the service needs PostgreSQL %d or later", oldestVersion)}
	case i.standby:
		found.Unusable = &sqldb.Flaw{Problem: "accepts no changes", Advice: "name the primary server, not a standby"}
	case i.readOnly:
		found.Unusable = &sqldb.Flaw{Problem: "accepts no changes", Advice: "default_transaction_read_only is on, as providers set it at a full disk: make room, and reset it"}
	case i.full != "":
		found.Unusable = &sqldb.Flaw{Problem: "takes no more rows (" + i.full + ")", Advice: "make room on the disk of the server"}
	}
	switch {
	case i.apart != "":
		found.Lacking = &sqldb.Flaw{Problem: i.apart, Advice: otherSchemaAdvice}
	case len(i.hidden) > 0:
		found.Lacking = &sqldb.Flaw{Problem: hiddenRows(strings.Join(i.hidden, ", ")), Advice: hiddenRowsAdvice}
	case len(i.foreign) > 0:
		found.Lacking = &sqldb.Flaw{
			Problem: "the user may not read and change: " + strings.Join(i.foreign, ", "),
			Advice:  "run ALTER TABLE ... OWNER TO for each as a superuser, or grant SELECT, INSERT, UPDATE and DELETE on tables, and USAGE on a sequence",
		}
	case !i.migrates && i.empty:
		found.Lacking = &sqldb.Flaw{
			Problem: "the user may not create tables",
			Advice:  "run GRANT CREATE ON SCHEMA public as the owner of the database; migrations need it",
		}
	case !i.migrates:
		found.Rights = "the user may read and change all tables; to migrate them is for their owner"
	}
	return found, nil
}

// read connects to a server and examines it.
func read(ctx context.Context, url string) (found info, err error) {
	err = look(ctx, url, func(ctx context.Context, db *sql.DB, config *pgxpool.Config) error {
		_, err := checkNotWorker(ctx, db)
		if err := cmp.Or(checkPooler(ctx, db), err); err != nil {
			return err
		}
		if found, err = examine(ctx, db); err == nil && found.version >= oldestVersion*10_000 {
			found.advice, err = advise(ctx, db, config.MaxConns)
		}
		if err == nil {
			found.apart, err = otherSchema(ctx, db)
		}
		found.full = fullDisk(ctx, db)
		return err
	})
	return found, err
}

// fullDisk returns what a server says whose disk has no room where the database has its tables;
// empty if it has room, or does not tell. A server goes on if the disk of a tablespace is full.
func fullDisk(ctx context.Context, db *sql.DB) string {
	_, err := db.ExecContext(ctx, `SET temp_tablespaces = ''; CREATE TEMP TABLE merchant_orders_room ON COMMIT DROP AS
		SELECT repeat('x', 1000) FROM generate_series(1, 1000)`, pgx.QueryExecModeSimpleProtocol)
	if full := new(pgconn.PgError); errors.As(err, &full) && full.Code == diskFull {
		return full.Message
	}
	return ""
}

// look calls fn with a connection that changes nothing, also to a server that takes no
// changes if there is no other.
func look(ctx context.Context, url string, fn func(context.Context, *sql.DB, *pgxpool.Config) error) error {
	config, err := parseURL(url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db := stdlib.OpenDB(*config.ConnConfig)
	if err := db.PingContext(ctx); errors.Is(err, errReadOnly) {
		_ = db.Close()
		config.ConnConfig.ValidateConnect = nil
		db = stdlib.OpenDB(*config.ConnConfig)
	}
	defer func() { _ = db.Close() }()
	if err := fn(ctx, db, config); err != nil {
		return openError(config.ConnConfig, err)
	}
	return nil
}

// advise returns what is to be said of the settings of a server, a database and a role.
// conns is the most connections of an instance.
func advise(ctx context.Context, db *sql.DB, conns int32) (advice []sqldb.Flaw, err error) {
	limits := []struct {
		most       int32
		whose, how string
	}{
		{whose: "the role", how: "ALTER ROLE ... CONNECTION LIMIT"}, {whose: "the database", how: "ALTER DATABASE ... CONNECTION LIMIT"},
		{whose: "the server", how: "max_connections"},
	}
	var encoding, isolation, commit, fsync, pages, collation, standby string
	err = db.QueryRowContext(ctx, `SELECT CASE WHEN rolsuper THEN -1 ELSE rolconnlimit END, CASE WHEN rolsuper THEN -1 ELSE datconnlimit END,
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
				- COALESCE(current_setting('reserved_connections', true)::int, 0),
			current_setting('server_encoding'), (SELECT reset_val FROM pg_settings WHERE name = $1),
			CASE current_setting('synchronous_commit') WHEN 'off' THEN 'off' ELSE 'on' END, current_setting('fsync'), current_setting('full_page_writes'),
			CASE WHEN datcollversion <> COALESCE(pg_database_collation_actual_version(pg_database.oid), '') THEN 'old' ELSE '' END,
			CASE WHEN current_setting('synchronous_standby_names') <> '' AND NOT EXISTS (SELECT FROM pg_stat_replication) THEN 'missing' ELSE '' END
		FROM pg_roles, pg_database WHERE rolname = session_user AND datname = current_database()`, isolationParameter).
		Scan(&limits[0].most, &limits[1].most, &limits[2].most, &encoding, &isolation, &commit, &fsync, &pages, &collation, &standby)
	if err != nil {
		return nil, err
	}
	for _, l := range limits {
		if l.most >= 0 && l.most < conns {
			advice = append(advice, sqldb.Flaw{
				Problem: fmt.Sprintf("%s may have %d connections, and an instance opens up to %d", l.whose, l.most, conns),
				Advice:  fmt.Sprintf("raise it with %s, or set %s in the URL to less for each instance", l.how, poolSizeParameter),
			})
		}
	}
	const durable = "turn it on: otherwise a crash can lose changes that were acknowledged"
	for _, setting := range []struct{ name, value, want, advice string }{
		{"the encoding", encoding, "UTF8", utf8Advice + ": others lack characters, or check none"},
		{"synchronous_commit", commit, "on", durable},
		{"fsync", fsync, "on", durable},
		{"full_page_writes", pages, "on", durable},
		{isolationParameter, isolation, "read committed", "reset it if other programs change this database: the service itself uses read committed"},
		{"the collation version of the database", collation, "", "run REINDEX DATABASE, then ALTER DATABASE ... REFRESH COLLATION VERSION: the operating system sorts texts in another way than when the indexes were built, so texts may not be found, or be stored twice"},
		{"the standby of synchronous_standby_names", standby, "", "start it, or change the setting: no change is acknowledged before"},
	} {
		if setting.value != setting.want {
			advice = append(advice, sqldb.Flaw{Problem: setting.name + " is " + setting.value, Advice: setting.advice})
		}
	}
	return advice, nil
}

func examine(ctx context.Context, db *sql.DB) (info, error) {
	var found info
	var canCreate sql.NullBool // NULL if there is no schema to create tables in
	var clock float64
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		extract(epoch FROM clock_timestamp())::float8,
		pg_is_in_recovery(), current_setting('transaction_read_only')::bool,
		has_schema_privilege(current_schema(), 'CREATE')`).Scan(&found.version, &found.name, &clock, &found.standby, &found.readOnly, &canCreate)
	if err != nil {
		return info{}, err
	}
	found.now, found.migrates, found.empty = time.UnixMicro(int64(clock*1e6)), canCreate.Bool, true
	rows, err := db.QueryContext(ctx, `SELECT relname, row_security_active(oid), pg_has_role(relowner, 'USAGE'), CASE relkind
			WHEN 'S' THEN NOT has_sequence_privilege(oid, 'USAGE')
			ELSE NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
				AND has_table_privilege(oid, 'DELETE')) END FROM pg_class
		WHERE relname = ANY($1) AND relkind IN ('r', 'p', 'S') AND pg_table_is_visible(oid)
		ORDER BY relname`, append(slices.Clone(migrations.Tables), migrations.InvoiceIDs))
	if err != nil {
		return info{}, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var hidden, owned, foreign bool
		if err := rows.Scan(&name, &hidden, &owned, &foreign); err != nil {
			return info{}, err
		}
		found.empty, found.migrates = false, found.migrates && owned
		if hidden {
			found.hidden = append(found.hidden, name)
		}
		if foreign {
			found.foreign = append(found.foreign, name)
		}
	}
	return found, rows.Err()
}
