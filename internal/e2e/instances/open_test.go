package instances

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// secret is every wrong password.
const secret = "s3cr-t"

// refused starts a server that must not start: it has to say why, in one line
// on standard error that names the setting and holds what is wanted, and end
// with exit code 2 before it serves.
func refused(t *testing.T, setting, want string, env []string, args ...string) {
	t.Helper()
	if !slices.Contains(args, "--data") {
		args = append(args, "--data", filepath.Join(t.TempDir(), "data"))
	}
	if !slices.Contains(args, "--storage") {
		args = append(args, "--storage", "file://"+t.TempDir()+"/files")
	}
	cmd := apptest.Command(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(cmd.Env, env...)
	refusedCommand(t, cmd, setting, want)
}

// refusedCommand is refused for a command that is made already.
func refusedCommand(t *testing.T, cmd *exec.Cmd, setting, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	timer := time.AfterFunc(testenv.WaitTimeout, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("ended with %v, want exit code 2", err)
	}
	begin := "merchant-orders: --" + setting + " (MERCHANT_ORDERS_" + strings.ToUpper(setting) + "): "
	line := stderr.String()
	if stdout.Len() > 0 || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, begin) || !regexp.MustCompile(want).MatchString(line) {
		t.Errorf("standard output %q, standard error:\n%swant one line that begins with %q and holds %q", stdout.String(), line, begin, want)
	}
	testenv.Lacks(t, "error", line, secret, s3test.SecretKey)
}

// TestDatabaseCannotBeOpened starts servers with databases that are not what they should
// be. Addresses that can be none are in config.TestCheck.
func TestDatabaseCannotBeOpened(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	good := server.Database(t)
	db := admin(t, server)
	execute(t, db, `CREATE ROLE locked LOGIN PASSWORD 'right'`)
	askPasswordOf(t, "locked")
	silent := silentServer(t)
	with := func(change func(*url.URL)) string { return changed(t, good, change) }
	locked := func(password string) string {
		return with(func(u *url.URL) { u.User = url.UserPassword("locked", password) })
	}
	refusing := refusingAddress(t)
	cases := []struct{ name, url, want string }{
		{"a broken address", "postgres://u:" + secret + "@h:port/db", `not a PostgreSQL URL`},
		{"a broken escape", "postgres://u:" + secret + "%zz@h/db", `not a PostgreSQL URL`},
		{"an unknown option", with(func(u *url.URL) { u.RawQuery += "&colour=red" }), `unrecognized configuration parameter "colour"`},
		{"a wrong option", with(func(u *url.URL) { u.RawQuery += "&sslmode=perhaps" }), `not a PostgreSQL URL`},
		{"a pool of one", with(func(u *url.URL) { u.RawQuery += "&pool_max_conns=1" }), `pool_max_conns must be a number from 2`},
		{"an unknown host", "postgres://u:" + secret + "@nowhere.invalid/db", `open database db on nowhere\.invalid:5432: .*no such host`},
		{"nothing listens", "postgres://u:" + secret + "@" + refusing + "/db", `open database db on ` + regexp.QuoteMeta(refusing) + `: connect: connection refused`},
		{"a server that says nothing", "postgres://u:" + secret + "@" + silent + "/db", `no response in time`},
		{"several hosts, none of them there", "postgres://u:" + secret + "@" + refusing + "," + refusing + "/db", `connection refused`},
		{"a wrong password", locked(secret), `password authentication failed for user "locked"`},
		{"no password", with(func(u *url.URL) { u.User = url.User("locked") }), `password|empty`},
		{"an unknown role", with(func(u *url.URL) { u.User = url.UserPassword("nobody", secret) }), `role "nobody" does not exist`},
		{"an unknown database", with(func(u *url.URL) { u.Path = "/nothere" }), `database "nothere" does not exist`},
		{"no encryption there", with(func(u *url.URL) { u.RawQuery = "sslmode=require" }), `TLS`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			refused(t, "database", tc.want, nil, "--database", tc.url)
			refused(t, "database", tc.want, []string{"MERCHANT_ORDERS_DATABASE=" + tc.url})
		})
	}
	t.Run("the right password", func(t *testing.T) {
		t.Parallel()
		execute(t, db, `GRANT ALL ON DATABASE `+strings.TrimPrefix(urlOf(t, good).Path, "/")+` TO locked`)
		// Its rights end there, which shows that it came that far.
		refused(t, "database", `permission denied for schema public`, nil, "--database", locked("right"))
	})
}

