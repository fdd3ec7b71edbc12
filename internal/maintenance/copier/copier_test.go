package copier_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/copier"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// mustCopy copies without a fault.
func mustCopy(t *testing.T, from, to maintenance.Installation) copier.Result {
	t.Helper()
	done, err := copier.Copy(t.Context(), from, to, &maintenance.Reporter{OnFinding: func(f maintenance.Finding) { t.Errorf("difference: %v", f) }})
	if err != nil {
		t.Fatalf("copy: %v", err)
	}
	return done
}

// TestCopyThereAndBack takes an installation through every combination of
// database and storage and back to where it began.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 1250) // several lots of orders and of events
	want := source.Dump(t)
	from := source
	for _, kind := range append(maintenancetest.Kinds[1:], maintenancetest.Kind{}) {
		to := maintenancetest.New(t, kind)
		done := mustCopy(t, from.Installation, to.Installation)
		if done.SourceChanging || done.Merchants != 3 || done.FilesCopied != 6 || done.FilesVerified != 6 || done.RowsChanged == 0 {
			t.Errorf("to %v: %+v", kind, done)
		}
		if done.OrderKeys != 2*done.Rows.Orders || done.Rows.Orders != 1250+129 || done.Tokens != 3 {
			t.Errorf("to %v: counts %+v", kind, done)
		}
		to.WantDump(t, want)
		to.WantNoFindings(t)
		if again := mustCopy(t, from.Installation, to.Installation); again.RowsChanged != 0 || again.FilesCopied != 0 || again.FilesVerified != 6 {
			t.Errorf("to %v once more: %+v, want nothing done", kind, again)
		}
		to.WantDump(t, want)
		from = to
	}
	source.WantDump(t, want)
}

// TestCopyOfOneHalf moves the database alone, and the files alone.
func TestCopyOfOneHalf(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{Postgres: true, S3: true})
	source.Fill(t, 30)
	want := source.Dump(t)
	files := want["files"]
	done := mustCopy(t, source.Installation, maintenance.Installation{DB: target.DB})
	if done.FilesCopied != 0 || done.FilesVerified != 0 {
		t.Errorf("the database alone: %+v", done)
	}
	delete(want, "files")
	target.WantDump(t, want)
	// Now the files, to which the source's entries still belong.
	done = mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
	if done.FilesCopied != 6 || done.FilesVerified != 6 || done.RowsChanged != 0 {
		t.Errorf("the files alone: %+v", done)
	}
	want["files"] = files
	target.WantDump(t, want)
}

// TestCopyBringsUpToDate changes everything that can change in the source, with
// and without an event, between two runs.
func TestCopyBringsUpToDate(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, kind), maintenancetest.New(t, maintenancetest.Kind{Postgres: !kind.Postgres})
			source.Fill(t, 30)
			mustCopy(t, source.Installation, target.Installation)
			alpha := maintenancetest.Alpha
			kept := source.Upload(t, alpha, 5, "new.pdf", "new")
			source.Upload(t, alpha, 5, "stays.pdf", "stays")
			source.Delete(t, alpha, 5, kept)
			source.Import(t, alpha, 30, 40)
			source.Import(t, maintenancetest.Gamma, 0, 3)
			if err := source.Orders.AddMerchant(t.Context(), 7, "New"); err != nil {
				t.Fatal(err)
			}
			// Without events: a reservation given up, one given back whose name is
			// taken again, one that is new, a file purged.
			given := source.Reserve(t, alpha, 6, "again.pdf")
			mustCopy(t, source.Installation, target.Installation)
			source.Exec(t, `DELETE FROM invoices WHERE id = $1`, given.ID)
			source.Exec(t, `UPDATE orders SET active_invoices = active_invoices - 1 WHERE number = $1`, given.OrderLegacyID)
			source.Reserve(t, alpha, 6, "again.pdf")
			stale := source.Reserve(t, maintenancetest.Beta, 3, "stale.pdf")
			mustCopy(t, source.Installation, target.Installation)
			if _, err := source.Store.ExpireReservation(t.Context(), stale, maintenancetest.Now); err != nil {
				t.Fatal(err)
			}
			if _, err := source.Orders.PurgeDeletedFiles(t.Context(), maintenancetest.Now.AddDate(1, 0, 0)); err != nil {
				t.Fatal(err)
			}
			if err := source.Store.RevokeToken(t.Context(), 1, maintenancetest.Now); err != nil {
				t.Fatal(err)
			}
			mustCopy(t, source.Installation, target.Installation)
			target.WantDump(t, source.Dump(t))
		})
	}
}

