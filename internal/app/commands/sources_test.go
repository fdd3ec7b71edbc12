package commands_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// writeFile writes a file of a test and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testenv.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestSettingsFile(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	file := writeFile(t, "merchant-orders.yaml", "data: "+f.Data+"\nlog-level: warn\noperator: true\n")
	variable := []string{"MERCHANT_ORDERS_CONFIG=" + file}
	for name, got := range map[string]apptest.Result{
		"flag":          apptest.RunIn(t, nil, "", "--config", file, "token", "create"),
		"after":         apptest.RunIn(t, nil, "", "token", "create", "--config="+file),
		"variable":      apptest.RunIn(t, variable, "", "token", "create"),
		"flag first":    apptest.RunIn(t, []string{"MERCHANT_ORDERS_CONFIG=/dev/null/x"}, "", "token", "create", "--config="+file),
		"variable wins": apptest.RunIn(t, append(variable, "MERCHANT_ORDERS_OPERATOR=false", "MERCHANT_ORDERS_MERCHANT=355"), "", "token", "create"),
	} {
		prefix := "mop_"
		if name == "variable wins" {
			prefix = "mo_"
		}
		if got.Code != 0 || got.Stderr != "" || !strings.HasPrefix(got.Stdout, prefix) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	bad := writeFile(t, "bad.yaml", "data: /dev/null/x\nlog-level: loud\nlistn: x\noperator: perhaps\n")
	got := apptest.RunIn(t, nil, "", "token", "create", "--config="+bad)
	want := `merchant-orders: ` + bad + `:3: "listn" is not a setting; did you mean "listen"?
merchant-orders: --operator (` + bad + `:4): must be true or false
merchant-orders: --data (` + bad + `:1): must be a folder that this user may write to: not a directory
merchant-orders: --log-level (` + bad + `:2): must be debug, info, warn or error
merchant-orders: --merchant (MERCHANT_ORDERS_MERCHANT): or --operator is required
`
	got.WantErr(t, 2, want)
	apptest.RunIn(t, nil, "", "version", "--config=/dev/null/x").WantErr(t, 2, "merchant-orders: --config (MERCHANT_ORDERS_CONFIG): /dev/null/x: cannot read the file: not a directory\n")
}

func TestSecretsFromFiles(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	database := "sqlite://" + filepath.Join(f.Data, "orders.db")
	file := writeFile(t, "database", database+"\n")
	for _, environ := range map[string][]string{
		"file":       {"MERCHANT_ORDERS_DATABASE_FILE=" + file},
		"credential": {"CREDENTIALS_DIRECTORY=" + filepath.Dir(file)},
	} {
		apptest.RunIn(t, environ, "", "merchant", "list", "--data", t.TempDir()).WantText(t, 0, "Store 355")
	}
	// Commands read what they need, and report one line for each fault.
	broken := []string{"MERCHANT_ORDERS_DATABASE_FILE=/dev/null/x", "MERCHANT_ORDERS_TOKEN_FILE=/dev/null/y"}
	const why = ": cannot read the file: not a directory\n"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"database":       {[]string{"merchant", "list"}, "merchant-orders: MERCHANT_ORDERS_DATABASE_FILE" + why},
		"token":          {[]string{"orders", "list"}, "merchant-orders: MERCHANT_ORDERS_TOKEN_FILE" + why},
		"a flag instead": {[]string{"merchant", "list", "--database", database}, ""},
	} {
		got := apptest.RunIn(t, broken, "", c.args...)
		if code := map[bool]int{true: 0, false: 2}[c.want == ""]; got.Code != code || got.Stderr != c.want {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
	}
	wrong := writeFile(t, "database", "mysql://u:secret@h/d\n")
	apptest.RunIn(t, []string{"MERCHANT_ORDERS_DATABASE_FILE=" + wrong}, "", "merchant", "list").WantErr(t, 2, "merchant-orders: --database (MERCHANT_ORDERS_DATABASE_FILE): must be empty, sqlite://PATH or postgres://user:password@host/database\n")
}

func TestSecretsInTheProcessList(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	const unreachable = "127.0.0.1:1/d?sslmode=disable"
	for address, warned := range map[string]bool{
		"postgres://u:secret@" + unreachable:               true,
		"postgres://u@" + unreachable + "&password=secret": true,
		"postgres://u@" + unreachable:                      false,
		"sqlite://" + filepath.Join(f.Data, "orders.db"):   false,
	} {
		got := apptest.RunIn(t, nil, "", "merchant", "list", "--database="+address)
		const want = "merchant-orders: warning: every user of the machine can see --database in the process list, and it contains a secret;" +
			" use MERCHANT_ORDERS_DATABASE or MERCHANT_ORDERS_DATABASE_FILE instead\n"
		if strings.HasPrefix(got.Stderr, want) != warned || strings.Contains(got.Stderr, "secret@") || strings.Contains(got.Stderr, "=secret") {
			t.Errorf("%s: %+v", address, got)
		}
	}
	got := apptest.RunIn(t, nil, "", "orders", "list", "mo_secret")
	if got.Code != 2 || strings.Contains(got.Stderr, "secret") || !strings.Contains(got.Stderr, "mo_...") {
		t.Errorf("a token as an argument: %+v", got)
	}
}

// TestCrashShowsNoSecret has a program write the stacks of all its goroutines while
// it uses a token.
func TestCrashShowsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "mo_secretsecretsecret"
	received, release := make(chan string, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		received <- r.Header.Get("Authorization")
		<-release
	}))
	defer server.Close()
	defer close(release)
	var stderr bytes.Buffer
	command := apptest.Command(t, "orders", "watch", "--address", server.URL)
	command.Env = append(command.Env, "MERCHANT_ORDERS_TOKEN="+secret)
	command.Stderr = &stderr
	testenv.NoError(t, command.Start())
	testenv.Equal(t, "token of the request", "Bearer "+secret, <-received)
	testenv.NoError(t, command.Process.Signal(syscall.SIGABRT))
	if err := command.Wait(); err == nil || !strings.Contains(stderr.String(), "goroutine ") || strings.Contains(stderr.String(), "secretsecret") {
		t.Errorf("%v, standard error has no stacks, or the token:\n%s", err, stderr.String())
	}
}
