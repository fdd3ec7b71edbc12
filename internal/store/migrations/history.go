package migrations

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Status is the migration history of a database, compared with the steps of this
// program.
type Status struct {
	Version int64  // the newest step that the database has run; 0: none
	needed  int64  // the newest one that does not only add
	Newest  int64  // the newest step of this program
	Steps   []Step // all steps of this program
	Foreign error  // a ForeignSchemaError; nil if the database has run only these steps, or also those of later releases
}

// OnlyAdds reports whether the steps that this program does not know only add, so that its
// servers start on the schema.
func (s Status) OnlyAdds() bool { return s.needed <= s.Newest }

// historyTable is goose's table. The program writes the fingerprints of the steps into
// schema_steps, which the first step creates. A step that only adds is in schema_steps
// alone: older programs, which read goose's table first, start on what it makes.
const (
	historyTable  = goose.DefaultTablename
	selectHistory = `SELECT version_id, '', TRUE FROM ` + historyTable + ` WHERE is_applied AND version_id > 0`
	selectSteps   = `SELECT g.version_id, COALESCE(s.fingerprint, ''), TRUE FROM ` + historyTable + ` g
		LEFT JOIN schema_steps s ON s.version = g.version_id WHERE g.is_applied AND g.version_id > 0
		UNION ALL SELECT version, fingerprint, FALSE FROM schema_steps
		WHERE version NOT IN (SELECT version_id FROM ` + historyTable + ` WHERE is_applied)`
	insertStep = `INSERT INTO schema_steps (version, fingerprint) VALUES ($1, $2)
		ON CONFLICT (version) DO UPDATE SET fingerprint = excluded.fingerprint`
)

// appliedStep is a step that a database has run.
type appliedStep struct {
	fingerprint string // empty if another build has run it
	inHistory   bool   // in goose's table too
}

// Status returns the migration history of a database. It changes nothing.
func (s Schema) Status(ctx context.Context, db *sql.DB) (Status, error) {
	steps, err := s.Steps()
	if err != nil {
		return Status{}, err
	}
	applied, err := s.applied(ctx, db)
	if err != nil {
		return Status{}, fmt.Errorf("read the migration history: %w", err)
	}
	return newStatus(steps, applied), nil
}

// applied returns the steps that a database has run, by their numbers. It looks for each table after it
// has read the one before: another process may run the first step meanwhile, which makes
// schema_steps, and a row of the history would be without its fingerprint.
func (s Schema) applied(ctx context.Context, db *sql.DB) (applied map[int64]appliedStep, err error) {
	for _, table := range []struct{ name, text string }{{historyTable, selectHistory}, {"schema_steps", selectSteps}} {
		var exists bool
		if err := db.QueryRowContext(ctx, s.hasTable, table.name).Scan(&exists); err != nil || !exists {
			return applied, err
		}
		if applied, err = readSteps(ctx, db, table.text); err != nil {
			return nil, err
		}
	}
	return applied, nil
}

// readSteps returns the steps that a query reads, by their numbers.
func readSteps(ctx context.Context, db database.DBTxConn, text string) (map[int64]appliedStep, error) {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	applied := make(map[int64]appliedStep)
	for rows.Next() {
		var version int64
		var step appliedStep
		if err := rows.Scan(&version, &step.fingerprint, &step.inHistory); err != nil {
			return nil, err
		}
		applied[version] = step
	}
	return applied, rows.Err()
}

