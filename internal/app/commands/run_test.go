package commands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

// flagsOf returns the flags of the commands by their names, of "every" those of all.
// TestPublished compares them with what is published.
func flagsOf(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for _, line := range commands.PublishedFlags(t) {
		if name, ok := strings.CutPrefix(line, "command "); ok {
			name, _, _ = strings.Cut(name, " requires:")
			all[name] = append([]string{}, all[name]...)
			continue
		}
		name, flag, _ := strings.Cut(strings.TrimPrefix(line, "flag "), " --")
		flag, _, _ = strings.Cut(flag, " ")
		all[name] = append(all[name], flag)
	}
	return all
}

func TestHelpNamesEveryFlagAndVariable(t *testing.T) {
	t.Parallel()
	all := flagsOf(t)
	settings := slices.DeleteFunc(all["every"], func(flag string) bool { return flag == "config" || flag == "help" })
	delete(all, "every")
	for name, wanted := range all {
		wanted = append([]string{"config"}, wanted...)
		if remote := slices.Contains(wanted, "address") || name == "health"; !remote {
			wanted = append(wanted, settings...)
		}
		got := apptest.Run(t, "", append(strings.Fields(name), "--help")...)
		if got.Code != 0 || got.Stderr != "" {
			t.Errorf("%s --help: exit code %d, %s", name, got.Code, got.Stderr)
		}
		shown := []string{}
		for _, found := range regexp.MustCompile(`(?m)^ +--([a-z-]+)(?:=| {2,}|$)`).FindAllStringSubmatch(got.Stdout, -1) {
			shown = append(shown, found[1])
		}
		testenv.Equal(t, fmt.Sprintf("flags of %s --help", name), wanted, shown)
		words := strings.Join(strings.Fields(got.Stdout), " ")
		for _, flag := range wanted {
			testenv.Contains(t, name+" --help", words, "["+config.Variable(flag)+"]")
		}
	}
}

func TestHelpNamesEveryCommandDefaultAndExitCode(t *testing.T) {
	t.Parallel()
	got := apptest.Run(t, "", "--help")
	words := strings.Join(strings.Fields(got.Stdout), " ")
	for name := range flagsOf(t) {
		if name != "every" && !strings.Contains(words, name) {
			t.Errorf("--help does not show %s", name)
		}
	}
	testenv.Contains(t, "--help", words,
		"Default: ./data.",
		"Default: samples.",
		"Default: info.",
		"merchant-orders serve --demo",
		"Exit codes: 0 done; 1 the command failed, or an import refused lines; 2 invalid usage or settings, or a database or storage that cannot be opened: nothing was done.",
		"3 no such order or invoice file; 4 refused, for example in this state of the order; 5 the token is not valid or does not allow this; 6 the service cannot be reached or asks to retry later.",
		"the region is local, the bucket merchant-orders",
	)
}

