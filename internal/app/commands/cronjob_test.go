package commands_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// backupArgs returns the arguments of the containers of the CronJob of a backup by their names.
func backupArgs(t *testing.T) map[string][]string {
	t.Helper()
	text := testenv.Of(os.ReadFile("../../../deploy/kubernetes/nightly/backup.yaml")).Must(t)
	_, cronJob, _ := strings.Cut(string(text), "\n---\n")
	type container struct {
		Name string
		Args []string
	}
	var job struct {
		Spec struct {
			JobTemplate struct {
				Spec struct {
					Template struct {
						Spec struct {
							InitContainers []container `yaml:"initContainers"`
							Containers     []container
						}
					}
				}
			} `yaml:"jobTemplate"`
		}
	}
	testenv.NoError(t, yaml.Unmarshal([]byte(cronJob), &job))
	args := make(map[string][]string)
	pod := job.Spec.JobTemplate.Spec.Template.Spec
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		args[c.Name] = c.Args
	}
	return args
}

// TestNightlyBackup runs what the CronJob of a backup runs, beside changes, and restores the dump
// with the copy of the bucket.
func TestNightlyBackup(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"psql", "pg_dump", "pg_restore"} {
		testenv.Program(t, program, "postgresql-client")
	}
	server := pgtest.Shared(t)
	database, storage := newTarget(t)
	_, copied := newTarget(t)
	containers, dumps, data := backupArgs(t), t.TempDir(), t.TempDir()
	run := func(script string) error {
		shell := exec.CommandContext(t.Context(), "sh", "-euc", strings.ReplaceAll(script, "/backup/", dumps+"/"))
		shell.Env = append(os.Environ(), "MERCHANT_ORDERS_DATABASE="+database+"&pool_max_conns=20")
		output, err := shell.CombinedOutput()
		t.Logf("%s", output)
		return err
	}
	s := apptest.StartWith(t, []string{"--database", database, "--storage", storage})
	s.Import(t, document(1))
	upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "in the backup")
	dump, record := containers["dump"][0], containers["record"][0]
	testenv.NoError(t, run(dump))
	files := func() string {
		got := apptest.RunIn(t, []string{"MERCHANT_ORDERS_TO_STORAGE=" + copied, "MERCHANT_ORDERS_DATA=" + data}, "", append(containers["files"], s.Folder.Settings...)...)
		if got.Code != 0 {
			t.Fatal(got)
		}
		return got.Stdout
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-1", `{"merchantNote":"x"}`)
				testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-1", `{"merchantNote":"y"}`)
			}
		}
	}()
	for !strings.Contains(files(), "The source changed during this run: files") {
	}
	close(stop)
	<-stopped
	testenv.NoError(t, run(record))
	if err := run("pg_dump() { return 1; }\n" + dump); err == nil {
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
	mustCheck(t, apptest.Folder{Data: t.TempDir(), Settings: []string{"--database", restored, "--storage", copied}})
	// Of old ones, which a wrong clock makes of all, the newest stay.
	old := time.Now().AddDate(0, 0, -20)
	for i := range 15 {
		path := filepath.Join(dumps, fmt.Sprintf("orders-old-%d.dump", i))
		testenv.NoError(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, old, old)))
	}
	testenv.NoError(t, run(dump))
	if found, err = filepath.Glob(filepath.Join(dumps, "orders-*.dump")); err != nil || len(found) != 14 {
		t.Errorf("dumps %q, %v, want 14", found, err)
	}
}