// newStatus compares steps with those that a database has run. A step that does not only
// add, and is not in goose's table, was interrupted.
func newStatus(steps []Step, applied map[int64]appliedStep) Status {
	status := Status{Newest: steps[len(steps)-1].Version, Steps: steps}
	known := make(map[int64]bool)
	for i := range steps {
		step := &steps[i]
		found, ok := applied[step.Version]
		step.Applied, known[step.Version] = ok && (step.Adds || found.inHistory), true
		if step.Applied {
			status.Version = max(status.Version, step.Version)
		}
	}
	var missing, changed, unknown []int64
	for _, version := range slices.Sorted(maps.Keys(applied)) {
		switch {
		case known[version]:
			continue
		// Later releases may have any steps, and later versions of this one such as only add.
		case applied[version].inHistory && version/stepsPerRelease <= status.Newest/stepsPerRelease:
			unknown = append(unknown, version)
		case applied[version].inHistory:
			status.needed = version
		}
		status.Version = max(status.Version, version)
	}
	for _, step := range steps {
		switch {
		case !step.Applied && step.Version < status.Version:
			missing = append(missing, step.Version)
		case step.Applied && applied[step.Version].fingerprint != step.fingerprint:
			changed = append(changed, step.Version)
		}
	}
	switch {
	case unknown != nil:
		status.Foreign = &ForeignSchemaError{"it has run steps that this program does not have (" + list(unknown) + ")"}
	case missing != nil:
		status.Foreign = &ForeignSchemaError{"it has run step " + strconv.FormatInt(status.Version, 10) + ", but not all before it (" + list(missing) + ")"}
	case changed != nil:
		status.Foreign = &ForeignSchemaError{"it has run other steps than this program under the same numbers (" + list(changed) + ")"}
	}
	return status
}

func list(versions []int64) string {
	texts := make([]string, len(versions))
	for i, version := range versions {
		texts[i] = strconv.FormatInt(version, 10)
	}
	return strings.Join(texts, ", ")
}

// check reports whether there are steps to run, and returns the error of a schema that
// the options do not allow.
func (s Status) check(options Options) (change bool, err error) {
	switch neighbor := s.needed/stepsPerRelease <= s.Newest/stepsPerRelease+1 && options.NoMigrate; {
	case s.Foreign != nil:
		return false, s.Foreign
	case !s.OnlyAdds() && !neighbor, s.Version > s.Newest && options.NoNewer:
		return false, &NewerSchemaError{Version: s.Version, Known: s.Newest}
	case s.Version >= s.Newest:
		return false, nil
	case s.Version == 0 && options.NoCreate:
		return false, ErrNoSchema
	case s.Version > 0 && options.NoMigrate:
		return false, &OlderSchemaError{Version: s.Version, Known: s.Newest}
	}
	return true, nil
}

// provider returns what runs the steps one by one.
func (s Schema) provider(db *sql.DB) (*goose.Provider, error) {
	folder, err := fs.Sub(s.files, s.folder)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	steps, err := s.Steps()
	if err != nil {
		return nil, err
	}
	store, err := database.NewStore(s.dialect, historyTable)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectCustom, db, folder, goose.WithStore(&history{store, steps}))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}

// history also records the fingerprints of steps.
type history struct {
	database.Store
	steps []Step
}

// Insert implements database.Store. The fingerprint is first: a step without a
// transaction that is interrupted before the end runs again.
func (h *history) Insert(ctx context.Context, db database.DBTxConn, request database.InsertRequest) error {
	for _, step := range h.steps {
		if step.Version != request.Version {
			continue
		}
		if _, err := db.ExecContext(ctx, insertStep, step.Version, step.fingerprint); err != nil || step.Adds {
			return err
		}
	}
	return h.Store.Insert(ctx, db, request)
}

// ListMigrations implements database.Store. Steps that only add are among them.
func (h *history) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	list, err := h.Store.ListMigrations(ctx, db)
	if err != nil || len(list) <= 1 { // schema_steps is made by the first step, after 0
		return list, err
	}
	applied, err := readSteps(ctx, db, selectSteps)
	if err != nil {
		return nil, err
	}
	for _, step := range h.steps {
		if found, ok := applied[step.Version]; ok && step.Adds && !found.inHistory {
			list = append(list, &database.ListMigrationsResult{Version: step.Version, IsApplied: true})
		}
	}
	slices.SortFunc(list, func(a, b *database.ListMigrationsResult) int { return cmp.Compare(b.Version, a.Version) })
	return list, nil
}
