package check_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
)

const (
	alpha = maintenancetest.Alpha
	beta  = maintenancetest.Beta
)

// runCheck looks through an installation and returns what it tells, in order.
func runCheck(t *testing.T, in *maintenancetest.Installation) (check.Result, []string) {
	t.Helper()
	var told []string
	result, err := check.Run(t.Context(), in.Installation, maintenance.Options{
		Found: func(f store.Fault) { told = append(told, f.String()) },
	})
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	if result.Faults != int64(len(told)) {
		t.Errorf("%d faults, told of %q", result.Faults, told)
	}
	slices.Sort(told)
	return result, told
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			if result, told := runCheck(t, in); told != nil {
				t.Errorf("an empty one: %+v, %q", result, told)
			}
			in.Fill(t, 1100) // more than is looked at at a time
			result, told := runCheck(t, in)
			want := check.Result{Merchants: 3, Orders: 1214, Invoices: 12, Events: 1230, Files: 6, Leftovers: map[string]int64{}}
			if diff := cmp.Diff(want, result); diff != "" || told != nil {
				t.Errorf("told %q, result (-want +got):\n%s", told, diff)
			}
		})
	}
}

// damage is something that is broken on purpose, and what is to be told of it.
type damage struct {
	name  string
	seed  func(t *testing.T, in *maintenancetest.Installation)
	told  []string
	left  int64 // leftovers
	files int64 // that are right still, of 6; 0: 6
}

// exec seeds damage in the tables.
func exec(texts ...string) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) {
		for _, text := range texts {
			in.Exec(t, text)
		}
	}
}

// replace seeds damage in a file of Alpha's first order.
func replace(name string, content func(old []byte) []byte) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) {
		path := maintenancetest.InvoicePath(alpha, 0, name)
		in.Replace(t, path, content(in.Read(t, path)))
	}
}

// put adds a file.
func put(path string) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) { in.Replace(t, path, []byte("left")) }
}

