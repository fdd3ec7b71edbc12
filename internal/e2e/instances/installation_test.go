package instances

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

const merchantID = apptest.MerchantID

// installation is what the instances of a test share: a database and a place
// for invoice files.
type installation struct {
	// settings are flags of every command but --data.
	settings []string
	// data is the one data folder of all instances; empty: each has its own, as
	// on machines of their own.
	data string
	// database is where a test looks into the tables.
	driver, source string
	// apart says that each instance is a process of its own; others are in this
	// one, where the race detector sees them.
	apart bool
}

// onSQLite keeps everything in one data folder.
func onSQLite(t testing.TB, settings ...string) installation {
	data := filepath.Join(t.TempDir(), "data")
	if slices.Contains(settings, "--storage") {
		settings = append(settings, "--database", "sqlite://"+data+"/orders.db")
	}
	return installation{
		settings: settings, data: data, apart: true, driver: "sqlite",
		source: "file:" + filepath.Join(data, "orders.db") + "?_pragma=busy_timeout(10000)",
	}
}

// onPostgres keeps orders in a database by its URL, and files in one folder,
// unless the settings say otherwise.
func onPostgres(t testing.TB, url string, settings ...string) installation {
	i := installation{settings: append([]string{"--database", url}, settings...), driver: "pgx", source: url}
	if !slices.Contains(settings, "--storage") {
		i.data = filepath.Join(t.TempDir(), "data")
		i.settings = append(i.settings, "--storage", "file://"+i.data+"/files")
	}
	return i
}

// bucket makes an empty bucket and returns its storage setting.
func bucket(t testing.TB) string {
	t.Helper()
	name, endpoint := s3test.Bucket(t)
	return storage(name, endpoint)
}

func storage(bucket, endpoint string) string {
	return "s3://" + bucket + "?region=" + s3test.Region + "&endpoint=" + endpoint
}

// installations are those on which several instances can work.
var installations = map[string]func(t *testing.T) installation{
	"sqlite-disk": func(t *testing.T) installation { return onSQLite(t) },
	"postgres-s3": func(t *testing.T) installation {
		return onPostgres(t, pgtest.Database(t), "--storage", bucket(t))
	},
}

// onEach runs a test on every installation.
func onEach(t *testing.T, test func(t *testing.T, i installation)) {
	t.Parallel()
	for name, on := range installations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, on(t))
		})
	}
}

// folder returns the data folder of one more instance or command.
func (i installation) folder(t testing.TB) string {
	if i.data != "" {
		return i.data
	}
	return filepath.Join(t.TempDir(), "data")
}

// run runs a command that has to succeed, and returns what it printed.
func (i installation) run(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	got := apptest.Run(t, stdin, slices.Concat([]string{"--data", i.folder(t)}, i.settings, args)...)
	if got.Code != 0 {
		t.Fatalf("merchant-orders %s: exit code %d\n%s%s", strings.Join(args, " "), got.Code, got.Stdout, got.Stderr)
	}
	return strings.TrimSpace(got.Stdout)
}

// merchant adds a merchant and returns a token of it.
func (i installation) merchant(t testing.TB, id int64) string {
	t.Helper()
	text := strconv.FormatInt(id, 10)
	i.run(t, "", "merchant", "add", "--id", text, "--name", "Store "+text)
	return i.run(t, "", "token", "create", "--merchant", text)
}

// filled adds the merchant of most tests with registered orders, from the first
// sample on, and returns its token.
func (i installation) filled(t testing.TB, orders int) string {
	t.Helper()
	token := i.merchant(t, merchantID)
	i.run(t, string(apptest.Registered(merchantID, 1, orders)), "import", "-")
	return token
}

// start starts an instance and returns its address.
func (i installation) start(t testing.TB) string {
	t.Helper()
	if i.apart {
		return i.process(t).BaseURL
	}
	return apptest.StartOn(t, i.folder(t), i.settings...).BaseURL
}

// process starts an instance as a process of its own, with further flags.
func (i installation) process(t testing.TB, flags ...string) *apptest.Process {
	t.Helper()
	return apptest.StartProcess(t, i.folder(t), slices.Concat(i.settings, flags)...)
}

// pair starts two instances and returns a client of each.
func (i installation) pair(t testing.TB, token string) [2]client {
	t.Helper()
	return [2]client{apptest.NewClient(t, i.start(t), token), apptest.NewClient(t, i.start(t), token)}
}

// tables opens the database beside the service.
func (i installation) tables(t testing.TB) *sql.DB {
	t.Helper()
	db := testenv.Of(sql.Open(i.driver, i.source)).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// number reads one number from the database.
func number(t testing.TB, db *sql.DB, query string, args ...any) int {
	t.Helper()
	var n int
	testenv.NoError(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}
