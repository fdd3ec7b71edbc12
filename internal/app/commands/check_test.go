package commands_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/app/commands"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// filled starts a server with a merchant, three orders and two invoice files of
// the first order.
func filled(t *testing.T, flags ...string) *apptest.Server {
	t.Helper()
	s := apptest.Start(t, flags...)
	s.Import(t, document(1), document(2), document(3))
	upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "first")
	upload(t, s.BaseURL, s.Token, "T-1", "b.pdf", "second")
	return s
}

// invoiceFile returns the path of an invoice file on the disk.
func invoiceFile(f apptest.Folder, reference, name string) string {
	return filepath.Join(f.Data, "files", filepath.FromSlash(order.InvoicePath(reference, name)))
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := filled(t)
	got := s.Run(t, "", "check")
	want := "checked: merchants 1, orders 3, invoices 2, events 5, files 2, orphans 0: no findings\n"
	if got.Code != 0 || got.Stdout != want || got.Stderr != "" {
		t.Errorf("got %+v, want %q", got, want)
	}
	testenv.NoError(t, os.WriteFile(invoiceFile(s.Folder, "T-1", "left.pdf"), []byte("x"), 0o600))
	got = s.Run(t, "", "check")
	want = "orphan: invoices/T-1/left.pdf belongs to no invoice; check --repair removes it\n" +
		"checked: merchants 1, orders 3, invoices 2, events 5, files 2, orphans 1: no findings\n"
	got.WantOut(t, 0, want)
	testenv.NoError(t, os.Remove(invoiceFile(s.Folder, "T-1", "a.pdf")))
	got = s.Run(t, "", "check")
	want = "merchant 355, order T-1, invoice 1: invoices/T-1/a.pdf is missing; put the file back from a backup, then check again\n" +
		"orphan: invoices/T-1/left.pdf belongs to no invoice; check --repair removes it\n" +
		"checked: merchants 1, orders 3, invoices 2, events 5, files 1, orphans 1: 1 finding\n"
	if got.Code != 1 || got.Stdout != want || got.Stderr != "merchant-orders: 1 finding\n" {
		t.Errorf("with a finding: got %+v, want %q", got, want)
	}
	got = s.Run(t, "", "check", "--json")
	want = `{"type":"finding","merchantId":355,"orderReference":"T-1","invoiceId":1,"problem":"invoices/T-1/a.pdf is missing","cure":"put the file back from a backup, then check again"}
{"type":"orphan","path":"invoices/T-1/left.pdf","removable":true}
{"type":"summary","merchants":1,"orders":3,"invoices":2,"events":5,"files":1,"orphans":1,"findings":1}
`
	if got.Code != 1 || got.Stdout != want || got.Stderr != "merchant-orders: 1 finding\n" {
		t.Errorf("as JSON: got %+v, want %q", got, want)
	}
	setVersion(t, s.Data, "UPDATE order_days SET orders = 5 WHERE state = 1")
	setVersion(t, s.Data, "INSERT INTO invoices (merchant_id, legacy_id, id, name, status, size, sha256, created_at)"+
		" SELECT merchant_id, legacy_id, 99, 'late.pdf', 1, size, sha256, 0 FROM invoices WHERE id = 1")
	setVersion(t, s.Data, "UPDATE counters SET last = 99 WHERE name = 'invoice'")
	setVersion(t, s.Data, "UPDATE orders SET active_invoices = 3 WHERE reference = 'T-1'")
	got = s.Run(t, "", "check", "--repair")
	want = "merchant 355, order T-1, invoice 1: invoices/T-1/a.pdf is missing; put the file back from a backup, then check again\n" +
		"repaired: released 1 expired reservation\n" +
		"repaired: merchant 355: rebuilt the counts of orders, of which 1 were wrong; restart the servers, which remember the old ones\n" +
		"repaired: removed invoices/T-1/left.pdf, which belonged to no invoice\n" +
		"checked: merchants 1, orders 3, invoices 3, events 5, files 1, orphans 0: 1 finding\n"
	if got.Code != 1 || got.Stdout != want || got.Stderr != "merchant-orders: 1 finding\n" {
		t.Errorf("repair: got %+v, want %q", got, want)
	}
	s.Run(t, "", "check", "--repair", "--backup", "x.tar").WantText(t, 2, "--repair (MERCHANT_ORDERS_REPAIR): must not be given together with --backup")
}

// TestStopped stops a command at its beginning.
func TestStopped(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr strings.Builder
	if code := commands.Run(ctx, []string{"check", "--data", f.Data}, strings.NewReader(""), io.Discard, &stderr, nil); code != 1 {
		t.Errorf("exit code %d", code)
	}
	testenv.Equal(t, "standard error", "merchant-orders: stopped before the end\n", stderr.String())
}

// TestNoInstallation runs commands on a data folder that does not exist: they fail
// and do not create it.
func TestNoInstallation(t *testing.T) {
	t.Parallel()
	f := folder(t)
	for _, args := range [][]string{
		{"check"}, {"backup", filepath.Join(t.TempDir(), "b.tar")}, {"copy", "--to-data", t.TempDir()},
		{"merchant", "list"}, {"token", "create", "--operator"}, {"token", "list"}, {"token", "revoke", "1"},
		{"import", "-"}, {"purge"}, {"migrate"}, {"migrate", "--status"},
	} {
		got := f.Run(t, "", args...)
		want := "merchant-orders: --data (MERCHANT_ORDERS_DATA): must name an installation: there is no " + filepath.Join(f.Data, "orders.db") + "; serve or merchant add makes a new one in an empty folder\n"
		if got.Code != 2 || got.Stderr != want || got.Stdout != "" {
			t.Errorf("%s: got %+v, want exit code 2 and %q", args[0], got, want)
		}
	}
	f.Run(t, "", "check", "--database", "sqlite:///nowhere/x.db").WantText(t, 2, "--database (MERCHANT_ORDERS_DATABASE): must name ")
	// A relative path does not say where the command looks.
	here := testenv.Of(os.Getwd()).Must(t)
	apptest.Run(t, "", "merchant", "list", "--data", "nowhere").WantText(t, 2, "there is no "+filepath.Join(here, "nowhere", "orders.db"))
	if _, err := os.Stat(f.Data); err == nil {
		t.Error("the data folder was created")
	}
}
