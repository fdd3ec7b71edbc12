package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql

	"merchantorders/internal/testenv"
)

// published are the fingerprints of the steps of each database. From the first release on
// this list only grows: a database that has run a step is refused if the step changes.
var published = map[string][]string{
	"sqlite":   {"1 initial c6923f081499f6e4", "101 merchant_reference 4b0646a3b1aa05e5", "102 webhook_scopes 6c91625c87846a56", "103 digest_end 321f03009fe51cb9", "104 webhook_batches a0283908a68fa55c", "105 live_tokens d19e4360d82e55f4", "106 passkey eb69717aec3cf4dc", "107 invoice_numbers db03a388737438de", "108 without_invoice 483b65a917df6767", "109 kept c54cdfe84aaf57ef", "110 slip 78af71d147f2d2d3", "111 own_tokens 8f463748b7d63f9d"},
	"postgres": {"1 initial e27795d0eed932ce", "101 merchant_reference c06ae35209887d48", "102 webhook_scopes 8d7417e0dcc6cadc", "103 digest_end 6f10e98d11de2c11", "104 webhook_batches 6c30abc8df172845", "105 live_tokens 167a0cf0259541a1", "106 passkey 82d577d4df8436a5", "107 invoice_numbers db03a388737438de", "108 without_invoice e27dbae4441e5a86", "109 kept 5b7f4e5587c34370", "110 slip 78af71d147f2d2d3", "111 own_tokens af9eb2023079d0e9"},
}

func TestPublishedSteps(t *testing.T) {
	t.Parallel()
	for _, schema := range []Schema{SQLite, Postgres} {
		steps := testenv.Of(schema.Steps()).Must(t)
		var got []string
		for _, step := range steps {
			got = append(got, list([]int64{step.Version})+" "+step.Name+" "+step.fingerprint)
		}
		testenv.Equal(t, fmt.Sprintf("steps for %s", schema.folder), published[schema.folder], got)
	}
}

// applied returns the steps of goose's table, and those of schema_steps alone.
func applied(history map[int64]string, added ...int64) map[int64]appliedStep {
	steps := make(map[int64]appliedStep)
	for version, fingerprint := range history {
		steps[version] = appliedStep{fingerprint, true}
	}
	for _, version := range added {
		steps[version] = appliedStep{"added", false}
	}
	return steps
}

