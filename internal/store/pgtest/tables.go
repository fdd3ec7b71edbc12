package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"merchantorders/internal/testenv"
)

// tables is what the set-up of a package left in a new database. To restore it after a
// test takes a fraction of the time of creating the tables again.
type tables struct {
	shape     string            // see shapeOf
	rows      map[string]string // by table, its rows as a JSON array; tables without rows are absent
	sequences map[string]sequence
}

type sequence struct {
	last   int64
	called bool // last was given out
}

// withTables returns the URL of a database with the tables that setUp creates. Its
// tables are restored and used again after the test, unless the test changed more than
// their rows.
func (s *Server) withTables(t testing.TB, setUp func(ctx context.Context, url string) error) string {
	t.Helper()
	ready, found := takeLast(s, &s.ready)
	if !found {
		name, err := s.takeDatabase()
		if err == nil {
			err = setUp(t.Context(), s.URL(name))
		}
		ready.name = name
		if err == nil {
			err = s.connect(name, ready.read)
		}
		testenv.NoError(t, err)
	}
	s.keep(t, ready)
	return s.URL(ready.name)
}

// ready is a database whose tables are as after their creation.
type ready struct {
	name string
	tables
}

// keep puts a database back when a test ends.
func (s *Server) keep(t testing.TB, r ready) {
	t.Cleanup(func() {
		if s.connect(r.name, r.restore) == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.ready = append(s.ready, r)
			return
		}
		s.release(r.name)
	})
}

// shapeOf is a query for a fingerprint of everything but rows that a test may change:
// tables, columns, indexes, constraints, triggers, functions, schemas, extensions and
// settings of the database.
const shapeOf = `SELECT md5(string_agg(line, chr(10) ORDER BY line)) FROM (
	SELECT concat_ws(' ', relname, relkind, relpersistence, relowner, relacl, reloptions) AS line FROM pg_class WHERE relnamespace = 'public'::regnamespace
	UNION ALL SELECT concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull, a.atthasdef, a.attidentity, a.attacl)
		FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
	UNION ALL SELECT concat_ws(' ', indexrelid::regclass, indisvalid, pg_get_indexdef(indexrelid))
		FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE c.relnamespace = 'public'::regnamespace
	UNION ALL SELECT concat_ws(' ', conname, conrelid, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
	UNION ALL SELECT concat_ws(' ', tgname, tgrelid, tgenabled) FROM pg_trigger
	UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
	UNION ALL SELECT concat_ws(' ', nspname, nspacl) FROM pg_namespace WHERE nspname !~ '^pg_t'
	UNION ALL SELECT extname FROM pg_extension
	UNION ALL SELECT concat_ws(' ', datacl, datconnlimit) FROM pg_database WHERE datname = current_database()
	UNION ALL SELECT array_to_string(setconfig, ' ') FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE d.datname = current_database()
) shape`

// read reads what is in a database.
func (x *tables) read(ctx context.Context, db *sql.DB) error {
	*x = tables{rows: map[string]string{}, sequences: map[string]sequence{}}
	if err := db.QueryRowContext(ctx, shapeOf).Scan(&x.shape); err != nil {
		return err
	}
	names, err := filledTables(ctx, db)
	for _, name := range names {
		var rows string
		err = errors.Join(err, db.QueryRowContext(ctx, "SELECT COALESCE(json_agg(t), '[]') FROM "+name+" t").Scan(&rows))
		x.rows[name] = rows
	}
	if err != nil {
		return err
	}
	sequences, err := db.QueryContext(ctx, `SELECT quote_ident(sequencename), COALESCE(last_value, start_value), last_value IS NOT NULL
		FROM pg_sequences WHERE schemaname = 'public'`)
	if err != nil {
		return err
	}
	defer func() { _ = sequences.Close() }()
	for sequences.Next() {
		var name string
		var value sequence
		if err := sequences.Scan(&name, &value.last, &value.called); err != nil {
			return err
		}
		x.sequences[name] = value
	}
	return sequences.Err()
}

// filledTables returns the quoted names of the tables that have a page.
func filledTables(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `SELECT quote_ident(relname) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// errChanged means that a test has changed more than rows.
var errChanged = errors.New("the tables were changed")

// restore makes a database what it was when it was read.
func (x *tables) restore(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, endOthers); err != nil {
		return err
	}
	var found tables
	if err := found.read(ctx, db); err != nil {
		return err
	}
	if found.shape != x.shape {
		return errChanged
	}
	for name, rows := range found.rows {
		if rows == x.rows[name] {
			continue
		}
		// TRUNCATE, unlike DELETE, leaves no dead rows, which would change plans.
		if _, err := db.ExecContext(ctx, "TRUNCATE "+name+" CASCADE"); err != nil {
			return err
		}
	}
	for name, rows := range x.rows {
		if rows == found.rows[name] {
			continue
		}
		insert := fmt.Sprintf("INSERT INTO %s OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::%s, $1)", name, name)
		if _, err := db.ExecContext(ctx, insert, rows); err != nil {
			return err
		}
	}
	for name, value := range x.sequences {
		if value == found.sequences[name] {
			continue
		}
		if _, err := db.ExecContext(ctx, "SELECT setval($1, $2, $3)", name, value.last, value.called); err != nil {
			return err
		}
	}
	return nil
}
