package backup_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// hooked calls a function once, before the first file is opened: after the snapshot of the
// database, before the files are copied.
type hooked struct {
	maintenance.Files
	once *sync.Once
	hook func()
}

func (h hooked) Open(ctx context.Context, path string) (order.File, error) {
	h.once.Do(h.hook)
	return h.Files.Open(ctx, path)
}

// TestFilesRemovedDuringBackup removes files on purpose between the snapshot of the database
// and the copy of the files. They are no findings, in the backup and after its restore. A file
// that is lost is one.
func TestFilesRemovedDuringBackup(t *testing.T) {
	t.Parallel()
	first := maintenancetest.Reference(maintenancetest.Alpha, 0)
	id, path := order.ByReference(first), order.InvoicePath(first, "a.pdf")
	for name, test := range map[string]struct {
		remove   func(*testing.T, *maintenancetest.Installation)
		removed  int
		missing  int64
		invoices int // of the order after a restore
	}{
		"erasure": {func(t *testing.T, in *maintenancetest.Installation) {
			target := order.EraseTarget{MerchantID: maintenancetest.Alpha, Reference: first, Files: true}
			testenv.Equal(t, "erased", 3, testenv.Of(in.Retention.Erase(t.Context(), order.Command(), target, order.Options[order.Erasure]{})).Must(t).Files)
		}, 2, 0, 0},
		"retention": {func(t *testing.T, in *maintenancetest.Installation) {
			testenv.Of(in.Orders.ChangeOrder(t.Context(), order.Command(), maintenancetest.Alpha, id, order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})).Must(t)
			testenv.Of(in.Retention.DeleteOldOrders(t.Context(), time.Unix(0, 0))).Want(t, "deleted orders", 1)
		}, 2, 0, 0},
		"a purge that was interrupted": {func(t *testing.T, in *maintenancetest.Installation) {
			o := testenv.Of(in.Orders.Get(t.Context(), maintenancetest.Alpha, id)).Must(t)
			in.Delete(t, maintenancetest.Alpha, 0, o.Invoices[0].ID)
			testenv.NoError(t, in.Files.Remove(t.Context(), path))
		}, 1, 0, 1},
		"a loss": {func(t *testing.T, in *maintenancetest.Installation) {
			testenv.NoError(t, in.Files.Remove(t.Context(), path))
		}, 0, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, maintenancetest.Kind{})
			in.Fill(t, 5)
			source := in.Installation
			source.Files = hooked{in.Files, new(sync.Once), func() { test.remove(t, in) }}
			to := filepath.Join(t.TempDir(), "b.tar")
			var findings []string
			made, err := backup.Create(t.Context(), source, at(to), maintenancetest.Now, "", &maintenance.Reporter{
				OnFinding: func(f maintenance.Finding) { findings = append(findings, f.String()) },
			})
			if err != nil || made.Findings != test.missing || len(made.Removed) != test.removed ||
				test.missing > 0 != slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, "/a.pdf is missing") }) {
				t.Fatalf("backup: %+v, %v, findings %q", made, err, findings)
			}
			testenv.Equal(t, "check of the backup", test.missing, testenv.Of(backup.Check(t.Context(), at(to), new(maintenance.Reporter))).Must(t).Findings)
			folder := dataFolderIn(filepath.Join(t.TempDir(), "restored"))
			result, err := backup.Restore(t.Context(), at(to), folder, backup.RestoreOptions{}, new(maintenance.Reporter))
			if result.Findings != test.missing || errors.Is(err, backup.ErrDamaged) != (test.missing > 0) {
				t.Fatalf("restore: %+v, %v", result, err)
			}
			if err != nil {
				return
			}
			restored := maintenancetest.Open(t, folder.Path)
			restored.WantNoFindings(t)
			if o, err := restored.Orders.Get(t.Context(), maintenancetest.Alpha, id); err != nil || len(o.Invoices) != test.invoices {
				t.Errorf("after the restore the order has the invoices %+v, error %v", o.Invoices, err)
			}
		})
	}
}
