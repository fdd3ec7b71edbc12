package postgres

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestParametersOfLibpq opens URLs that PostgreSQL's own programs take.
func TestParametersOfLibpq(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t)
	for _, parameter := range []string{
		"keepalives=1&keepalives_idle=30&keepalives_interval=5&keepalives_count=3", "tcp_user_timeout=1000", "gssencmode=disable", "gssencmode=prefer",
		"fallback_application_name=shop", "load_balance_hosts=disable", "sslcompression=0", "client_encoding=LATIN1", "channel_binding=prefer",
		"ssl_min_protocol_version=TLSv1.2", "connect_timeout=2", "replication=false", "options=-c%20jit%3Don",
	} {
		db := openTest(t, url+"&"+parameter)
		var encoding, name string
		err := db.QueryRow(t.Context(), `SELECT current_setting('client_encoding'), current_setting('application_name')`, nil, &encoding, &name)
		if want := map[bool]string{true: "shop", false: "merchant-orders"}[strings.Contains(parameter, "fallback")]; err != nil || encoding != "UTF8" || name != want {
			t.Errorf("%s: encoding %s, name %s, error %v", parameter, encoding, name, err)
		}
	}
	for _, parameter := range []string{"gssencmode=require", "replication=database", "ssl_min_protocol_version=TLSv1.3", "hostaddr=192.0.2.1", "sslcrl=/etc/crl.pem"} {
		if _, err := parseURL(url + "&" + parameter); err == nil || !strings.Contains(err.Error(), parameter) {
			t.Errorf("%s: error %v", parameter, err)
		}
	}
}

// TestIsolationLevel has transactions change one row at the same time in a database whose
// own default lets all but one of them fail.
func TestIsolationLevel(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"repeatable read", "serializable"} {
		url := pgtest.StartServer(t).Database(t)
		db := openTest(t, url)
		for _, text := range []string{`CREATE TABLE counted (n BIGINT)`, `INSERT INTO counted VALUES (0)`,
			fmt.Sprintf(`ALTER ROLE postgres SET default_transaction_isolation = '%s'`, level)} {
			testenv.Of(db.Exec(t.Context(), text)).Must(t)
		}
		db = openTest(t, url)
		const each, workers = 10, 8
		var working sync.WaitGroup
		for range workers {
			working.Go(func() {
				for range each {
					err := db.InTx(t.Context(), func(q sqldb.Querier) error {
						_, err := q.Exec(t.Context(), `UPDATE counted SET n = n + 1`)
						return err
					})
					if _, direct := db.Exec(t.Context(), `UPDATE counted SET n = n + 1`); err != nil || direct != nil {
						t.Errorf("%s: in a transaction %v, outside of one %v", level, err, direct)
					}
				}
			})
		}
		working.Wait()
		var n int
		testenv.NoError(t, db.QueryRow(t.Context(), `SELECT n FROM counted`, nil, sqldb.Int(&n)))
		testenv.Equal(t, level+": counted to", 2*each*workers, n)
	}
}

// TestRoleOfOthers opens a database as a role with settings for other programs.
func TestRoleOfOthers(t *testing.T) {
	t.Parallel()
	url := pgtest.StartServer(t).Database(t)
	for _, setting := range []string{`standard_conforming_strings = off`, `client_encoding = 'LATIN1'`, `statement_timeout = '5s'`, `lock_timeout = 1`, `idle_session_timeout = '5s'`} {
		testenv.Of(openTest(t, url).Exec(t.Context(), `ALTER ROLE postgres SET `+setting)).Must(t)
	}
	var got string
	testenv.NoError(t, openTest(t, url).QueryRow(t.Context(), `SELECT concat('Ω\', current_setting('statement_timeout'), current_setting('lock_timeout'),
		current_setting('idle_session_timeout'))`, nil, &got))
	testenv.Equal(t, "text and time limits", `Ω\000`, got)
}

