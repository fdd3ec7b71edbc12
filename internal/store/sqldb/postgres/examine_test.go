package postgres

import (
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

func TestExamine(t *testing.T) {
	t.Parallel()
	url := pgtest.Shared(t).Database(t)
	examine := func(url string) info {
		t.Helper()
		return testenv.Of(read(t.Context(), url)).Must(t)
	}
	version := func() migrations.Status {
		t.Helper()
		return testenv.Of(SchemaStatus(t.Context(), url)).Must(t)
	}
	empty := examine(url)
	if version().Version != 0 || !empty.empty || !empty.migrates || empty.readOnly || empty.foreign != nil || empty.version < 100_000 || !strings.Contains(empty.name, ".") {
		t.Errorf("an empty database: %+v", empty)
	}
	if apart := time.Since(empty.now).Abs(); apart > time.Hour {
		t.Errorf("the clock of the server is %s apart", apart)
	}
	db := openTest(t, url)
	if schema, full := version(), examine(url); schema.Version != schema.Newest || full.empty || !full.migrates || full.foreign != nil {
		t.Errorf("a whole installation: %+v %+v", schema, full)
	}
	for _, text := range []string{
		`DO $$ BEGIN CREATE ROLE examine_limited LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
		`GRANT SELECT ON goose_db_version, schema_steps, orders TO examine_limited`,
	} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	limited := examine(strings.Replace(url, "postgres@", "examine_limited@", 1) + "&default_transaction_read_only=on")
	want := slices.Sorted(slices.Values(append(slices.Clone(migrations.Tables), migrations.InvoiceIDs)))
	if limited.migrates || !limited.readOnly || !slices.Equal(limited.foreign, want) {
		t.Errorf("a user without rights: %+v, want the tables %v", limited, want)
	}
	for _, text := range []string{
		`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO examine_limited`, `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO examine_limited`,
	} {
		testenv.Of(db.Exec(t.Context(), text)).Must(t)
	}
	if found, err := Examine(t.Context(), strings.Replace(url, "postgres@", "examine_limited@", 1)); err != nil || found.Lacking != nil || !strings.Contains(found.Rights, "for their owner") {
		t.Errorf("a user who may do all but migrate: %+v, error %v", found, err)
	}
	if _, err := Examine(t.Context(), "postgres://u:secret@127.0.0.1:1/d?sslmode=disable"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server: error %v", err)
	}
}
