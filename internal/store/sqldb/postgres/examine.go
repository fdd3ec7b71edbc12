package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"merchantorders/internal/store/migrations"
)

// Info is what a server tells of itself and of the rights of its user.
type Info struct {
	Version   int       // of the server: 150004 is 15.4
	Name      string    // the same for people
	Now       time.Time // the clock of the server
	ReadOnly  bool      // a standby, or a database that refuses changes
	CanCreate bool      // the user may create tables
	Foreign   []string  // tables that the user may not read, write or migrate
	Schema    migrations.Status
}

// Examine returns what a server tells of itself. It changes nothing.
func Examine(ctx context.Context, url string) (Info, error) {
	config, err := parseURL(url)
	if err != nil {
		return Info{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db := stdlib.OpenDB(*config.ConnConfig)
	defer func() { _ = db.Close() }()
	info, err := examine(ctx, db)
	if err != nil {
		return Info{}, openError(config.ConnConfig, err)
	}
	return info, nil
}

func examine(ctx context.Context, db *sql.DB) (Info, error) {
	var info Info
	var canCreate sql.NullBool // NULL if there is no schema to create tables in
	var clock float64
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		extract(epoch FROM clock_timestamp())::float8,
		pg_is_in_recovery() OR current_setting('transaction_read_only')::bool,
		has_schema_privilege(current_schema(), 'CREATE')`).Scan(&info.Version, &info.Name, &clock, &info.ReadOnly, &canCreate)
	if err != nil {
		return Info{}, err
	}
	info.Now, info.CanCreate = time.UnixMicro(int64(clock*1e6)), canCreate.Bool
	if info.Schema, err = migrations.Postgres.Status(ctx, db); err != nil {
		return Info{}, err
	}
	rows, err := db.QueryContext(ctx, `SELECT relname FROM pg_class
		WHERE relname = ANY($1) AND relkind IN ('r', 'p') AND pg_table_is_visible(oid) AND NOT (
			has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
			AND has_table_privilege(oid, 'DELETE') AND pg_has_role(relowner, 'USAGE'))
		ORDER BY relname`, migrations.Tables)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return Info{}, err
		}
		info.Foreign = append(info.Foreign, name)
	}
	return info, rows.Err()
}
