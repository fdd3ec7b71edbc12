package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
)

// oldestVersion is the oldest major version of the server that is supported.
const oldestVersion = 15

// info is what a server tells of itself and of the rights of its user.
type info struct {
	version   int       // of the server: 150004 is 15.4
	name      string    // the same for people
	now       time.Time // the clock of the server
	readOnly  bool      // a standby, or a database that refuses changes
	canCreate bool      // the user may create tables
	foreign   []string  // tables that the user may not read, write or migrate
}

// Examine returns what a server tells of itself. It changes nothing.
func Examine(ctx context.Context, url string) (sqldb.Examination, error) {
	i, err := read(ctx, url)
	if err != nil {
		return sqldb.Examination{}, err
	}
	found := sqldb.Examination{Product: "PostgreSQL " + i.name, Now: i.now, Rights: "the user may read, change and migrate all tables"}
	switch {
	case i.version < oldestVersion*10_000:
		found.Unusable = &sqldb.Flaw{Advice: fmt.Sprintf("the service needs PostgreSQL %d or later", oldestVersion)}
	case i.readOnly:
		found.Unusable = &sqldb.Flaw{Problem: "accepts no changes", Advice: "name the primary server, not a standby"}
	}
	switch {
	case len(i.foreign) > 0:
		found.Lacking = &sqldb.Flaw{
			Problem: "the user does not own, or may not read and change: " + strings.Join(i.foreign, ", "),
			Advice:  "run ALTER TABLE ... OWNER TO for each as a superuser",
		}
	case !i.canCreate:
		found.Lacking = &sqldb.Flaw{
			Problem: "the user may not create tables",
			Advice:  "run GRANT CREATE ON SCHEMA public as the owner of the database; migrations need it",
		}
	}
	return found, nil
}

// read connects to a server and examines it.
func read(ctx context.Context, url string) (info, error) {
	config, err := parseURL(url)
	if err != nil {
		return info{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db := stdlib.OpenDB(*config.ConnConfig)
	defer func() { _ = db.Close() }()
	found, err := examine(ctx, db)
	if err != nil {
		return info{}, openError(config.ConnConfig, err)
	}
	return found, nil
}

func examine(ctx context.Context, db *sql.DB) (info, error) {
	var found info
	var canCreate sql.NullBool // NULL if there is no schema to create tables in
	var clock float64
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		extract(epoch FROM clock_timestamp())::float8,
		pg_is_in_recovery() OR current_setting('transaction_read_only')::bool,
		has_schema_privilege(current_schema(), 'CREATE')`).Scan(&found.version, &found.name, &clock, &found.readOnly, &canCreate)
	if err != nil {
		return info{}, err
	}
	found.now, found.canCreate = time.UnixMicro(int64(clock*1e6)), canCreate.Bool
	rows, err := db.QueryContext(ctx, `SELECT relname FROM pg_class
		WHERE relname = ANY($1) AND relkind IN ('r', 'p') AND pg_table_is_visible(oid) AND NOT (
			has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
			AND has_table_privilege(oid, 'DELETE') AND pg_has_role(relowner, 'USAGE'))
		ORDER BY relname`, migrations.Tables)
	if err != nil {
		return info{}, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return info{}, err
		}
		found.foreign = append(found.foreign, name)
	}
	return found, rows.Err()
}
