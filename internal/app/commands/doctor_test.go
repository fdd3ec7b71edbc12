package commands_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

type setting struct{ Name, Value, From string }

// report is the JSON output of doctor.
type report struct {
	Settings []setting
	Checks   []struct{ Status, Check, Detail, Advice string }
}

// doctor runs doctor --json. It returns the report, and the status of each check but
// those of the machine, which depend on where the test runs.
func doctor(t *testing.T, environ []string, args ...string) (apptest.Result, report, map[string]string) {
	t.Helper()
	got := apptest.RunIn(t, environ, "", append([]string{"doctor", "--json"}, args...)...)
	var r report
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	statuses := make(map[string]string)
	for _, check := range r.Checks {
		switch check.Check {
		case "disk", "inodes", "limits":
		default:
			statuses[check.Check] = check.Status
		}
		if (check.Status == "ok") != (check.Advice == "") && check.Status != "problem" && check.Check != "secrets" {
			t.Errorf("advice: %+v", check)
		}
	}
	return got, r, statuses
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	file := writeFile(t, "merchant-orders.yaml", "listen: 0.0.0.0:8443\n")
	got, r, statuses := doctor(t, []string{"MERCHANT_ORDERS_BASE_URL=https://orders.example.com"}, "--data", f.Data, "--config", file, "--trusted-proxies=10.0.0.0/8")
	want := map[string]string{"data folder": "ok", "database": "ok", "schema": "ok", "rights": "ok", "clock": "ok", "storage": "ok"}
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("checks (-want +got):\n%s\n%+v", diff, got)
	}
	from := make(map[string]string)
	for _, s := range r.Settings {
		from[s.Name] = s.Value + " from " + s.From
	}
	for name, want := range map[string]string{
		"data": f.Data + " from flag", "config": file + " from flag", "listen": "0.0.0.0:8443 from " + file + ":1",
		"base-url": "https://orders.example.com from MERCHANT_ORDERS_BASE_URL", "rate-limit": "100 from default",
	} {
		testenv.Equal(t, name, want, from[name])
	}
	// Nothing is left of the test of the storage.
	if staged, err := os.ReadDir(filepath.Join(f.Data, "files", ".staging")); err == nil && len(staged) > 0 {
		t.Errorf("left behind: %v", staged)
	}
	text := f.Run(t, "", "doctor")
	if !regexp.MustCompile(`(?m)^listen +127\.0\.0\.1:8080 `).MatchString(text.Stdout) {
		t.Errorf("the output has no address:\n%s", text.Stdout)
	}
	testenv.Contains(t, "output", text.Stdout, "\nSTATUS ", "\nok ", "  sqlite://"+f.Data+"/orders.db\n")
}

func TestDoctorOfNothing(t *testing.T) {
	t.Parallel()
	f := folder(t)
	_, _, statuses := doctor(t, nil, "--data", f.Data, "--listen=:80")
	want := map[string]string{"data folder": "warning", "database": "warning", "storage": "warning", "base-url": "warning", "encryption": "warning"}
	testenv.Equal(t, "checks", want, statuses)
	if _, err := os.Stat(f.Data); err == nil {
		t.Error("the data folder was created")
	}
}

// TestDoctorAfterRollback examines a database with a further step that only adds, beside which
// a backup was killed, as another one was in a folder of backups, and how nightly jobs ended.
func TestDoctorAfterRollback(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	setVersion(t, f.Data, "INSERT INTO schema_steps VALUES (201, 'x')")
	backups := t.TempDir()
	f.Run(t, "", "backup", filepath.Join(backups, "orders.tar")).WantText(t, 0, "backed up")
	var killed []string
	for _, dir := range []string{f.Data, filepath.Dir(f.Data), backups} {
		folder := filepath.Join(dir, ".orders.tar.partial-1")
		testenv.NoError(t, os.Mkdir(folder, 0o700))
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, "lock"), nil, 0o600))
		killed = append(killed, folder)
	}
	_, r, statuses := doctor(t, nil, "--data", f.Data)
	for _, folder := range killed {
		if statuses["schema"] != "ok" || statuses["nightly backup"] != "ok" || statuses["backups"] != "warning" || strings.Count(fmt.Sprint(r.Checks), folder+" ") != 1 {
			t.Errorf("%s: %+v", folder, r.Checks)
		}
	}
	for name, row := range map[string]int64{"backup_success": 1, "check_failed": 1} {
		setVersion(t, f.Data, fmt.Sprintf("INSERT INTO counters (name, last) VALUES ('%s', %d) ON CONFLICT (name) DO UPDATE SET last = excluded.last", name, row))
	}
	_, r, statuses = doctor(t, nil, "--data", f.Data)
	if text := fmt.Sprint(r.Checks); statuses["nightly backup"] != "warning" || statuses["nightly check"] != "warning" ||
		!strings.Contains(text, "ended at 1970-01-01T00:00:01Z") || !strings.Contains(text, "the last check failed") {
		t.Errorf("%+v", r.Checks)
	}
}

