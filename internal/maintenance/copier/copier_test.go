package copier_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/copier"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// mustCopy copies without findings.
func mustCopy(t *testing.T, source, target maintenance.Installation) copier.Result {
	t.Helper()
	return testenv.Of(copier.Copy(t.Context(), source, target, &maintenance.Reporter{OnFinding: func(f maintenance.Finding) { t.Errorf("difference: %v", f) }})).Must(t)
}

// TestCopyThereAndBack copies an installation to every combination of database and
// storage, one after the other, and back.
// Proves decision 5 (events: history).
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 1250) // several pages of orders and of events
	want := source.Dump(t)
	previous := source
	for _, kind := range append(maintenancetest.Kinds[1:], maintenancetest.Kind{}) {
		target := maintenancetest.New(t, kind)
		result := mustCopy(t, previous.Installation, target.Installation)
		if result.SourceChanging || result.Merchants != 3 || result.FilesCopied != 6 || result.FilesVerified != 6 || result.RowsChanged == 0 {
			t.Errorf("to %v: %+v", kind, result)
		}
		if result.OrderKeys != 2*result.Rows.Orders || result.Rows.Orders != 1250+129 || result.Tokens != 3 {
			t.Errorf("to %v: counts %+v", kind, result)
		}
		target.WantDump(t, want)
		target.WantNoFindings(t)
		histories := target.Histories(t)
		if others := previous.Histories(t); others[0] == histories[0] || others[1] == histories[1] {
			t.Errorf("to %v: the histories of source and target are %q", kind, histories)
		}
		if again := mustCopy(t, previous.Installation, target.Installation); again.RowsChanged != 0 || again.FilesCopied != 0 || again.FilesVerified != 6 {
			t.Errorf("to %v once more: %+v, want nothing result", kind, again)
		}
		target.WantDump(t, want)
		testenv.Equal(t, fmt.Sprintf("to %v once more: the histories become", kind), histories, target.Histories(t))
		previous = target
	}
	source.WantDump(t, want)
}

// TestCopyPart copies only the database, then only the files.
func TestCopyPart(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{Postgres: true, S3: true})
	source.Fill(t, 30)
	want := source.Dump(t)
	files := want["files"]
	result := mustCopy(t, source.Installation, maintenance.Installation{DB: target.DB})
	if result.FilesCopied != 0 || result.FilesVerified != 0 {
		t.Errorf("database only: %+v", result)
	}
	delete(want, "files")
	target.WantDump(t, want)
	// The entries of the files are those of the source's database.
	result = mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
	if result.FilesCopied != 6 || result.FilesVerified != 6 || result.RowsChanged != 0 {
		t.Errorf("files only: %+v", result)
	}
	want["files"] = files
	target.WantDump(t, want)
}

// TestCopyChanges changes everything that can change in the source, with and
// without an event, between copies.
func TestCopyChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, kind), maintenancetest.New(t, maintenancetest.Kind{Postgres: !kind.Postgres})
			source.Fill(t, 30)
			mustCopy(t, source.Installation, target.Installation)
			alpha := maintenancetest.Alpha
			deleted := source.Upload(t, alpha, 5, "new.pdf", "new")
			source.Upload(t, alpha, 5, "stays.pdf", "stays")
			source.Delete(t, alpha, 5, deleted)
			source.Import(t, alpha, 30, 40)
			source.Import(t, maintenancetest.Gamma, 0, 3)
			testenv.NoError(t, source.Merchants.Add(t.Context(), order.Command(), 7, "New", order.Options[order.Merchant]{}))
			// Without events: an expired reservation, a released one whose name is used
			// again, a new one, a purged file.
			released := source.Reserve(t, alpha, 6, "again.pdf")
			mustCopy(t, source.Installation, target.Installation)
			source.Exec(t, `DELETE FROM invoices WHERE id = $1`, released.ID)
			source.Exec(t, `UPDATE orders SET active_invoices = active_invoices - 1 WHERE legacy_id = $1`, released.OrderLegacyID)
			source.Reserve(t, alpha, 6, "again.pdf")
			expired := source.Reserve(t, maintenancetest.Beta, 3, "expired.pdf")
			mustCopy(t, source.Installation, target.Installation)
			testenv.Of(source.Store.ExpireReservation(t.Context(), expired, maintenancetest.Now)).Must(t)
			testenv.Of(source.Orders.PurgeDeletedFiles(t.Context(), maintenancetest.Now.AddDate(1, 0, 0))).Must(t)
			testenv.Of(source.Tokens.RevokeID(t.Context(), order.Command(), 1, order.Options[int64]{})).Must(t)
			mustCopy(t, source.Installation, target.Installation)
			target.WantDump(t, source.Dump(t))
		})
	}
}