// TestStatus compares the steps 1, 2, 101, and 102, which only adds, with what databases
// have run.
func TestStatus(t *testing.T) {
	t.Parallel()
	steps := []Step{{Version: 1, fingerprint: "a"}, {Version: 2, fingerprint: "b"}, {Version: 101, fingerprint: "c"}, {Version: 102, Adds: true, fingerprint: "added"}}
	for name, c := range map[string]struct {
		applied                 map[int64]appliedStep
		open, existing, current string // errors of a server, of commands, and of commands that need this schema
	}{
		"empty":       {nil, "", "the database is empty", "the database is empty"},
		"older":       {applied(map[int64]string{1: "a", 2: "b"}), "", "schema version 2 and this program needs 102", "schema version 2 and this program needs 102"},
		"up to date":  {applied(map[int64]string{1: "a", 2: "b", 101: "c"}, 102), "", "", ""},
		"in goose's":  {applied(map[int64]string{1: "a", 2: "b", 101: "c", 102: "added"}), "", "", ""},
		"patch":       {applied(map[int64]string{1: "a", 2: "b", 101: "c"}, 102, 103), "", "", "schema version 103, this program knows 102"},
		"next, adds":  {applied(map[int64]string{1: "a", 2: "b", 101: "c"}, 102, 201, 301), "", "", "schema version 301"},
		"next":        {applied(map[int64]string{1: "a", 2: "b", 101: "c", 201: "d"}, 102), "schema version 201, this program knows 102", "", "schema version 201"},
		"after next":  {applied(map[int64]string{1: "a", 2: "b", 101: "c", 301: "d"}, 102), "schema version 301", "schema version 301", "schema version 301"},
		"changed":     {applied(map[int64]string{1: "a", 2: "x"}), "under the same numbers (2)", "under the same numbers (2)", "under the same numbers (2)"},
		"unrecorded":  {applied(map[int64]string{1: ""}), "under the same numbers (1)", "under the same numbers (1)", "under the same numbers (1)"},
		"unknown":     {applied(map[int64]string{1: "a", 2: "b", 3: "x", 16: "y"}), "does not have (3, 16)", "does not have (3, 16)", "does not have (3, 16)"},
		"unknown new": {applied(map[int64]string{1: "a", 2: "b", 101: "c", 103: "x"}, 102), "does not have (103)", "does not have (103)", "does not have (103)"},
		"gap":         {applied(map[int64]string{1: "a", 101: "c"}), "run step 101, but not all before it (2)", "run step 101, but not all before it (2)", "before it (2)"},
		"gap, next":   {applied(map[int64]string{1: "a", 2: "b", 201: "c"}), "run step 201, but not all before it (101, 102)", "before it (101, 102)", "before it (101, 102)"},
		"interrupted": {applied(map[int64]string{1: "a", 2: "b"}, 101), "", "schema version 2 and", "schema version 2 and"},
	} {
		status := newStatus(slices.Clone(steps), c.applied)
		for _, use := range []struct {
			options Options
			want    string
		}{{Options{}, c.open}, {Options{NoCreate: true, NoMigrate: true}, c.existing}, {Options{NoCreate: true, NoMigrate: true, NoNewer: true}, c.current}} {
			change, err := status.check(use.options)
			if use.want == "" && (err != nil || change != (name == "empty" || name == "older" || name == "interrupted")) || use.want != "" && (err == nil || !strings.Contains(err.Error(), use.want)) {
				t.Errorf("%s, %+v: %v, error %v, want %q", name, use.options, change, err, use.want)
			}
		}
		for _, step := range status.Steps {
			if _, applied := c.applied[step.Version]; step.Applied != (applied && name != "interrupted" || applied && step.Version != 101) {
				t.Errorf("%s: step %d: %v", name, step.Version, step.Applied)
			}
		}
	}
}

// TestUp runs the steps of a release, then those of the next one, one of which is
// interrupted once.
func TestUp(t *testing.T) {
	t.Parallel()
	db := open(t)
	first := fstest.MapFS{"x/00001_initial.sql": {Data: []byte("-- +goose Up\nCREATE TABLE schema_steps (version INTEGER PRIMARY KEY, fingerprint TEXT);\n")}}
	next := fstest.MapFS{
		"x/00001_initial.sql": first["x/00001_initial.sql"],
		"x/00101_a.sql":       {Data: []byte("-- +goose Up\nCREATE TABLE a (x);\n")},
		"x/00102_b.sql":       {Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS b (x);\nINSERT INTO c VALUES (1);\n")},
	}
	up := func(files fstest.MapFS) (steps []int64, err error) {
		schema := Schema{SQLite.dialect, files, "x", SQLite.hasTable}
		err = schema.Up(t.Context(), db, Options{OnStep: func(step Step) { steps = append(steps, step.Version) }})
		return steps, err
	}
	refused := errors.New("refused")
	testenv.Equal(t, "before creation", refused, (Schema{SQLite.dialect, first, "x", SQLite.hasTable}).Up(t.Context(), db, Options{BeforeCreate: func(context.Context) error { return refused }}))
	if steps, err := up(first); err != nil || !cmp.Equal(steps, []int64{1}) {
		t.Fatalf("steps %v, error %v", steps, err)
	}
	if steps, err := up(next); err == nil || !cmp.Equal(steps, []int64{101}) {
		t.Errorf("steps %v, error %v, want one because there is no table c", steps, err)
	}
	testenv.Of(db.ExecContext(t.Context(), `CREATE TABLE c (x)`)).Must(t)
	for _, want := range [][]int64{{102}, nil} {
		if steps, err := up(next); err != nil || !cmp.Equal(steps, want) {
			t.Errorf("steps %v, error %v, want %v", steps, err, want)
		}
	}
	if _, err := up(first); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("the first release again: %v", err)
	}
}