// stopping are files whose use can stop a copy.
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

// TestCopyIsStopped stops a copy at each step, runs it again to its end, and
// compares.
func TestCopyIsStopped(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 450)
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
			t.Errorf("stopped at step %d, and done", last)
		}
		stops++
		mustCopy(t, source.Installation, to.Installation)
		to.WantDump(t, want)
	}
	if stops < 20 {
		t.Errorf("stopped at %d steps only", stops)
	}
}

// TestCopyRefuses leaves a target alone that is no earlier copy of the source.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, source, target *maintenancetest.Installation){
		"other merchants": func(t *testing.T, _, target *maintenancetest.Installation) {
			if err := target.Orders.AddMerchant(t.Context(), 9, "Other"); err != nil {
				t.Fatal(err)
			}
		},
		"the same merchants, added by themselves": func(t *testing.T, _, target *maintenancetest.Installation) {
			if err := target.Orders.AddMerchant(t.Context(), maintenancetest.Alpha, "Other"); err != nil {
				t.Fatal(err)
			}
		},
		"orders of its own": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			target.Import(t, maintenancetest.Alpha, 500, 501)
		},
		"moves of its own": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			for _, in := range []*maintenancetest.Installation{source, target} {
				n := 7
				if in == target {
					n = 8
				}
				in.Upload(t, maintenancetest.Alpha, n, "x.pdf", "x")
			}
		},
		"tokens of its own": func(t *testing.T, source, target *maintenancetest.Installation) {
			mustCopy(t, source.Installation, target.Installation)
			if _, _, err := target.Tokens.CreateOperator(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
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
			spoil(t, source, target)
			want := target.Dump(t)
			if _, err := copier.Copy(t.Context(), source.Installation, target.Installation, new(maintenance.Reporter)); !errors.Is(err, copier.ErrForeignTarget) {
				t.Errorf("copy: %v, want %v", err, copier.ErrForeignTarget)
			}
			target.WantDump(t, want)
		})
	}
}

func TestCopyToItself(t *testing.T) {
	t.Parallel()
	for _, kind := range []maintenancetest.Kind{{}, {Postgres: true}} {
		in := maintenancetest.New(t, kind)
		in.Fill(t, 5)
		if _, err := copier.Copy(t.Context(), in.Installation, in.Installation, new(maintenance.Reporter)); !errors.Is(err, sqldb.ErrLocked) {
			t.Errorf("%v: %v, want %v", kind, err, sqldb.ErrLocked)
		}
	}
}

// TestCopyOfDamage tells of files that are missing or others in the source or the
// target, and copies the rest.
func TestCopyOfDamage(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{S3: true})
	source.Fill(t, 10)
	source.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "a.pdf"), nil)
	source.Replace(t, maintenancetest.InvoicePath(maintenancetest.Beta, 0, "a.pdf"), []byte("first of M356-X"))
	target.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "τιμολόγιο Νο 5?.PNG"), []byte("other"))
	var found []string
	target.Replace(t, "invoices/readme", []byte("no invoice file"))
	done, err := copier.Copy(t.Context(), source.Installation, target.Installation, &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) { found = append(found, f.Problem) },
	})
	if err != nil || done.Findings != 3 || len(found) != 3 || done.FilesVerified != 3 {
		t.Errorf("%+v, error %v, found %q", done, err, found)
	}
	want, got := source.Dump(t), target.Dump(t)
	if len(got["files"]) != 5 {
		t.Errorf("files in the target: %q; want three copied and the two that were there", got["files"])
	}
	want["files"], got["files"] = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-source +target):\n%s", diff)
	}
}