// stopping calls step before each use of the files.
type stopping struct {
	maintenance.Files
	step func()
}

func (s stopping) Stage(ctx context.Context) (order.StagedFile, error) {
	s.step()
	return s.Files.Stage(ctx)
}

func (s stopping) Open(ctx context.Context, path string) (order.File, error) {
	s.step()
	return s.Files.Open(ctx, path)
}

// TestCopyResumes stops a copy at each of its steps and resumes it.
func TestCopyResumes(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 210) // two pages of orders
	want := source.Dump(t)
	stops := 0
	for last, ended := 1, false; !ended; last++ {
		to := maintenancetest.New(t, maintenancetest.Kind{Postgres: last%8 == 0})
		ctx, cancel := context.WithCancel(t.Context())
		var steps atomic.Int64
		step := func() {
			if steps.Add(1) == int64(last) {
				cancel()
			}
		}
		_, err := copier.Copy(ctx, source.Installation, maintenance.Installation{DB: to.DB, Files: stopping{to.Files, step}},
			&maintenance.Reporter{OnProgress: func(string, int64, int64) { step() }})
		cancel()
		ended = steps.Load() < int64(last)
		if !ended && err == nil {
			t.Errorf("stopped at step %d, but no error", last)
		}
		stops++
		mustCopy(t, source.Installation, to.Installation)
		to.WantDump(t, want)
	}
	if stops < 20 {
		t.Errorf("stopped at only %d steps", stops)
	}
}

// TestCopyRefusesForeignTarget checks that a copy changes no target that is not an
// earlier copy of the source.
func TestCopyRefusesForeignTarget(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, source, target *maintenancetest.Installation){
		"other merchants": func(t *testing.T, _, target *maintenancetest.Installation) {
			testenv.NoError(t, target.Merchants.Add(t.Context(), order.Command(), 9, "Other", order.Options[order.Merchant]{}))
		},
		"the same merchant, added twice": func(t *testing.T, _, target *maintenancetest.Installation) {
			testenv.NoError(t, target.Merchants.Add(t.Context(), order.Command(), maintenancetest.Alpha, "Other", order.Options[order.Merchant]{}))
		},
		"other orders": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			target.Import(t, maintenancetest.Alpha, 500, 501)
		},
		"other events": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			for _, in := range []*maintenancetest.Installation{source, target} {
				n := 7
				if in == target {
					n = 8
				}
				in.Upload(t, maintenancetest.Alpha, n, "x.pdf", "x")
			}
		},
		"other tokens": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			request := token.Request{Operator: true, Scopes: order.OperatorScopes}
			testenv.Of(target.Tokens.Add(t.Context(), order.Command(), request, order.Options[token.Created]{})).Must(t)
		},
		"an older source": func(t *testing.T, source, target *maintenancetest.Installation) {
			newer := maintenancetest.New(t, maintenancetest.Kind{})
			mustCopy(t, source.Installation, newer.Installation)
			newer.Import(t, maintenancetest.Alpha, 100, 101)
			mustCopy(t, newer.Installation, target.Installation)
		},
		"orders without merchants": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			target.Exec(t, `DELETE FROM merchants`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{})
			source.Fill(t, 20)
			change(t, source, target)
			want := target.Dump(t)
			testenv.Of(copier.Copy(t.Context(), source.Installation, target.Installation, new(maintenance.Reporter))).WantError(t, "copy", copier.ErrForeignTarget)
			target.WantDump(t, want)
		})
	}
}

func TestCopyToItself(t *testing.T) {
	t.Parallel()
	for _, kind := range []maintenancetest.Kind{{}, {Postgres: true}} {
		in := maintenancetest.New(t, kind)
		in.Fill(t, 5)
		testenv.Of(copier.Copy(t.Context(), in.Installation, in.Installation, new(maintenance.Reporter))).WantError(t, fmt.Sprintf("%v", kind), sqldb.ErrLocked)
	}
}

