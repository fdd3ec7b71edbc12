package check_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// repair repairs an installation. It returns what was repaired, in ascending order,
// and the number of findings.
func repair(t *testing.T, in *maintenancetest.Installation) (repairs []string, findings int64) {
	t.Helper()
	result := testenv.Of(check.Run(t.Context(), in.Installation, check.Options{
		Repair: true, OnRepair: func(text string) { repairs = append(repairs, text) },
	}, new(maintenance.Reporter))).Must(t)
	slices.Sort(repairs)
	return repairs, result.Findings
}

// TestRepair damages an installation in every way that can be repaired, and with
// files that are not this installation's.
func TestRepair(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			in.Fill(t, 5)
			before := in.Dump(t)
			purged, left := maintenancetest.InvoicePath(alpha, 2, "b.jpg"), maintenancetest.InvoicePath(beta, 1, "a.pdf")
			exec(
				`UPDATE orders SET invoice_numbers = 'INV-7' WHERE merchant_id = 356 AND reference = 'M356-1'`,
				`UPDATE order_days SET orders = orders + 1 WHERE merchant_id = 355 AND orders > 0`,
				`INSERT INTO order_days (merchant_id, day, state, orders) VALUES (355, 5, 1, 2)`,
				`DELETE FROM order_days WHERE merchant_id = 356 AND day = 20776 AND state = 7`,
				`UPDATE merchants SET in_state_1 = 0 WHERE id = 356`,
				`DELETE FROM order_words WHERE word = 'rm356-1'`,
				`DELETE FROM order_words WHERE word LIKE 'l%'`,
				`UPDATE orders SET expires_at = 7 WHERE merchant_id = 355`,
			)(t, in)
			for _, path := range []string{purged, left, "invoices/none/a.pdf", "notes/a.txt"} {
				put(path)(t, in)
			}
			repairs, findings := repair(t, in)
			if len(repairs) != 7 || findings != 0 || !strings.HasPrefix(repairs[0], "merchant 355: rebuilt the counts of orders, of which ") ||
				!strings.HasPrefix(repairs[3], "merchant 356: rebuilt the counts of orders, of which 2 were wrong; ") {
				t.Errorf("%d findings, repaired %q", findings, repairs)
			}
			removed := []string{"removed " + purged + ", which belonged to no invoice", "removed " + left + ", which belonged to no invoice"}
			testenv.Equal(t, "removed", removed, repairs[5:])
			in.Replace(t, "notes/a.txt", nil)
			in.Replace(t, "invoices/none/a.pdf", nil)
			in.WantDump(t, before)
			if again, _ := repair(t, in); again != nil {
				t.Errorf("repaired again: %q", again)
			}
		})
	}
}

// TestRepairLeavesFindings checks that day counts are not rebuilt from orders that
// are damaged.
func TestRepairLeavesFindings(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	in.Exec(t, `UPDATE orders SET state = 99 WHERE merchant_id = 356 AND reference = 'M356-1'`)
	if repairs, findings := repair(t, in); repairs != nil || findings != 4 {
		t.Errorf("%d findings, repaired %q", findings, repairs)
	}
}

// TestRepairInUse rebuilds day counts and words while orders move between states and
// phone numbers change.
func TestRepairInUse(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			const first, last = 20, 150
			in := maintenancetest.New(t, kind)
			in.Fill(t, 5)
			in.Import(t, alpha, first, last)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for n := first; n < last; n++ {
					id, phone := order.ByReference(maintenancetest.Reference(alpha, n)), fmt.Sprint(6900000000+n)
					if _, err := in.Orders.Accept(t.Context(), order.CommandFor(alpha), id, order.Options[order.WriteResult]{}); err != nil {
						t.Error(err)
					}
					change := order.Update{Correction: order.Correction{Phone: order.To(&phone)}}
					if _, err := in.Orders.ChangeOrder(t.Context(), order.Command(), alpha, id, change, order.Options[order.WriteResult]{}); err != nil {
						t.Error(err)
					}
				}
			}()
			for working := true; working; {
				select {
				case <-done:
					working = false
				default:
				}
				in.Exec(t, `UPDATE order_days SET orders = orders + 1 WHERE merchant_id = 355 AND state = 1`)
				in.Exec(t, `DELETE FROM order_words WHERE merchant_id = 355 AND word = 'rm355-1'`)
				if _, findings := repair(t, in); findings != 0 {
					t.Errorf("%d findings", findings)
				}
			}
			if _, findings := runCheck(t, in); findings != nil {
				t.Errorf("findings %q", findings)
			}
		})
	}
}

// lettersOfAnyCase is a storage that does not tell upper from lower case, as those of Windows.
type lettersOfAnyCase struct{ maintenance.Files }

func (l lettersOfAnyCase) Open(ctx context.Context, path string) (file order.File, err error) {
	err = l.Each(ctx, func(stored string) error {
		if file == nil && strings.EqualFold(stored, path) {
			file, err = l.Files.Open(ctx, stored)
		}
		return err
	})
	if file == nil && err == nil {
		err = fs.ErrNotExist
	}
	return file, err
}

// TestRepairWithoutCase repairs an installation whose storage shows a file by another spelling of
// its name: the file stays.
func TestRepairWithoutCase(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kinds[0])
	in.Fill(t, 5)
	path := func(name string) string {
		return filepath.Join(in.Folder, "files", maintenancetest.InvoicePath(alpha, 0, name))
	}
	testenv.NoError(t, os.Rename(path("a.pdf"), path("A.pdf")))
	in.Files = lettersOfAnyCase{in.Files}
	if repairs, findings := repair(t, in); repairs != nil || findings != 0 {
		t.Errorf("%d findings, repaired %q", findings, repairs)
	}
}

// TestRepairOfAnotherStorage repairs a database that has the orders of another installation, whose
// storage it names: its files stay, until the storage has a file of the database.
func TestRepairOfAnotherStorage(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	testenv.NoError(t, in.Merchants.Add(t.Context(), order.Command(), alpha, "Our Store", order.Options[order.Merchant]{}))
	in.Import(t, alpha, 0, 2)
	theirs := maintenancetest.InvoicePath(alpha, 0, "a.pdf")
	in.Replace(t, theirs, []byte("theirs"))
	for _, orphans := range []int64{1, 0} {
		result := testenv.Of(check.Run(t.Context(), in.Installation, check.Options{
			Repair: true, OnOrphan: func(o maintenance.Orphan) { testenv.Equal(t, "removable", false, o.Removable) },
		}, new(maintenance.Reporter))).Must(t)
		testenv.Equal(t, "orphans, findings", [2]int64{orphans, 0}, [2]int64{result.Orphans, result.Findings})
		in.Upload(t, alpha, 1, "b.pdf", "ours")
	}
	if _, err := in.Files.Open(t.Context(), theirs); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file without an entry is left: %v", err)
	}
}