// TestStepsThatAdd upgrades by steps that only add: the release before, which knows none
// of them, works with the schema, and another run of the steps does nothing.
func TestStepsThatAdd(t *testing.T) {
	t.Parallel()
	db := open(t)
	first := fstest.MapFS{"x/00001_initial.sql": {Data: []byte("-- +goose Up\nCREATE TABLE schema_steps (version INTEGER PRIMARY KEY, fingerprint TEXT);\n")}}
	next := maps.Clone(first)
	next["x/00101_a.adds.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE a (x);\n")}
	next["x/00102_b.adds.sql"] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE b (x);\n")}
	up := func(files fstest.MapFS) Status {
		t.Helper()
		schema := Schema{SQLite.dialect, files, "x", SQLite.hasTable}
		testenv.NoError(t, schema.Up(t.Context(), db, Options{}))
		status, err := schema.Status(t.Context(), db)
		if err != nil || status.Foreign != nil {
			t.Fatal(err, status.Foreign)
		}
		return status
	}
	for _, files := range []fstest.MapFS{first, next, first, next} {
		status := up(files)
		if want := len(files); len(status.Steps) != want || !status.Steps[want-1].Applied {
			t.Errorf("%+v", status)
		}
	}
	// What the program of 1.0 reads.
	var history int64
	if err := db.QueryRowContext(t.Context(), `SELECT MAX(version_id) FROM goose_db_version`).Scan(&history); err != nil || history != 1 {
		t.Errorf("goose's table has step %d, error %v", history, err)
	}
	next["x/00103_c.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE c (x);\n")}
	testenv.Equal(t, "status", 103, up(next).Version)
	if err := (Schema{SQLite.dialect, first, "x", SQLite.hasTable}).Up(t.Context(), db, Options{}); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("the first release after a step that does not only add: %v", err)
	}
}

// open returns an empty database.
func open(t *testing.T) *sql.DB {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "test.db"))).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// TestUpgradedRows upgrades a database of 1.0 with webhooks and sessions of two tokens, only
// one of which may read orders.
func TestUpgradedRows(t *testing.T) {
	t.Parallel()
	db := open(t)
	exec := func(text string, args ...any) {
		t.Helper()
		testenv.Of(db.ExecContext(t.Context(), text, args...)).Must(t)
	}
	initial := testenv.Of(files.ReadFile("sqlite/00001_initial.sql")).Must(t)
	released := Schema{SQLite.dialect, fstest.MapFS{"x/00001_initial.sql": {Data: initial}}, "x", SQLite.hasTable}
	testenv.NoError(t, released.Up(t.Context(), db, Options{}))
	for id, scopes := range map[int]int{1: 1 | 16, 2: 16} {
		exec(`INSERT INTO tokens (id, hash, merchant_id, scopes, hint, created_at) VALUES ($1, $1, 355, $2, '', 0)`, id, scopes)
		exec(`INSERT INTO sessions VALUES ($1, $1, 0, 0, 0)`, id)
		exec(`INSERT INTO audit VALUES (355, $1, 0, 'webhook.added', 1, $1, '', '', 0, '', $1, '', '')`, id)
		exec(`INSERT INTO webhooks VALUES (355, $1, '', '', 0, 0, '', '', '', 0, '', '', NULL, 1, '', NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, '', 0, NULL, '', NULL, '', NULL, 0, 0, 0, NULL)`, id)
	}
	testenv.NoError(t, SQLite.Up(t.Context(), db, Options{}))
	for id, want := range map[int]int{1: 1, 2: 3} {
		var state int
		if err := db.QueryRowContext(t.Context(), `SELECT state FROM webhooks WHERE id = $1`, id).Scan(&state); err != nil || state != want {
			t.Errorf("webhook %d: state %d, error %v, want state %d", id, state, err, want)
		}
		var merchantID int
		if err := db.QueryRowContext(t.Context(), `SELECT merchant_id FROM sessions WHERE token_id = $1`, id).Scan(&merchantID); err != nil || merchantID != 355 {
			t.Errorf("session of token %d: merchant %d, error %v", id, merchantID, err)
		}
	}
}