// TestCopyWithFindings reports files that are missing or damaged in the source, and
// copies the others, also those that are damaged in the target.
func TestCopyWithFindings(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{S3: true})
	source.Fill(t, 10)
	source.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "a.pdf"), nil)
	source.Replace(t, maintenancetest.InvoicePath(maintenancetest.Beta, 0, "a.pdf"), []byte("first of M356-X"))
	target.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "τιμολόγιο Νο 5?.PNG"), []byte("other"))
	var findings []string
	target.Replace(t, "invoices/readme", []byte("no invoice file"))
	result, err := copier.Copy(t.Context(), source.Installation, target.Installation, &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) { findings = append(findings, f.Problem) },
	})
	if err != nil || result.Findings != 2 || len(findings) != 2 || result.FilesVerified != 4 || result.FilesCopied != 3 || result.FilesMended != 1 {
		t.Errorf("%+v, error %v, findings %q", result, err, findings)
	}
	want, got := source.Dump(t), target.Dump(t)
	testenv.Equal(t, "files in the target: three copied and two existing", 5, len(got["files"]))
	want["files"], got["files"] = nil, nil
	testenv.Equal(t, "rows", want, got)
}

// TestCopyMends damages an earlier copy and copies again.
func TestCopyMends(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 20)
	mustCopy(t, source.Installation, target.Installation)
	want := source.Dump(t)
	alpha, beta := maintenancetest.Alpha, maintenancetest.Beta
	damage := func() {
		target.Replace(t, maintenancetest.InvoicePath(alpha, 0, "a.pdf"), nil)
		target.Replace(t, maintenancetest.InvoicePath(beta, 0, "a.pdf"), []byte("other"))
		target.Replace(t, maintenancetest.InvoicePath(alpha, 0, "a-1.pdf"), []byte("other")) // waits for the purge
	}
	damage()
	for _, text := range []string{
		`UPDATE events SET actor = 9 WHERE merchant_id = 355 AND seq = 2`, `DELETE FROM events WHERE merchant_id = 356 AND seq = 3`,
		`UPDATE orders SET state = 99 WHERE merchant_id = 356`, `UPDATE order_days SET orders = 7`, `DELETE FROM order_keys`,
		`UPDATE tokens SET revoked_at = NULL, scopes = 0`, `UPDATE counters SET last = 0`, `UPDATE invoices SET size = 1`,
	} {
		target.Exec(t, text)
	}
	result := mustCopy(t, source.Installation, target.Installation)
	if result.FilesCopied != 1 || result.FilesMended != 2 || result.SourceChanged {
		t.Errorf("%+v", result)
	}
	target.WantDump(t, want)
	damage()
	if result := mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files}); result.FilesCopied != 1 || result.FilesMended != 2 {
		t.Errorf("files only: %+v", result)
	}
	target.WantDump(t, want)
}

// TestCopyLeavesNightlyRuns checks that a copy does not claim the backups and checks of its
// source.
func TestCopyLeavesNightlyRuns(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{})
	at := time.Unix(1_800_000_000, 0)
	testenv.NoError(t, source.Store.RecordRun(t.Context(), store.NightlyBackup, at, true))
	testenv.NoError(t, source.Store.RecordBackupFolder(t.Context(), "/backup", at))
	testenv.NoError(t, target.Store.RecordRun(t.Context(), store.NightlyCheck, at, true))
	mustCopy(t, source.Installation, target.Installation)
	survey := testenv.Of(target.Store.Survey(t.Context(), at)).Must(t)
	if _, copied := survey.Runs[store.NightlyBackup]; copied || !survey.Runs[store.NightlyCheck].LastSuccess.Equal(at) {
		t.Errorf("the target has the runs %+v", survey.Runs)
	}
	testenv.Equal(t, "folders of backups of the target", nil, testenv.Of(target.Store.BackupFolders(t.Context())).Must(t))
}

// TestCopyNoticesChanges changes the source during a copy: with an event, and
// without.
func TestCopyNoticesChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    func(t *testing.T, source *maintenancetest.Installation)
		filesOnly bool
		changed   bool
	}{
		"nothing": {func(*testing.T, *maintenancetest.Installation) {}, false, false},
		"an event": {func(t *testing.T, source *maintenancetest.Installation) {
			source.Import(t, maintenancetest.Alpha, 100, 101)
		}, false, true},
		"a token": {func(t *testing.T, source *maintenancetest.Installation) {
			if _, err := source.Tokens.RevokeID(t.Context(), order.Command(), 1, order.Options[int64]{}); err != nil {
				t.Error(err)
			}
		}, false, true},
		"files only": {func(t *testing.T, source *maintenancetest.Installation) {
			source.Upload(t, maintenancetest.Alpha, 7, "late.pdf", "late")
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{})
			source.Fill(t, 20)
			to := target.Installation
			if test.filesOnly {
				to.DB = nil
			}
			from := source.Installation
			from.Files = stopping{source.Files, sync.OnceFunc(func() { test.change(t, source) })}
			if result := mustCopy(t, from, to); result.SourceChanged != test.changed || result.SourceChanging {
				t.Errorf("%+v, want changed %v", result, test.changed)
			}
		})
	}
}