// TestHelpTexts checks that every file of long help is shown by its command.
func TestHelpTexts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("help/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no help texts: %v", err)
	}
	for _, file := range files {
		text := testenv.Of(os.ReadFile(file)).Must(t)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		args := strings.Split(name, "-")
		switch name {
		case "merchant-orders":
			args = nil
		case "login-link":
			args = []string{name} // not a command in a group
		}
		got := apptest.Run(t, "", append(args, "--help")...)
		words := strings.Join(strings.Fields(got.Stdout), " ")
		testenv.Contains(t, name+" --help", words, strings.Join(strings.Fields(string(text)), " "))
	}
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	cases := []struct {
		args []string
		want []string // lines of standard error
	}{
		{nil, []string{`expected one of "serve", "import", "transition", "search", "inspect", ...`, `see "merchant-orders --help"`}},
		{[]string{"srve"}, []string{`unexpected argument srve, did you mean "serve"?`, `see "merchant-orders --help"`}},
		{[]string{"serve", "--lisen", "x"}, []string{`unknown flag --lisen, did you mean "--listen"?`, `see "merchant-orders serve --help"`}},
		{[]string{"--listen", ":0", "serve"}, nil},
		{[]string{"serve", "postgres://u:sec@ret@h/d"}, []string{`unexpected argument postgres://...@h/d`, `see "merchant-orders serve --help"`}},
		{[]string{"import"}, []string{`expected "<file>"`, `see "merchant-orders import --help"`}},
		{[]string{"merchant", "add"}, []string{
			"--id (MERCHANT_ORDERS_ID): is required", "--name (MERCHANT_ORDERS_NAME): is required"}},
		{[]string{"merchant", "add", "--id", "0x1", "--name", "a\nb"}, []string{
			"--id (MERCHANT_ORDERS_ID): must be a whole number from 1",
			"--name (MERCHANT_ORDERS_NAME): must be on one line, without control characters"}},
		{[]string{"merchant", "add", "--id", "99999999999999999999", "--name", strings.Repeat("x", 1001)}, []string{
			"--id (MERCHANT_ORDERS_ID): must be a whole number from 1",
			"--name (MERCHANT_ORDERS_NAME): must be text of at most 1000 bytes"}},
		{[]string{"token", "create"}, []string{"--merchant (MERCHANT_ORDERS_MERCHANT): or --operator is required"}},
		{[]string{"token", "create", "--merchant", "-1"}, nil},
		{[]string{"token", "create", "-", "--operator"}, []string{"--operator (MERCHANT_ORDERS_OPERATOR): must not be given together with a file"}},
		{[]string{"merchant", "add", "-", "--id=1"}, []string{"--id (MERCHANT_ORDERS_ID): and --name must not be given together with a file"}},
		{[]string{"token", "create", "--merchant=x", "--scopes=all", "--expires=90 days"}, []string{
			"--merchant (MERCHANT_ORDERS_MERCHANT): must be a whole number from 1",
			`--scopes (MERCHANT_ORDERS_SCOPES): "all" is not a scope; must be one of orders:read, orders:write, invoices:write, tokens, webhooks`,
			"--expires (MERCHANT_ORDERS_EXPIRES): must be a duration such as 2160h or 90d, or a day such as 2027-01-31"}},
		{[]string{"token", "create", "--operator", "--merchant=1", "--scopes=orders:write", "--expires=-1h"}, []string{
			"--merchant (MERCHANT_ORDERS_MERCHANT): must not be given together with --operator",
			`--scopes (MERCHANT_ORDERS_SCOPES): "orders:write" is not a scope; must be one of orders:read, tokens, webhooks, orders:ingest, orders:transition, merchants, audit, customers`,
			"--expires (MERCHANT_ORDERS_EXPIRES): must be a duration such as 2160h or 90d, or a day such as 2027-01-31"}},
		{[]string{"token", "create", "--operator", "--expires=500ms"}, []string{
			"--expires (MERCHANT_ORDERS_EXPIRES): must be a duration such as 2160h or 90d, or a day such as 2027-01-31"}},
		{[]string{"webhook", "add", "--url=http://127.0.0.1:1/", "--types=order.lost", "--after=-1"}, []string{
			"--merchant (MERCHANT_ORDERS_MERCHANT): is required",
			"--url (MERCHANT_ORDERS_URL): must begin with https://",
			"--types (MERCHANT_ORDERS_TYPES): must be a list of order.created, order.state_changed, order.updated, invoice.uploaded, invoice.deleted, order.deleted, webhook.failed, order.deadline_near, webhook.failing",
			"--after (MERCHANT_ORDERS_AFTER): must be a whole number from 0, or a cursor of the events of all merchants"}},
		{[]string{"webhook", "redeliver", "x"}, []string{"the id of the webhook must be a whole number from 1",
			"--event (MERCHANT_ORDERS_EVENT): is required"}},
		{[]string{"purge", "--deleted-before=-1s"}, []string{
			"--deleted-before (MERCHANT_ORDERS_DELETED_BEFORE): must be a duration such as 90d, 2160h or 30s"}},
		{[]string{"copy", "--to-storage=file:///b", "--to-data=/b", "--ignore-changes"}, []string{"--ignore-changes (MERCHANT_ORDERS_IGNORE_CHANGES): must not be given together with --to-database or --to-data"}},
		{[]string{"copy"}, []string{"--to-database (MERCHANT_ORDERS_TO_DATABASE): or --to-storage or --to-data is required"}},
		{[]string{"copy", "--to-database=mysql://u:secret@h/d", "--to-storage=/files", "--to-data=/dev/null/x"}, []string{
			"--to-data (MERCHANT_ORDERS_TO_DATA): must be a folder that this user may write to: not a directory",
			"--to-database (MERCHANT_ORDERS_TO_DATABASE): must be empty, sqlite://PATH or postgres://user:password@host/database",
			"--to-storage (MERCHANT_ORDERS_TO_STORAGE): must be empty or s3://BUCKET?region=REGION&endpoint=URL, or file:///FOLDER"}},
		{[]string{"backup"}, []string{`expected "<file|dir>"`, `see "merchant-orders backup --help"`}},
		{[]string{"restore", ""}, []string{"the path of the backup is empty"}},
		{[]string{"serve", "--listen=80", "--error-codes=x", "--base-url=example.com", "--rate-limit=many"}, []string{
			"--base-url (MERCHANT_ORDERS_BASE_URL): must be a URL such as https://orders.example.com",
			"--error-codes (MERCHANT_ORDERS_ERROR_CODES): must be samples or table",
			"--listen (MERCHANT_ORDERS_LISTEN): must be host:port with a port from 0 to 65535, such as 127.0.0.1:8080 or [::]:8080",
			"--rate-limit (MERCHANT_ORDERS_RATE_LIMIT): must be a whole number from 0 to 10000"}},
		{[]string{"serve", "--database=postgres://u:secret@h/d"}, []string{storageRequired}},
		{[]string{"check", "--database=postgres://u:secret@h/d"}, []string{storageRequired}},
		{[]string{"purge", "--database=postgres://u:secret@h/d"}, []string{storageRequired}},
		{[]string{"copy", "--to-data=x", "--database=postgres://u:secret@h/d"}, []string{storageRequired}},
	}
	for _, tc := range cases {
		t.Run(name(tc.args), func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			got := apptest.Run(t, "", append(tc.args, "--data="+data)...)
			got.WantOut(t, 2, "")
			var lines []string
			for line := range strings.Lines(got.Stderr) {
				text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "merchant-orders: ")
				if !ok {
					t.Errorf("a line without the name of the program: %q", line)
				}
				lines = append(lines, text)
			}
			if diff := cmp.Diff(tc.want, lines); tc.want != nil && diff != "" {
				t.Errorf("standard error (-want +got):\n%s", diff)
			}
			testenv.Of(os.Stat(data)).WantError(t, "the data folder", os.ErrNotExist)
		})
	}
}