// The order whose files are damaged, and its first invoice.
var (
	firstOrder  = fmt.Sprintf("merchant 355, order %d", 1<<60+alpha*1000)
	fileDamages = []damage{
		{"missing file", replace("a.pdf", func([]byte) []byte { return nil }), []string{firstOrder + ", invoice 3: the file is missing"}, 0, 5},
		{
			"truncated file", replace("a.pdf", func(b []byte) []byte { return b[:len(b)-1] }),
			[]string{firstOrder + ", invoice 3: the file has 14 bytes, its entry says 15"}, 0, 5,
		},
		{
			"longer file", replace("a.pdf", func(b []byte) []byte { return append(b, 0) }),
			[]string{firstOrder + ", invoice 3: the file has 16 bytes, its entry says 15"}, 0, 5,
		},
		{
			"flipped byte", replace("a.pdf", func(b []byte) []byte { b[7] ^= 1; return b }),
			[]string{firstOrder + ", invoice 3: the file has another content than its entry says (SHA-256)"}, 0, 5,
		},
		{
			"flipped byte of a withdrawn file", replace("a-1.pdf", func(b []byte) []byte { b[0] ^= 1; return b }),
			[]string{firstOrder + ", invoice 5: the file has another content than its entry says (SHA-256)"}, 0, 5,
		},
		// As after a purge that was cut off.
		{"missing withdrawn file", replace("a-1.pdf", func([]byte) []byte { return nil }), nil, 0, 5},
		{"purged file that came back", put(maintenancetest.InvoicePath(alpha, 2, "b.jpg")), nil, 1, 6},
		{"file without an entry", put(maintenancetest.InvoicePath(beta, 1, "a.pdf")), nil, 1, 6},
		{"file without an order", put("invoices/none/a.pdf"), nil, 1, 6},
		{"file elsewhere", put("notes/a.txt"), nil, 1, 6},
		// Of a reservation: it may come, or be swept.
		{"file on its way", put(maintenancetest.InvoicePath(alpha, 3, "on its way.pdf")), nil, 0, 6},
		{"file given up", put(maintenancetest.InvoicePath(alpha, 3, "given up.pdf")), nil, 0, 6},
	}
	// The second order of Beta has number 14.
	rowDamages = []damage{
		{
			"wrong day count", exec(`UPDATE order_days SET orders = orders + 1 WHERE merchant_id = 356 AND day = 20776 AND state = 7`),
			[]string{"merchant 356: 2026-11-19, rejected-by-merchant: the day count says 2, orders are 1"}, 0, 0,
		},
		{
			"missing day count", exec(`DELETE FROM order_days WHERE merchant_id = 356 AND day = 20776 AND state = 7`),
			[]string{"merchant 356: 2026-11-19, rejected-by-merchant: the day count says 0, orders are 1"}, 0, 0,
		},
		{
			"day count of nothing", exec(`INSERT INTO order_days (merchant_id, day, state, orders) VALUES (355, 5, 1, 2)`),
			[]string{"merchant 355: 1970-01-06, registered: the day count says 2, orders are 0"}, 0, 0,
		},
		{"empty day count", exec(`INSERT INTO order_days (merchant_id, day, state, orders) VALUES (355, 5, 1, 0)`), nil, 0, 0},
		{"event gap", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq = 4`), []string{"merchant 355: event 4 is missing"}, 0, 0},
		{
			"event gaps", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq IN (1, 4, 5, 6)`),
			[]string{"merchant 355: event 1 is missing", "merchant 355: events 4 to 6 are missing"}, 0, 0,
		},
		{
			"last event missing", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq = (SELECT last_event FROM merchants WHERE id = 355)`),
			[]string{"merchant 355: the newest event is 12, the merchant's counter says 13"}, 0, 0,
		},
		{
			"event counter behind", exec(`UPDATE merchants SET last_event = 2 WHERE id = 356`),
			[]string{"merchant 356: the newest event is 12, the merchant's counter says 2"}, 0, 0,
		},
		{
			"event 0", exec(`INSERT INTO events (merchant_id, seq, type, actor, at, order_number, order_day, from_state, to_state) VALUES (355, 0, 1, 1, 1, 1, 1, 0, 1)`),
			[]string{"merchant 355: event 0 is none"}, 0, 0,
		},
		{
			"wrong active_invoices", exec(`UPDATE orders SET active_invoices = 3 WHERE merchant_id = 356 AND reference = 'M356-1'`),
			[]string{"merchant 356, order 5: active_invoices says 3, invoices that take a place are 0"}, 0, 0,
		},
		{
			"missing key of a reference", exec(`DELETE FROM order_keys WHERE key = 'M356-1'`),
			[]string{"merchant 356, order 5: its key M356-1 is missing, or another merchant's"}, 0, 0,
		},
		{
			"missing key of a number", exec(`DELETE FROM order_keys WHERE key = '#5'`),
			[]string{"merchant 356, order 5: its key #5 is missing, or another merchant's"}, 0, 0,
		},
		{
			"key of another merchant", exec(`UPDATE order_keys SET merchant_id = 355 WHERE key = '#5'`),
			[]string{"merchant 355: keys of no order: 1", "merchant 356, order 5: its key #5 is missing, or another merchant's"}, 0, 0,
		},
		{
			"key of no order", exec(`INSERT INTO order_keys (key, merchant_id) VALUES ('X', 355)`),
			[]string{"merchant 355: keys of no order: 1"}, 0, 0,
		},
		{
			"orders without a merchant", exec(`DELETE FROM merchants WHERE id = 356`),
			[]string{"merchant 356: there is no such merchant, but orders: 4"}, 0, 3,
		},
		{
			"invoice without an order", exec(`INSERT INTO invoices (merchant_id, order_number, id, name, status, size, sha256, created_at)
				SELECT merchant_id, 77, id, name, status, size, sha256, created_at FROM invoices WHERE id = 3`),
			[]string{"merchant 355, order 77, invoice 3: there is no such order"}, 0, 0,
		},
		{
			"counter of orders behind", exec(`UPDATE counters SET last = 6 WHERE name = 'order'`),
			[]string{"the counter of numbers for orders is at 6, in use is 7"}, 0, 0,
		},
		{
			"counter of tokens missing", exec(`DELETE FROM counters WHERE name = 'token'`),
			[]string{"the counter of numbers for tokens is at 0, in use is 3"}, 0, 0,
		},
		{
			"counter of invoices behind", func(t *testing.T, in *maintenancetest.Installation) {
				text := `UPDATE counters SET last = 1 WHERE name = 'invoice'`
				if in.Kind.Postgres {
					text = `SELECT setval('invoice_ids', 1)`
				}
				if _, err := in.SQL.ExecContext(t.Context(), text); err != nil {
					t.Fatal(err)
				}
			},
			[]string{"the counter of numbers for invoices is at 1, in use is 12"}, 0, 0,
		},
		{
			"state that is none", exec(`UPDATE orders SET state = 99 WHERE merchant_id = 356 AND reference = 'M356-1'`),
			[]string{
				"merchant 356, order 5: its state, 99, is none",
				"merchant 356: 2026-11-19, rejected-by-merchant: the day count says 1, orders are 0",
				"merchant 356: 2026-11-19, unknown: the day count says 0, orders are 1",
			}, 0, 0,
		},
	}
)

// TestDamage seeds each damage in an installation of its own.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		for _, d := range slices.Concat(fileDamages, rowDamages) {
			t.Run(kind.String()+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				in := maintenancetest.New(t, kind)
				in.Fill(t, 5)
				d.seed(t, in)
				result, told := runCheck(t, in)
				if diff := cmp.Diff(d.told, told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if d.files == 0 {
					d.files = 6
				}
				left := int64(0)
				for _, n := range result.Leftovers {
					left += n
				}
				if left != d.left || result.Files != d.files {
					t.Errorf("%d leftovers, %d files, want %d and %d", left, result.Files, d.left, d.files)
				}
				for _, line := range told {
					if strings.Contains(line, ".pdf") {
						t.Errorf("told a file name: %s", line)
					}
				}
			})
		}
	}
}

// TestBrokenDatabaseFile changes one byte of an index.
func TestBrokenDatabaseFile(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 5)
	// Made where nobody has the file open.
	folder := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Create(t.Context(), source.Installation, folder, maintenancetest.Now, "", maintenance.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "orders.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRowContext(t.Context(), `SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = 'orders_by_time'`).Scan(&page, &size)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(folder, "orders.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The end of the page is the end of the first entry that came to it.
	if _, err := file.WriteAt([]byte{0xee}, page*size-1); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	_, told := runCheck(t, maintenancetest.On(t, folder))
	if len(told) == 0 || !strings.HasPrefix(told[0], "database file: ") || !strings.Contains(told[0], "orders_by_time") {
		t.Errorf("told %q", told)
	}
}

// TestNoFalseAlarms looks again and again through an installation in use, in which
// files come, are withdrawn, and are purged at once.
func TestNoFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			in.Fill(t, 20)
			stop, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for n := 20; n < 200; n++ {
					select {
					case <-stop:
						return
					default:
					}
					in.Add(t, alpha, n, n+1)
					if _, err := in.Orders.Accept(t.Context(), alpha, order.ByReference(maintenancetest.Reference(alpha, n)), order.WriteOptions{}); err != nil {
						t.Error(err)
					}
					in.Upload(t, alpha, n, "a.pdf", "stays")
					in.Delete(t, alpha, n, in.Upload(t, alpha, n, "b.pdf", "goes"))
					if _, err := in.Orders.PurgeDeletedFiles(t.Context(), maintenancetest.Now.AddDate(0, 0, 1)); err != nil {
						t.Error(err)
					}
				}
			}()
			for range 15 {
				if result, told := runCheck(t, in); told != nil || len(result.Leftovers) > 0 {
					t.Errorf("told %q, leftovers %v", told, result.Leftovers)
				}
			}
			close(stop)
			<-ended
		})
	}
}
