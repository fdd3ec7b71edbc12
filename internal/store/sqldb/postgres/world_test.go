package postgres

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

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
	for _, text := range []string{`ALTER ROLE postgres SET standard_conforming_strings = off`, `ALTER ROLE postgres SET client_encoding = 'LATIN1'`} {
		testenv.Of(openTest(t, url).Exec(t.Context(), text)).Must(t)
	}
	var got string
	testenv.NoError(t, openTest(t, url).QueryRow(t.Context(), `SELECT 'Ω\'`, nil, &got))
	testenv.Equal(t, "text", `Ω\`, got)
}

// TestAdvice has doctor and serve tell of settings with which a database works, but not as it
// should.
func TestAdvice(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	url := server.Database(t)
	if found, err := Examine(t.Context(), url); err != nil || found.Advice != nil {
		t.Errorf("the usual settings: %+v, error %v", found, err)
	}
	db := openTest(t, url)
	for _, text := range []string{
		`CREATE ROLE few LOGIN CONNECTION LIMIT 5`, `ALTER ROLE few SET synchronous_commit = off`, `ALTER ROLE few SET default_transaction_isolation = serializable`,
		`ALTER SYSTEM SET full_page_writes = off`, `SELECT pg_reload_conf()`,
		`CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0 CONNECTION LIMIT 7`,
	} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	found := testenv.Of(Examine(t.Context(), strings.Replace(server.URL("latin"), "postgres@", "few@", 1))).Must(t)
	for _, want := range []string{
		"the role may have 5 connections", "the database may have 7 connections", "synchronous_commit is off", "full_page_writes is off", "the encoding is LATIN1",
		"default_transaction_isolation is serializable",
	} {
		if !slices.ContainsFunc(found.Advice, func(f sqldb.Flaw) bool { return strings.HasPrefix(f.Problem, want) && f.Advice != "" }) {
			t.Errorf("%q is not in %+v", want, found.Advice)
		}
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
	plain, err := sql.Open("pgx", strings.Replace(server.URL("postgres"), "postgres@", "plain@", 1))
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = plain.Close() })
	err = super.InTx(t.Context(), func(q sqldb.Querier) error {
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
	})
	testenv.NoError(t, err)
}