const storageRequired = "--storage (MERCHANT_ORDERS_STORAGE): is required with PostgreSQL: s3://BUCKET?region=REGION," +
	" or file:///FOLDER for a folder that all instances share, such as file:///var/lib/merchant-orders/files"

// name returns the name of a test case.
func name(args []string) string {
	text := strings.Join(args, " ")
	return text[:min(len(text), 60)]
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "from env")
	run := func(variables map[string]string, args ...string) apptest.Result {
		var environ []string
		for name, value := range variables {
			environ = append(environ, name+"="+value)
		}
		return apptest.RunIn(t, environ, "", args...)
	}

	got := run(map[string]string{
		"MERCHANT_ORDERS_DATA": data, "MERCHANT_ORDERS_ID": "7", "MERCHANT_ORDERS_NAME": "From the environment",
		"MERCHANT_ORDERS_ERROR_CODES": "", "MERCHANT_ORDERS_PORT": "tcp://10.0.0.1:80",
	}, "merchant", "add", "--id", "8")
	want := "merchant 8: From the environment\n"
	got.WantOut(t, 0, want)
	if _, err := os.Stat(data); err != nil {
		t.Errorf("the folder of the variable was not used: %v", err)
	}

	got = run(map[string]string{
		"MERCHANT_ORDERS_DATA": data, "MERCHANT_ORDERS_OPERATOR": "perhaps", "MERCHANT_ORDERS_LOG_LEVEL": "loud",
	}, "token", "create")
	for _, variable := range []string{"MERCHANT_ORDERS_OPERATOR", "MERCHANT_ORDERS_LOG_LEVEL", "MERCHANT_ORDERS_MERCHANT"} {
		got.WantText(t, 2, "("+variable+"): ")
	}

	for value, want := range map[string]int{"true": 0, "TRUE": 0, "1": 0, "false": 2, "0": 2} {
		got := run(map[string]string{"MERCHANT_ORDERS_DATA": data, "MERCHANT_ORDERS_OPERATOR": value}, "token", "create")
		if got.Code != want {
			t.Errorf("MERCHANT_ORDERS_OPERATOR=%s: exit code %d, want %d: %s", value, got.Code, want, got.Stderr)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	run := func(environ []string, args ...string) apptest.Result {
		return apptest.RunIn(t, environ, "", args...)
	}
	for _, args := range [][]string{{"version"}, {"merchant", "list"}, {"serve"}, {"orders", "list", "--token=x"}} {
		data := filepath.Join(t.TempDir(), "data")
		got := run([]string{"MERCHANT_ORDERS_LISTN=:1", "MERCHANT_ORDERS_BASEURL=x", "MERCHANT_ORDERS_DATA=" + data}, args...)
		want := `merchant-orders: the environment variable MERCHANT_ORDERS_BASEURL is not a setting; did you mean MERCHANT_ORDERS_BASE_URL?
merchant-orders: the environment variable MERCHANT_ORDERS_LISTN is not a setting; did you mean MERCHANT_ORDERS_LISTEN?
`
		if got.Code != 2 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, want) {
			t.Errorf("%v: %+v, want exit code 2 and\n%s", args, got, want)
		}
		testenv.Of(os.Stat(data)).WantError(t, fmt.Sprintf("%v: the data folder", args), os.ErrNotExist)
	}
	got := run([]string{
		"OTHER=x", "MERCHANT_ORDERS=x", "MERCHANT_ORDERS_LISTN=", "MERCHANT_ORDERS_TEST=all", "MERCHANT_ORDERS_TEST_POSTGRES=x", "MERCHANT_ORDERS_TO_DATA=x",
		"MERCHANT_ORDERS_SERVICE_HOST=10.0.0.1", "MERCHANT_ORDERS_SERVICE_PORT=80", "MERCHANT_ORDERS_SERVICE_PORT_HTTP=80",
		"MERCHANT_ORDERS_PORT=tcp://10.0.0.1:80", "MERCHANT_ORDERS_PORT_80_TCP=tcp://10.0.0.1:80", "MERCHANT_ORDERS_PORT_80_TCP_PROTO=tcp",
		"MERCHANT_ORDERS_PORT_80_TCP_PORT=80", "MERCHANT_ORDERS_PORT_80_TCP_ADDR=10.0.0.1", "MERCHANT_ORDERS_DB_SERVICE_HOST=10.0.0.1",
	}, "version")
	got.WantText(t, 0)
	run([]string{"MERCHANT_ORDERS_PORT=8080"}, "version").WantText(t, 2)
}