func TestDoctorFindsProblems(t *testing.T) {
	t.Parallel()
	secret := writeFile(t, "database", "postgres://u:secret@127.0.0.1:1/orders?sslmode=disable")
	testenv.NoError(t, os.Chmod(secret, 0o644))
	f := folder(t)
	f.Merchant(t, 355)
	setVersion(t, f.Data, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (201, 1)")
	testenv.NoError(t, os.Chmod(f.Data, 0o755))
	files := writeFile(t, "files", "")
	for name, c := range map[string]struct {
		environ, args []string
		want          map[string]string
	}{
		"unreachable": {
			[]string{"MERCHANT_ORDERS_DATABASE_FILE=" + secret}, []string{"--data", t.TempDir(), "--storage=file://" + t.TempDir()},
			map[string]string{"data folder": "ok", "secrets": "warning", "database": "problem", "storage": "ok"},
		},
		"newer": {
			nil, []string{"--data", f.Data},
			map[string]string{"data folder": "warning", "database": "ok", "schema": "problem", "rights": "ok", "clock": "ok", "storage": "ok"},
		},
		"no database": {
			[]string{"AWS_ACCESS_KEY_ID=x", "MERCHANT_ORDERS_AWS_SECRET_ACCESS_KEY_FILE=/dev/null/x"},
			[]string{"--data", f.Data, "--database=sqlite://" + files, "--storage=s3://bucket?region=r-1&endpoint=http://127.0.0.1:1"},
			map[string]string{"data folder": "warning", "database": "ok", "schema": "warning", "rights": "ok", "clock": "ok", "storage": "problem"},
		},
	} {
		if name == "unreachable" {
			testenv.NoError(t, os.Chmod(c.args[1], 0o700))
		}
		got, r, statuses := doctor(t, c.environ, c.args...)
		if diff := cmp.Diff(c.want, statuses); diff != "" || got.Code != 1 || !strings.HasSuffix(got.Stderr, " problem\n") {
			t.Errorf("%s: checks (-want +got):\n%s\n%+v", name, diff, got)
		}
		if name == "no database" {
			testenv.Equal(t, "the last setting", setting{"AWS_ACCESS_KEY_ID", "(secret)", "AWS_ACCESS_KEY_ID"}, r.Settings[len(r.Settings)-1])
		}
		if strings.Contains(got.Stdout+got.Stderr, "secret@") || strings.Contains(got.Stdout, "u:") {
			t.Errorf("%s: the output has the password: %+v", name, r)
		}
	}
}

// TestDoctorHidesSecrets: of a database it shows the place, of other secrets nothing.
func TestDoctorHidesSecrets(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	_, r, _ := doctor(t, []string{"MERCHANT_ORDERS_SMTP_PASSWORD=sqlite:///password"}, "--data", f.Data, "--base-url=http://localhost",
		"--smtp=smtp://localhost:25", "--smtp-from=orders@example.com", "--smtp-user=orders")
	if want := (setting{"smtp-password", "(secret)", "MERCHANT_ORDERS_SMTP_PASSWORD"}); !slices.Contains(r.Settings, want) {
		t.Errorf("settings %+v lack %+v", r.Settings, want)
	}
}

func TestDoctorCertificate(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	for expires, want := range map[time.Time]string{
		nextCentury: "ok", time.Now().Add(24 * time.Hour): "warning", time.Unix(1e9, 0): "problem",
	} {
		pair := certtest.New(t, expires)
		got, _, statuses := doctor(t, nil, "--data", f.Data, "--tls-cert", pair.Cert, "--tls-key", pair.Key)
		if statuses["certificate"] != want || (got.Code == 0) != (want != "problem") {
			t.Errorf("expires at %s: %s, want %s: %+v", expires, statuses["certificate"], want, got)
		}
	}
}

// TestDoctorOutside tests the servers of others: a mail server that refuses the sender, an
// identity provider that calls itself something else, or has no keys, and a collector that takes
// no spans; and all of them dead.
func TestDoctorOutside(t *testing.T) {
	t.Parallel()
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/openid-configuration") {
			w.Header().Set("Content-Type", "application/json")
			name, _, _ := strings.Cut(r.URL.Path, ".well-known") // with a slash at its end
			if name != "/" {
				name = strings.TrimSuffix(name, "/")
			}
			_, _ = fmt.Fprintf(w, `{"issuer": "http://%s%s", "jwks_uri": "http://%[1]s/keys"}`, r.Host, name)
			return
		}
		http.Error(w, "spans are not for you", http.StatusForbidden)
	}))
	t.Cleanup(outside.Close)
	mail := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	t.Cleanup(func() { _ = mail.Close() })
	go func() {
		for connection, err := mail.Accept(); err == nil; connection, err = mail.Accept() {
			_, _ = connection.Write([]byte("554 5.7.1 your address is blocked\r\n"))
			_ = connection.Close()
		}
	}()
	f := folder(t)
	f.Merchant(t, 355)
	f.Run(t, "", "webhook", "add", "--merchant", "355", "--url", "https://receiver.example.com").WantText(t, 0)
	setVersion(t, f.Data, "UPDATE webhooks SET state = 4")
	for name, c := range map[string]struct {
		http, mail string
		want       []string
	}{
		"refuse": {outside.URL, mail.Addr().String(), []string{
			"554 5.7.1 your address is blocked", `calls itself \"` + outside.URL + `/\", so set --oidc-issuer to that`, "403",
		}},
		"no keys": {outside.URL + "/shop", "127.0.0.1:1", []string{"the identity provider cannot be reached: fetching keys", "403"}},
		"dead":    {"http://127.0.0.1:1", "127.0.0.1:1", []string{"mail", "the identity provider cannot be reached", "connection refused"}},
	} {
		got, _, statuses := doctor(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.http}, "--data", f.Data, "--base-url=http://localhost",
			"--smtp=smtp://"+c.mail, "--smtp-from=orders@example.com", "--oidc-issuer="+c.http, "--oidc-client-id=x", "--oidc-rules=sub=1 operator orders:read")
		for _, check := range []string{"mail", "identity provider", "tracing"} {
			if statuses[check] != "problem" {
				t.Errorf("%s: %s is %q", name, check, statuses[check])
			}
		}
		testenv.Contains(t, name, got.Stdout, append(c.want, "1 webhook in the state failing")...)
	}
}
