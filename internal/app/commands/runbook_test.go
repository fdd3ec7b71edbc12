package commands_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// runbookCommand is a command of docs/runbook.md: an indented line, or one of the service
// within a sentence.
var runbookCommand = regexp.MustCompile("(?m)^    +(.+)$|`(merchant-orders-admin [^`]+)`")

// TestRunbook types the commands of docs/runbook.md from top to bottom, beside a server with
// a webhook, which systemctl stops and starts. e2e/release.TestAdmin does so with the package. e2e/instances.TestRotateSecrets runs the
// statements of its rotation.
func TestRunbook(t *testing.T) {
	t.Parallel()
	for program, debianPackage := range map[string]string{"jq": "jq", "psql": "postgresql-client", "curl": "curl"} {
		testenv.Program(t, program, debianPackage)
	}
	text := testenv.Of(os.ReadFile("../../../docs/runbook.md")).Must(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	f := folder(t)
	f.Merchant(t, 355)
	f.Import(t, document(1))
	serve := func() *apptest.Server {
		return f.ServeUnchecked(t, "--admin-listen", "127.0.0.1:0", "--no-webhooks") // no document has /debug/pprof
	}
	s := serve()
	f.Run(t, "", "webhook", "add", "--merchant", "355", "--url", receiver.URL, "--webhook-allow-private").WantText(t, 0)
	work := t.TempDir()
	testenv.NoError(t, os.WriteFile(filepath.Join(work, "journal"), []byte(s.Log()), 0o600))
	testenv.NoError(t, os.Mkdir(filepath.Join(work, "bin"), 0o700))
	testenv.NoError(t, os.WriteFile(filepath.Join(work, "bin", "journalctl"), []byte("#!/bin/sh\ncat journal\n"), 0o700))
	testenv.NoError(t, os.Symlink(apptest.Build(t), filepath.Join(work, "bin", "merchant-orders-admin")))
	environ := append(os.Environ(), "PATH="+filepath.Join(work, "bin")+":"+os.Getenv("PATH"), "SERVER="+pgtest.Shared(t).Database(t)+"&pool_max_conns=20",
		"MERCHANT_ORDERS_DATA="+f.Data, "MERCHANT_ORDERS_WEBHOOK_ALLOW_PRIVATE=true")
	typed := map[string]int{}
	for _, found := range runbookCommand.FindAllStringSubmatch(string(text), -1) {
		command := found[1] + found[2]
		program, rest, _ := strings.Cut(command, " ")
		typed[program]++
		switch program {
		case "CREATE", "ALTER":
			continue
		case "systemctl":
			s.Stop(t)
			if !strings.HasPrefix(rest, "stop") {
				s = serve()
			}
			continue
		}
		here := strings.NewReplacer(
			"/var/lib/merchant-orders-restored", filepath.Join(work, "restored"), "/var/lib/merchant-orders", f.Data,
			" --owner=merchant-orders --group=merchant-orders", "", "/var/backups/merchant-orders", work, "http://127.0.0.1:8081", s.AdminURL(),
			"$MERCHANT_ORDERS_DATABASE", "$SERVER", " TIME", " 2026-11-20T08:15:30Z",
		)
		shell := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", here.Replace(command))
		shell.Dir, shell.Env = work, append(environ, "MERCHANT_ORDERS_LISTEN="+strings.TrimPrefix(s.BaseURL, "http://"))
		if output, err := shell.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", command, err, output)
		}
	}
	testenv.Equal(t, "commands", map[string]int{
		"merchant-orders-admin": 25, "journalctl": 1, "jq": 3, "DATABASE=$(printf": 1, "curl": 1, "df": 1, "du": 1, "install": 1, "mv": 2, "systemctl": 3, "CREATE": 1, "ALTER": 1,
	}, typed)
}