func TestDataFolder(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "a", "data")
	apptest.Run(t, "", "merchant", "add", "--id=1", "--name=x", "--data", data).WantText(t, 0, "merchant-orders: created the data folder "+data+"\n")
	testenv.Equal(t, "the folder's mode", 0o700, testenv.Of(os.Stat(data)).Must(t).Mode().Perm())
	apptest.Run(t, "", "merchant", "list", "--data", data).WantText(t, 0, "1   x")
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, habit := range []string{"--version", "-v"} {
		apptest.Run(t, "", habit).WantText(t, 0, "merchant-orders ", ", commit ")
	}
	apptest.Run(t, "", "help").WantText(t, 0, "serve")
	apptest.Run(t, "", "help", "purge").WantText(t, 0, "--deleted-before")
	got := apptest.Run(t, "", "version")
	if got.Code != 0 || !regexp.MustCompile(`^merchant-orders \S+ go1\S* \S+/\S+, commit \S+ of \S+\n$`).MatchString(got.Stdout) {
		t.Errorf("%+v", got)
	}
	got = apptest.Run(t, "", "version", "--json")
	if got.Code != 0 || !regexp.MustCompile(`^\{"version":".+","commit":".+","date":".+","go":"go1.+","platform":".+/.+"\}\n$`).MatchString(got.Stdout) {
		t.Errorf("--json: %+v", got)
	}
}