// TestDatabaseWithoutRights opens databases that are there, but not to be worked
// on.
func TestDatabaseWithoutRights(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	super := admin(t, server)
	execute(t, super, `CREATE ROLE modest LOGIN`)
	as := func(address, role string) string {
		return changed(t, address, func(u *url.URL) { u.User = url.User(role) })
	}
	fresh, made := server.Database(t), server.Database(t)
	newer, foreign, standby := server.Database(t), server.Database(t), server.Database(t)
	for _, address := range []string{made, newer, foreign, standby} {
		onPostgres(t, address).merchant(t, merchantID)
	}
	execute(t, onPostgres(t, newer).tables(t), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`)
	execute(t, onPostgres(t, foreign).tables(t), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, true)`)
	execute(t, super, `ALTER DATABASE `+strings.TrimPrefix(urlOf(t, standby).Path, "/")+` SET default_transaction_read_only = on`)

	refused(t, "database", `permission denied for schema public`, nil, "--database", as(fresh, "modest"))
	refused(t, "database", `migrated by a newer version of merchant-orders \(schema version 99999, `, nil, "--database", newer)
	refused(t, "database", `steps that this program does not have \(2\)`, nil, "--database", foreign)
	refused(t, "database", `it is read-only`, nil, "--database", standby)

	tables := onPostgres(t, made).tables(t)
	refused(t, "database", `permission denied for table goose_db_version`, nil, "--database", as(made, "modest"))
	execute(t, tables, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO modest`)
	refused(t, "database", `the role needs SELECT, INSERT, UPDATE and DELETE on merchants, tokens, `, nil, "--database", as(made, "modest"))
	execute(t, tables, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO modest`, `REVOKE DELETE ON invoices FROM modest`)
	refused(t, "database", `the role needs SELECT, INSERT, UPDATE and DELETE on invoices`, nil, "--database", as(made, "modest"))
	execute(t, tables, `GRANT DELETE ON invoices TO modest`)
	refused(t, "database", `the role needs USAGE on the sequence invoice_ids`, nil, "--database", as(made, "modest"))

	// With these and no more the service works: it need not make tables.
	execute(t, tables, `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO modest`)
	i := onPostgres(t, as(made, "modest"))
	token := i.run(t, "", "token", "create", "--merchant", fmt.Sprint(merchantID))
	i.run(t, string(apptest.Registered(merchantID, 1, 1)), "import", "-")
	c := apptest.NewClient(t, i.start(t), token)
	if got, _, err := c.Upload(sample(1).V2(), "a.pdf", []byte("x")); err != nil || got.Status != 200 {
		t.Errorf("upload: %d %s, %v", got.Status, got.Body, err)
	}
}

// TestEmptyDatabase opens an empty PostgreSQL database, in which only a new
// installation is made, and that only where there are no files of another one.
func TestEmptyDatabase(t *testing.T) {
	t.Parallel()
	database := pgtest.Empty(t)
	files := t.TempDir()
	settings := []string{"--database", database, "--storage", "file://" + files}
	empty := func() {
		t.Helper()
		testenv.Equal(t, "tables made", 0, number(t, onPostgres(t, database).tables(t), `SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'`))
	}
	for _, args := range [][]string{{"merchant", "list"}, {"token", "list"}, {"check"}, {"migrate", "--status"}} {
		data := filepath.Join(t.TempDir(), "typo")
		got := apptest.Run(t, "", slices.Concat([]string{"--data", data}, settings, args)...)
		got.WantText(t, map[bool]int{true: 0, false: 2}[args[0] == "migrate"])
		testenv.Of(os.Stat(data)).WantError(t, fmt.Sprintf("%v: the data folder", args), os.ErrNotExist)
		empty()
	}
	testenv.NoError(t, os.Mkdir(filepath.Join(files, "invoices"), 0o700))
	refused(t, "database", `the folder `+files+` contains invoices, but the database postgres://[^@]* is missing or empty`, nil, settings...)
	empty()
	bucket, endpoint := s3test.Bucket(t)
	settings = []string{"--database", database, "--storage", storage(bucket, endpoint)}
	storeFile(t, bucket, endpoint)
	want := `the bucket s3://` + bucket + `\?[^ ]* contains files, but the database postgres://[^@]* is missing or empty`
	refused(t, "database", want, nil, settings...)
	for _, args := range [][]string{{"migrate"}, {"merchant", "add", "--id=1", "--name=x"}} {
		data := filepath.Join(t.TempDir(), "data")
		got := apptest.Run(t, "", slices.Concat([]string{"--data", data}, settings, args)...)
		if got.Code != 2 || !regexp.MustCompile(`--database \(MERCHANT_ORDERS_DATABASE\): `+want).MatchString(got.Stderr) {
			t.Errorf("%v: %+v", args, got)
		}
	}
	empty()
}

// storeFile stores a file in a bucket.
func storeFile(t *testing.T, bucket, endpoint string) {
	t.Helper()
	files := testenv.Of(s3.Open(t.Context(), s3.Bucket{Name: bucket, Region: s3test.Region, Endpoint: endpoint})).Must(t)
	testenv.NoError(t, files.OpenStaging(t.TempDir()))
	staged, err := files.Stage(t.Context())
	if err == nil {
		_, err = staged.Write([]byte("x"))
	}
	if err == nil {
		err = staged.Commit(t.Context(), "invoices/R-1/a.pdf")
	}
	testenv.NoError(t, errors.Join(err, files.Close()))
}

