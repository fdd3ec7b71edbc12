package commands_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// block is a block of docs/sources.md: its language, the name of its file if it has
// one, and its content.
var block = regexp.MustCompile("(?s)\n```([a-z]+) ?([a-z.]*)\n(.*?)```\n")

// TestSources runs the commands of docs/sources.md, each section twice: the second
// time nothing changes.
func TestSources(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "curl", "curl")
	testenv.Program(t, "jq", "jq")
	testenv.Program(t, "psql", "postgresql-client")
	text := testenv.Of(os.ReadFile("../../../docs/sources.md")).Must(t)
	folder := t.TempDir()
	var scripts []string
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		switch {
		case b[2] != "":
			testenv.NoError(t, os.WriteFile(filepath.Join(folder, b[2]), []byte(b[3]), 0o600))
		case b[1] == "sh":
			scripts = append(scripts, b[3])
		}
	}
	if len(scripts) != 4 {
		t.Fatalf("%d scripts", len(scripts))
	}
	s := apptest.Start(t)
	s.Folder.Run(t, "", "merchant", "add", "--id", "355", "--name", "Our Store")
	operator := s.Folder.Token(t, "--operator", "--scopes", "orders:ingest,orders:transition")
	shop := pgtest.Shared(t).Database(t)
	bash := func(script string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		command.Dir, command.Env = folder, append(os.Environ(), "OPERATOR="+operator, "BASE="+s.AdminURL(), "SHOP="+shop)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, output)
		}
		return string(output)
	}
	contains := func(what, output, want string) {
		t.Helper()
		testenv.Contains(t, what, output, want)
	}

	summary := func(created, unchanged string) string {
		return `{"summary":{"conflicting":0,"created":` + created + `,"deleted":0,"invalid":0,"unchanged":` + unchanged + `},"complete":true`
	}
	for _, want := range []string{summary("2", "0"), summary("0", "2")} {
		contains("JSON", bash(scripts[0]+scripts[1]+"cat results.jsonl"), want)
	}

	bash(`psql -X -q -v ON_ERROR_STOP=1 -f shop.sql "$SHOP" && psql -X -q -v ON_ERROR_STOP=1 "$SHOP" <<'EOS'
		INSERT INTO shop_orders
			SELECT n, now() - interval '1 hour', now() - n * interval '1 second', status, tracking, 'buyer@example.com', 'Μαρία', E'O''Hara "\n', 'Ερμού 1', 'Αθήνα', '10563', 4.00
			FROM (VALUES (2001, 'new', NULL), (2002, 'confirmed', 'T-1'), (2003, 'sent', NULL)) AS v (n, status, tracking);
		INSERT INTO shop_items SELECT number, row, 'Cable', 13.90, row FROM shop_orders, generate_series(1, 2) AS row;
EOS`)
	for _, want := range []string{summary("3", "0"), summary("0", "3")} {
		contains("a table", bash(scripts[2]), want)
	}
	contains("changes", bash(scripts[3]), `{"summary":{"changed":1,"invalid":0,"not_found":0,"refused":1,"unchanged":0},"complete":true`)
	again := bash(scripts[3])
	contains("changes again", again, `{"summary":{"changed":0,"invalid":0,"not_found":0,"refused":1,"unchanged":1},"complete":true`)
	contains("changes again", again, `"reference":"SHOP-2003","status":"refused","state":"registered"`)
}