// TestOtherEncoding writes a text that the database cannot hold, in each way to write.
func TestOtherEncoding(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	testenv.Of(openTest(t, server.Database(t)).Exec(t.Context(), `CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0`)).Must(t)
	db := openTest(t, server.URL("latin"))
	testenv.Of(db.Exec(t.Context(), `CREATE TABLE texts (t TEXT)`)).Must(t)
	const insert = `INSERT INTO texts VALUES ($1)`
	var got string
	for way, write := range map[string]func(text string) error{
		"statement": func(text string) error { _, err := db.Exec(t.Context(), insert, text); return err },
		"row":       func(text string) error { return db.QueryRow(t.Context(), insert+` RETURNING t`, []any{text}, &got) },
		"rows": func(text string) error {
			return db.Query(t.Context(), insert+` RETURNING t`, []any{text}, func(sqldb.Rows) error { return nil })
		},
		"batch": func(text string) error {
			return db.QueryMany(t.Context(), maps.All(map[string][]any{insert + ` RETURNING t`: {text}}), func(int, sqldb.Rows) error { return nil })
		},
		"commit": func(text string) error {
			return db.InTx(t.Context(), func(q sqldb.Querier) error { return q.Later(t.Context(), nil, insert, text) })
		},
		"transaction": func(text string) error {
			return db.InTx(t.Context(), func(q sqldb.Querier) error { return q.QueryRow(t.Context(), insert+` RETURNING t`, []any{text}, &got) })
		},
	} {
		testenv.Equal(t, way+": a text of the encoding", nil, write("café"))
		if err := write("καφές"); err == nil || !strings.Contains(err.Error(), utf8Advice) || db.Unavailable(err) {
			t.Errorf("%s: another text: %v", way, err)
		}
	}
}

// TestScansOnce ends the reading of rows with errors after which a statement is sent again that
// the server has not received.
func TestScansOnce(t *testing.T) {
	t.Parallel()
	db := openTest(t, pgtest.Database(t))
	full := &pgconn.PgError{Code: tooManyConnections}
	const rows = `SELECT generate_series(1, 3)`
	for way, read := range map[string]func(scan func(sqldb.Rows) error) error{
		"query": func(scan func(sqldb.Rows) error) error { return db.Query(t.Context(), rows, nil, scan) },
		"batch": func(scan func(sqldb.Rows) error) error {
			return db.QueryMany(t.Context(), maps.All(map[string][]any{rows: nil}), func(_ int, r sqldb.Rows) error { return scan(r) })
		},
		"transaction": func(scan func(sqldb.Rows) error) error {
			return db.InTx(t.Context(), func(q sqldb.Querier) error { return q.Query(t.Context(), rows, nil, scan) })
		},
	} {
		n := 0
		err := read(func(sqldb.Rows) error {
			n++
			return full
		})
		testenv.Equal[error](t, way+": error", full, err)
		testenv.Equal(t, way+": rows", 1, n)
	}
}

