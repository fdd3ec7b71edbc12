package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// backupScript returns the script of the CronJob that backs up PostgreSQL.
func backupScript(t *testing.T) string {
	t.Helper()
	text := testenv.Of(os.ReadFile("../../../deploy/kubernetes/nightly/backup.yaml")).Must(t)
	_, cronJob, _ := strings.Cut(string(text), "\n---\n")
	var job struct {
		Spec struct {
			JobTemplate struct {
				Spec struct {
					Template struct {
						Spec struct {
							Containers []struct{ Command, Args []string }
						}
					}
				}
			} `yaml:"jobTemplate"`
		}
	}
	testenv.NoError(t, yaml.Unmarshal([]byte(cronJob), &job))
	return job.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args[0]
}

// TestNightlyDump runs the script of the CronJob of a backup, and restores its dump.
func TestNightlyDump(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"psql", "pg_dump", "pg_restore"} {
		testenv.Program(t, program, "postgresql-client")
	}
	server := pgtest.Shared(t)
	database := server.Database(t)
	settings := []string{"--database", database, "--storage", "file://" + filepath.Join(t.TempDir(), "files")}
	dumps := t.TempDir()
	run := func(script string) error {
		shell := exec.CommandContext(t.Context(), "sh", "-euc", strings.ReplaceAll(script, "/backup/", dumps+"/"))
		shell.Env = append(os.Environ(), "MERCHANT_ORDERS_DATABASE="+database+"&pool_max_conns=20")
		output, err := shell.CombinedOutput()
		t.Logf("%s", output)
		return err
	}
	s := apptest.StartWith(t, settings)
	s.Import(t, document(1))
	script := strings.ReplaceAll(backupScript(t), "find /backup ", "find "+dumps+" ")
	testenv.NoError(t, run(script))
	if err := run("pg_dump() { return 1; }\n" + script); err == nil {
		t.Error("a dump that fails succeeds")
	}
	wantMetrics(t, s, "after a backup and one that failed", `backup_last_success_timestamp_seconds \d\.\d+e\+09`, `backup_failed 1`)

	found, err := filepath.Glob(filepath.Join(dumps, "orders-*.dump"))
	if err != nil || len(found) != 1 {
		t.Fatalf("dumps %q, %v", found, err)
	}
	restored := server.Database(t)
	output, err := exec.CommandContext(t.Context(), "pg_restore", "--no-owner", "--dbname", restored, found[0]).CombinedOutput()
	if err != nil {
		t.Fatalf("pg_restore: %v: %s", err, output)
	}
	settings[1] = restored
	onRestored := apptest.Folder{Data: t.TempDir(), Settings: settings}.Serve(t)
	wantMetrics(t, onRestored, "after a restore", `orders\{state="registered"\} 1`)
}