// TestStorageCannotBeOpened starts servers with storages that are not what they
// should be.
func TestStorageCannotBeOpened(t *testing.T) {
	t.Parallel()
	name, endpoint := s3test.Bucket(t)
	refusing, silent := refusingAddress(t), silentServer(t)
	wrongKey := []string{"AWS_ACCESS_KEY_ID=nobody", "AWS_SECRET_ACCESS_KEY=" + secret}
	wrongSecret := []string{"AWS_SECRET_ACCESS_KEY=" + secret}
	secretFile := filepath.Join(t.TempDir(), "secret")
	testenv.NoError(t, os.WriteFile(secretFile, []byte(secret), 0o600))
	wrongFile := []string{"AWS_SECRET_ACCESS_KEY=", "MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE=" + secretFile}
	noFile := []string{"AWS_SECRET_ACCESS_KEY=", "MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE=/dev/null/x"}
	none := []string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_EC2_METADATA_DISABLED=true"}
	cases := []struct {
		name, url, want string
		env             []string
	}{
		{"an unknown bucket", storage("nothere", endpoint), `bucket nothere on [^ ]+ cannot be written to: there is no such bucket`, nil},
		{"no credentials", storage(name, endpoint), `the credentials are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`, none},
		{"an unknown key", storage(name, endpoint), `the server does not know the key in AWS_ACCESS_KEY_ID`, wrongKey},
		{"a wrong secret", storage(name, endpoint), `the secret in AWS_SECRET_ACCESS_KEY does not match the key`, wrongSecret},
		{"a wrong secret in a file", storage(name, endpoint), `the secret in AWS_SECRET_ACCESS_KEY does not match the key`, wrongFile},
		{"a secret that cannot be read", storage(name, endpoint), `MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE: cannot read the file: not a directory`, noFile},
		{"an unknown host", storage(name, "http://nowhere.invalid"), `no such host`, nil},
		{"nothing listens", storage(name, "http://"+refusing), `connection refused`, nil},
		{"a server that says nothing", storage(name, "http://"+silent), `no response in time`, nil},
		{"encryption that is not there", storage(name, strings.Replace(endpoint, "http:", "https:", 1)), `HTTPS|TLS|tls`, nil},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			refused(t, "storage", tc.want, tc.env, "--storage", tc.url)
		})
	}
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		server := s3test.StartServer(t)
		defer server.Remove()
		bucket := testenv.Of(server.NewBucket()).Must(t)
		server.Stop()
		server.ReadOnly = true
		testenv.NoError(t, server.Run())
		refused(t, "storage", `cannot be written to: the credentials do not allow this`, nil, "--storage", storage(bucket, server.Endpoint()))
	})
}

// TestFolderCannotBeWrittenTo starts a server on a folder of invoice files that
// is read-only, as that of a disk which the system has found faulty.
func TestFolderCannotBeWrittenTo(t *testing.T) {
	t.Parallel()
	i := onSQLite(t)
	i.filled(t, 1)
	files := filepath.Join(i.data, "files")
	if output, err := readOnly(files, "true").CombinedOutput(); err != nil {
		testenv.Unable(t, "this user may not mount a file system: %v: %s", err, output)
	}
	cmd := apptest.Command(t, "serve", "--listen", "127.0.0.1:0", "--data", i.data)
	inside := readOnly(files, cmd.Args...)
	inside.Env = cmd.Env
	refusedCommand(t, inside, "data", regexp.QuoteMeta(files)+`: create a staged file: read-only file system`)
}

// readOnly is a command for which a folder is on a read-only file system.
func readOnly(folder string, command ...string) *exec.Cmd {
	args := []string{"--mount"}
	if os.Getuid() != 0 {
		args = append(args, "--map-root-user")
	}
	args = append(args, "sh", "-c", `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, folder)
	return exec.Command("unshare", append(args, command...)...)
}

// urlOf reads an address.
func urlOf(t testing.TB, address string) *url.URL {
	t.Helper()
	u := testenv.Of(url.Parse(address)).Must(t)
	return u
}

// askPasswordOf has the shared server ask a role for its password; it lets all
// others in.
func askPasswordOf(t *testing.T, role string) {
	t.Helper()
	db := admin(t, pgtest.Shared(t))
	path := setting(t, db, "hba_file")
	rules := testenv.Of(os.ReadFile(path)).Must(t)
	rule := fmt.Sprintf("host all %s 127.0.0.1/32 scram-sha-256\n", role)
	testenv.NoError(t, os.WriteFile(path, append([]byte(rule), rules...), 0o600))
	execute(t, db, `SELECT pg_reload_conf()`)
	testenv.Eventually(t, "the server has taken the rule over", func() bool {
		return number(t, db, `SELECT COUNT(*) FROM pg_hba_file_rules WHERE auth_method = 'scram-sha-256'`) > 0
	})
}

// silentServer takes connections and says nothing.
func silentServer(t *testing.T) string {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// refusingAddress returns an address that refuses connections until the test ends. It
// belongs to a socket that does not listen, so no other test can listen there.
func refusingAddress(t testing.TB) string {
	t.Helper()
	socket := testenv.Of(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)).Must(t)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	testenv.NoError(t, syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	bound := testenv.Of(syscall.Getsockname(socket)).Must(t).(*syscall.SockaddrInet4)
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(bound.Port))
}