// TestNodeFailures sends errors as Citus does where a node has failed, and others with the same code.
func TestNodeFailures(t *testing.T) {
	t.Parallel()
	db := openTest(t, pgtest.Database(t))
	for text, want := range map[string]bool{
		"postmaster was shut down, exiting":                                       true,
		"failure on connection marked as essential: worker1:5432":                 true,
		"failed to prepare transaction 'citus_0_1_2_3' on host worker1:5432":      true,
		"could not commit transaction for shard 8 on at least one active node":    true,
		"execution cannot recover from multiple connection failures. Last node":   true,
		"cache lookup failed for relation 16384: postmaster was shut down, never": false,
	} {
		_, err := db.Exec(t.Context(), fmt.Sprintf(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = '%s'; END $$`, strings.ReplaceAll(text, "'", "''")))
		if err == nil || db.Unavailable(err) != want {
			t.Errorf("%v: unavailable %t, want %t", err, !want, want)
		}
	}
}

// TestOtherSchema opens a database whose installation is in another schema than the one where
// the role makes tables.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	url := pgtest.StartServer(t).Database(t)
	db := openTest(t, url)
	refused := func(path, want string) {
		t.Helper()
		testenv.Of(db.Exec(t.Context(), `ALTER ROLE postgres SET search_path = `+path)).Must(t)
		found := testenv.Of(Examine(t.Context(), url)).Must(t)
		if _, err := Open(t.Context(), url, nil, migrations.Options{}); err == nil || !strings.Contains(err.Error(), want) ||
			found.Lacking == nil || !strings.Contains(found.Lacking.Problem, want) {
			t.Errorf("%s: error %v; doctor %+v", path, err, found.Lacking)
		}
	}
	for _, text := range []string{`CREATE SCHEMA second`, `CREATE SCHEMA third`} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	refused(`second`, "in the schema public, and the role makes new ones in second")
	refused(`missing`, "in none")
	openTest(t, url+"&search_path=second") // as it is asked for
	testenv.Of(db.Exec(t.Context(), `DELETE FROM schema_steps WHERE version = (SELECT max(version) FROM schema_steps)`)).Must(t)
	refused(`third, public`, "makes new ones in third")
}

// TestMigrateBesideReader migrates a database while a transaction has read a table, as that of
// pg_dump does: reads go on meanwhile. What a killed step has left is removed.
func TestMigrateBesideReader(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t)
	db := openTest(t, url)
	files := testenv.Of(filepath.Glob("../../migrations/postgres/*.sql")).Must(t)
	newest := string(testenv.Of(os.ReadFile(slices.Max(files))).Must(t))
	_, down, _ := strings.Cut(newest, "-- +goose Down")
	for _, text := range append(strings.Split(strings.TrimSpace(down), ";\n"), `DELETE FROM schema_steps WHERE version = (SELECT max(version) FROM schema_steps)`,
		`UPDATE pg_index SET indisvalid = false WHERE indexrelid = CAST('orders_without_invoice' AS regclass)`) {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	var n int
	const read = `SELECT COUNT(*) FROM merchants`
	opened := make(chan error, 1)
	testenv.NoError(t, db.Snapshot(t.Context(), func(q sqldb.Querier) error {
		testenv.NoError(t, q.QueryRow(t.Context(), read, nil, sqldb.Int(&n)))
		go func() {
			db, err := Open(t.Context(), url, nil, migrations.Options{})
			if err == nil {
				err = db.Close()
			}
			opened <- err
		}()
		testenv.Eventually(t, "the migration waits", func() bool {
			return db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND relation = CAST('merchants' AS regclass)`, nil, sqldb.Int(&n)) == nil && n > 0
		})
		err := db.QueryRow(t.Context(), read, nil, sqldb.Int(&n)) // behind it
		testenv.Contains(t, "who holds the table", holds(t.Context(), db.admin, "merchants").Error(), "merchant-orders holds the table merchants")
		return err
	}))
	testenv.NoError(t, <-opened)
	testenv.NoError(t, db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_class WHERE relname = 'orders_without_invoice'`, nil, sqldb.Int(&n)))
	testenv.Equal(t, "indexes of a killed step", 0, n)
}

// TestFullServer runs more statements at once than the role may have connections.
func TestFullServer(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t)
	db := openTest(t, url)
	for _, text := range []string{`CREATE ROLE narrow LOGIN CONNECTION LIMIT 4`, `GRANT ALL ON ALL TABLES IN SCHEMA public TO narrow`,
		`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO narrow`} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	db = openTest(t, strings.Replace(url, "postgres@", "narrow@", 1))
	var working sync.WaitGroup
	for range 30 {
		working.Go(func() {
			_, err := db.Exec(t.Context(), `SELECT pg_sleep(0.01)`)
			txErr := db.InTx(t.Context(), func(q sqldb.Querier) error {
				_, err := q.Exec(t.Context(), `UPDATE counters SET last = last`)
				return err
			})
			if err != nil || txErr != nil {
				t.Errorf("statement: %v; transaction: %v", err, txErr)
			}
		})
	}
	working.Wait()
}

// TestEndedConnections runs statements right after an administrator has ended all connections.
func TestEndedConnections(t *testing.T) {
	t.Parallel()
	url := pgtest.StartServer(t).Database(t)
	db, admin := openTest(t, url), openTest(t, url)
	const read, write = `SELECT last FROM counters WHERE name = 'x'`, `UPDATE counters SET last = last`
	scan := func(int, sqldb.Rows) error { return nil }
	for name, use := range map[string]func() error{
		"statement": func() error { _, err := db.Exec(t.Context(), write); return err },
		"query":     func() error { _, err := sqldb.Column[int64](t.Context(), db, read); return err },
		"queries":   func() error { return db.QueryMany(t.Context(), maps.All(map[string][]any{read: nil}), scan) },
		"transaction": func() error {
			return db.InTx(t.Context(), func(q sqldb.Querier) error { _, err := q.Exec(t.Context(), write); return err })
		},
		"later": func() error {
			return db.InTx(t.Context(), func(q sqldb.Querier) error { return q.Later(t.Context(), nil, write) })
		},
		"snapshot": func() error {
			return db.Snapshot(t.Context(), func(q sqldb.Querier) error {
				return q.QueryMany(t.Context(), maps.All(map[string][]any{read: nil}), scan)
			})
		},
	} {
		for range 5 { // one may come after pingAfter
			var working sync.WaitGroup
			for range 4 {
				working.Go(func() { _, _ = db.Exec(t.Context(), `SELECT pg_sleep(0.01)`) })
			}
			working.Wait()
			testenv.Of(admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)).Must(t)
			testenv.Equal(t, name, nil, use())
		}
	}
}

// TestAdvice has doctor and serve tell of settings with which a database works, but not as it
// should.
func TestAdvice(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	url := server.Database(t)
	testenv.Equal(t, "advice for the usual settings", nil, testenv.Of(Examine(t.Context(), url)).Must(t).Advice)
	db := openTest(t, url)
	for _, text := range []string{
		`CREATE ROLE few LOGIN CONNECTION LIMIT 5`, `ALTER ROLE few SET synchronous_commit = off`, `ALTER ROLE few SET default_transaction_isolation = serializable`,
		`CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0 CONNECTION LIMIT 7`, `UPDATE pg_database SET datcollversion = '1' WHERE datname = 'latin'`,
		`ALTER SYSTEM SET full_page_writes = off`, `ALTER SYSTEM SET synchronous_standby_names = 'away'`, `SELECT pg_reload_conf()`,
	} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	found := testenv.Of(Examine(t.Context(), strings.Replace(server.URL("latin"), "postgres@", "few@", 1))).Must(t)
	for _, want := range []string{
		"the role may have 5 connections", "the database may have 7 connections", "synchronous_commit is off", "full_page_writes is off", "the encoding is LATIN1",
		"default_transaction_isolation is serializable", "the collation version of the database is old", "the standby of synchronous_standby_names is missing",
	} {
		if !slices.ContainsFunc(found.Advice, func(f sqldb.Flaw) bool { return strings.HasPrefix(f.Problem, want) && f.Advice != "" }) {
			t.Errorf("%q is not in %+v", want, found.Advice)
		}
	}
	for _, text := range []string{`ALTER SYSTEM RESET synchronous_standby_names`, `SELECT pg_reload_conf()`} { // commits wait for it
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
}

// TestRowSecurity opens a database in which policies hide rows from the role.
func TestRowSecurity(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	url := server.Database(t)
	db := openTest(t, url)
	for _, text := range []string{`CREATE ROLE watched LOGIN`, `GRANT ALL ON ALL TABLES IN SCHEMA public TO watched`,
		`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO watched`} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	url = strings.Replace(url, "postgres@", "watched@", 1)
	watched := openTest(t, url)
	for _, table := range []string{"tokens", "goose_db_version"} {
		testenv.Of(db.Exec(t.Context(), `ALTER TABLE `+table+` ENABLE ROW LEVEL SECURITY`)).Must(t)
		if _, err := Open(t.Context(), url, nil, migrations.Options{}); err == nil || !strings.Contains(err.Error(), table) || !strings.Contains(err.Error(), "row") {
			t.Errorf("%s: error %v", table, err)
		}
	}
	if found, err := Examine(t.Context(), url); err != nil || found.Lacking == nil || !strings.Contains(found.Lacking.Problem, "row security hides rows of tokens") {
		t.Errorf("doctor: %+v, error %v", found, err)
	}
	var n int
	if err := watched.QueryRow(t.Context(), `SELECT COUNT(*) FROM tokens`, nil, sqldb.Int(&n)); err == nil {
		t.Error("a statement does not see rows that are there")
	}
}

// TestOldestWriter asks, as a role without special rights, for the oldest transaction that
// may write to a database, while one of another role and another database is in progress.
func TestOldestWriter(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	super := openTest(t, server.Database(t))
	testenv.Of(super.Exec(t.Context(), `CREATE ROLE plain LOGIN`)).Must(t)
	plain := testenv.Of(sql.Open("pgx", strings.Replace(server.URL("postgres"), "postgres@", "plain@", 1))).Must(t)
	t.Cleanup(func() { _ = plain.Close() })
	testenv.NoError(t, super.InTx(t.Context(), func(q sqldb.Querier) error {
		var there, oldest int64
		if err := q.QueryRow(t.Context(), `SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)`, nil, &there); err != nil {
			return err
		}
		if _, err := plain.ExecContext(t.Context(), `SELECT pg_current_xact_id()`); err != nil { // a later one that ends
			return err
		}
		err := plain.QueryRowContext(t.Context(), `SELECT `+oldestWriter).Scan(&oldest)
		if oldest <= there {
			t.Errorf("%d, and the transaction of another database is %d", oldest, there)
		}
		return err
	}))
}
