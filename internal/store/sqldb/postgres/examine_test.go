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
	examine := func(url string) Info {
		t.Helper()
		info, err := Examine(t.Context(), url)
		testenv.NoError(t, err)
		return info
	}
	empty := examine(url)
	if empty.Schema.Version != 0 || !empty.CanCreate || empty.ReadOnly || empty.Foreign != nil || empty.Version < 100_000 || !strings.Contains(empty.Name, ".") {
		t.Errorf("an empty database: %+v", empty)
	}
	if apart := time.Since(empty.Now).Abs(); apart > time.Hour {
		t.Errorf("the clock of the server is %s apart", apart)
	}
	db := openTest(t, url)
	if full := examine(url); full.Schema.Version != full.Schema.Newest || full.Foreign != nil {
		t.Errorf("a whole installation: %+v", full)
	}
	for _, text := range []string{
		`DO $$ BEGIN CREATE ROLE examine_limited LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
		`GRANT SELECT ON goose_db_version, schema_steps, orders TO examine_limited`,
	} {
		if _, err := db.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	limited := examine(strings.Replace(url, "postgres@", "examine_limited@", 1) + "&default_transaction_read_only=on")
	want := slices.Sorted(slices.Values(migrations.Tables))
	if limited.CanCreate || !limited.ReadOnly || !slices.Equal(limited.Foreign, want) {
		t.Errorf("a user without rights: %+v, want the tables %v", limited, want)
	}
	if _, err := Examine(t.Context(), "postgres://u:secret@127.0.0.1:1/d?sslmode=disable"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("no server: error %v", err)
	}
}
