package check_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
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
	"merchantorders/internal/testenv"
)

const (
	alpha = maintenancetest.Alpha
	beta  = maintenancetest.Beta
)

// runCheck checks an installation and returns the findings in ascending order,
// without their cures. Each must have one.
func runCheck(t *testing.T, in *maintenancetest.Installation, heads ...check.Head) (check.Result, []string) {
	t.Helper()
	var findings []string
	result := testenv.Of(check.Run(t.Context(), in.Installation, check.Options{Heads: heads}, &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) {
			if f.Cure == "" {
				t.Errorf("%v: no cure", f)
			}
			f.Cure = ""
			findings = append(findings, f.String())
		},
	})).Must(t)
	testenv.Equal(t, "findings counted", int64(len(findings)), result.Findings)
	slices.Sort(findings)
	return result, findings
}

func TestCheckFindsNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			if result, findings := runCheck(t, in); findings != nil {
				t.Errorf("empty installation: %+v, findings %q", result, findings)
			}
			in.Fill(t, 1100) // more than a page of orders
			result, findings := runCheck(t, in)
			want := check.Result{Merchants: 3, Orders: 1214, Invoices: 12, Events: 1232, Files: 6}
			if diff := cmp.Diff(want, result); diff != "" || findings != nil {
				t.Errorf("findings %q, result (-want +got):\n%s", findings, diff)
			}
		})
	}
}

// damage is damage to an installation, and what check must report.
type damage struct {
	name     string
	seed     func(t *testing.T, in *maintenancetest.Installation)
	findings []string
	orphans  int64
	files    int64 // that match their entries, of 6; 0: 6
}

// row is damage to rows.
func row(name string, seed func(*testing.T, *maintenancetest.Installation), findings ...string) damage {
	return damage{name: name, seed: seed, findings: findings}
}

// exec damages tables.
func exec(texts ...string) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) {
		for _, text := range texts {
			in.Exec(t, text)
		}
	}
}

// replace damages a file of Alpha's first order.
func replace(name string, content func(old []byte) []byte) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) {
		path := maintenancetest.InvoicePath(alpha, 0, name)
		in.Replace(t, path, content(in.Read(t, path)))
	}
}

// put adds a file to the storage.
func put(path string) func(*testing.T, *maintenancetest.Installation) {
	return func(t *testing.T, in *maintenancetest.Installation) { in.Replace(t, path, []byte("left")) }
}

// Invoices whose files are damaged.
const (
	invoice3 = "merchant 355, order M355-0, invoice 3: invoices/M355-0/a.pdf "
	invoice5 = "merchant 355, order M355-0, invoice 5: invoices/M355-0/a-1.pdf "
)

var (
	fileDamages = []damage{
		{"missing file", replace("a.pdf", func([]byte) []byte { return nil }), []string{invoice3 + "is missing"}, 0, 5},
		{
			"truncated file", replace("a.pdf", func(b []byte) []byte { return b[:len(b)-1] }),
			[]string{invoice3 + "has 14 bytes, but its entry says 15"}, 0, 5,
		},
		{
			"longer file", replace("a.pdf", func(b []byte) []byte { return append(b, 0) }),
			[]string{invoice3 + "has 16 bytes, but its entry says 15"}, 0, 5,
		},
		{
			"flipped byte", replace("a.pdf", func(b []byte) []byte { b[7] ^= 1; return b }),
			[]string{invoice3 + "does not have the content that its entry says (SHA-256)"}, 0, 5,
		},
		{
			"flipped byte of a deleted file", replace("a-1.pdf", func(b []byte) []byte { b[0] ^= 1; return b }),
			[]string{invoice5 + "does not have the content that its entry says (SHA-256)"}, 0, 5,
		},
		// As after an interrupted purge.
		{"missing deleted file", replace("a-1.pdf", func([]byte) []byte { return nil }), nil, 0, 5},
		{"purged file that is there again", put(maintenancetest.InvoicePath(alpha, 2, "b.jpg")), nil, 1, 6},
		{"file without an entry", put(maintenancetest.InvoicePath(beta, 1, "a.pdf")), nil, 1, 6},
		{"file without an order", put("invoices/none/a.pdf"), nil, 1, 6},
		{"file outside of all orders", put("notes/a.txt"), nil, 1, 6},
		// Files of reservations are not orphans: they are activated or removed later.
		{"file of a reservation", put(maintenancetest.InvoicePath(alpha, 3, "on its way.pdf")), nil, 0, 6},
		{"file of an expired reservation", put(maintenancetest.InvoicePath(alpha, 3, "given up.pdf")), nil, 0, 6},
	}
	// The second order of Beta, M356-1, has the legacy id 5.
	rowDamages = []damage{
		row("wrong day count", exec(`UPDATE order_days SET orders = orders + 1 WHERE merchant_id = 356 AND day = 20776 AND state = 7`),
			"merchant 356: 2026-11-19, rejected-by-merchant: the day count is 2, but there are 1 orders"),
		row("missing day count", exec(`DELETE FROM order_days WHERE merchant_id = 356 AND day = 20776 AND state = 7`),
			"merchant 356: 2026-11-19, rejected-by-merchant: the day count is 0, but there are 1 orders"),
		row("day count of nothing", exec(`INSERT INTO order_days (merchant_id, day, state, orders) VALUES (355, 5, 1, 2)`),
			"merchant 355: 1970-01-06, registered: the day count is 2, but there are 0 orders"),
		row("wrong number by state", exec(`UPDATE merchants SET in_state_7 = in_state_7 + 1 WHERE id = 356`),
			"merchant 356: rejected-by-merchant: the merchant's number of orders is 2, but there are 1"),
		row("cursor of a webhook beyond the events", exec(`UPDATE webhooks SET acknowledged = 4000 WHERE merchant_id = 355 AND id = 1`),
			"merchant 355: webhook 1 has acknowledged event 4000, but the newest is 14"),
		row("deliveries of no webhook", exec(`DELETE FROM webhooks WHERE id = 3`),
			"merchant 356: webhook 3 does not exist, but has 1 deliveries"),
		row("empty day count", exec(`INSERT INTO order_days (merchant_id, day, state, orders) VALUES (355, 5, 1, 0)`)),
		row("event gap", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq = 4`), "merchant 355: event 4 is missing"),
		row("event gaps", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq IN (1, 4, 5, 6)`),
			"merchant 355: event 1 is missing", "merchant 355: events 4 to 6 are missing"),
		row("last event missing", exec(`DELETE FROM events WHERE merchant_id = 355 AND seq = (SELECT last_event FROM merchants WHERE id = 355)`),
			"merchant 355: the newest event is 13, but the merchant's last event is 14"),
		row("event counter behind", exec(`UPDATE merchants SET last_event = 2 WHERE id = 356`),
			"merchant 356: the newest event is 13, but the merchant's last event is 2"),
		row("wrong nonce of the newest event", exec(`UPDATE merchants SET data_nonce = data_nonce + 1 WHERE id = 355`),
			"merchant 355: the nonce of event 14 is not the one in the merchant's row"),
		row("positions of events", exec(`UPDATE events SET position = 1000000000 WHERE merchant_id = 355 AND seq = 4`),
			"merchant 355: the feed of all merchants has 1 events before an earlier one, and 1 after the merchant's last position"),
		row("event 0", exec(`INSERT INTO events (merchant_id, seq, nonce, type, actor, at, legacy_id, order_day, from_state, to_state) VALUES (355, 0, 1, 1, 1, 1, 1, 1, 0, 1)`),
			"merchant 355: 1 of 15 events have no entry in the audit log", "merchant 355: event 0 has an invalid number"),
		row("wrong active_invoices", exec(`UPDATE orders SET active_invoices = 3 WHERE merchant_id = 356 AND reference = 'M356-1'`),
			"merchant 356, order M356-1: active_invoices is 3, but 0 invoices are active or reserved"),
		row("missing key of a reference", exec(`DELETE FROM order_keys WHERE key = 'M356-1'`),
			"merchant 356, order M356-1: its key M356-1 is missing or belongs to another merchant"),
		row("missing key of a legacy id", exec(`DELETE FROM order_keys WHERE key = '#5'`),
			"merchant 356, order M356-1: its key #5 is missing or belongs to another merchant"),
		row("key of another merchant", exec(`UPDATE order_keys SET merchant_id = 355 WHERE key = '#5'`),
			"merchant 355: order keys without an order: 1", "merchant 356, order M356-1: its key #5 is missing or belongs to another merchant"),
		row("key without an order", exec(`INSERT INTO order_keys (key, merchant_id) VALUES ('X', 355)`),
			"merchant 355: order keys without an order: 1"),
		{
			"orders without a merchant", exec(`DELETE FROM merchants WHERE id = 356`),
			[]string{"merchant 356: the merchant does not exist, but has 4 orders"}, 0, 3,
		},
		row("invoice without an order", exec(`INSERT INTO invoices (merchant_id, legacy_id, id, name, status, size, sha256, created_at)
				SELECT merchant_id, 77, id, name, status, size, sha256, created_at FROM invoices WHERE id = 3`),
			"merchant 355, order 77, invoice 3: the order does not exist"),
		row("counter of orders behind", exec(`UPDATE counters SET last = 6 WHERE name = 'order'`),
			"the order counter is at 6, but 7 is in use"),
		row("counter of tokens missing", exec(`DELETE FROM counters WHERE name = 'token'`),
			"the token counter is at 0, but 3 is in use"),
		row("counter of invoices behind", func(t *testing.T, in *maintenancetest.Installation) {
			text := `UPDATE counters SET last = 1 WHERE name = 'invoice'`
			if in.Kind.Postgres {
				text = `SELECT setval('invoice_ids', 1)`
			}
			testenv.Of(in.SQL.ExecContext(t.Context(), text)).Must(t)
		},
			"the invoice counter is at 1, but 12 is in use"),
		row("audit entry changed", exec(`UPDATE audit SET reference = 'M355-9' WHERE merchant_id = 355 AND seq = 1`),
			"merchant 355: audit entry 1 was changed: its hash does not match"),
		row("audit entries missing", exec(`DELETE FROM audit WHERE merchant_id = 355 AND seq IN (2, 4, 5)`),
			"merchant 355: audit entries 4 to 5 are missing", "merchant 355: audit entry 2 is missing"),
		row("audit log cut off", exec(`DELETE FROM audit WHERE merchant_id = 356 AND seq > 10`),
			"merchant 356: the newest audit entry is 10, but entry 17 was written last"),
		row("audit log cut off with its counter", exec(`DELETE FROM audit WHERE merchant_id = 355 AND seq > (SELECT audit_seq - 3 FROM merchants WHERE id = 355)`,
			`UPDATE merchants SET audit_seq = audit_seq - 3 WHERE id = 355`),
			"merchant 355: 2 of 14 events have no entry in the audit log"),
		row("audit entries reordered", exec(`UPDATE audit SET seq = 1000 WHERE merchant_id = 355 AND seq = 3`,
			`UPDATE audit SET seq = 3 WHERE merchant_id = 355 AND seq = 4`, `UPDATE audit SET seq = 4 WHERE merchant_id = 355 AND seq = 1000`),
			"merchant 355: audit entry 3 does not continue entry 2: one of them was changed or moved",
			"merchant 355: audit entry 4 does not continue entry 3: one of them was changed or moved",
			"merchant 355: audit entry 5 does not continue entry 4: one of them was changed or moved"),
		row("audit log without its beginning", exec(`DELETE FROM audit WHERE merchant_id = 356`, `UPDATE merchants SET audit_seq = 0 WHERE id = 356`),
			"merchant 356: 13 of 13 events have no entry in the audit log"),
		row("audit log of the service cut off", exec(`UPDATE counters SET last = last + 1 WHERE name = 'audit'`),
			"the newest audit entry is 1, but entry 2 was written last"),
		row("words that 1.0 did not write", exec(`DELETE FROM order_words WHERE word LIKE 'l%' OR word LIKE 't%'`)),
		row("missing word", exec(`DELETE FROM order_words WHERE word = 'rm356-1'`),
			"merchant 356: the words by which its orders are found are not those of the orders"),
		row("word of another order", exec(`UPDATE order_words SET legacy_id = 1 WHERE word = 'rm356-1'`),
			"merchant 356: the words by which its orders are found are not those of the orders"),
		row("word in another block", exec(`UPDATE order_words SET block = -5 WHERE word = 'rm356-1'`),
			"merchant 356: the words by which its orders are found are not those of the orders"),
		row("number of a file that 1.0 has deleted", exec(`UPDATE orders SET invoice_numbers = 'INV-7' WHERE merchant_id = 356 AND reference = 'M356-1'`),
			"merchant 356, order M356-1: it is found by other numbers (invoice_numbers) than those of its invoice files"),
		row("mark of a file that is not found", exec(`UPDATE invoices SET mark = '4711' WHERE id = 3`),
			"merchant 355, order M355-0: it is found by other numbers (invoice_numbers) than those of its invoice files"),
		row("wrong deadline", exec(`UPDATE orders SET expires_at = 5 WHERE merchant_id = 356`),
			"merchant 356: 4 orders have another deadline (expires_at) than their details"),
		row("undecodable details", exec(`UPDATE orders SET details = substr(details, 2) WHERE merchant_id = 356 AND reference = 'M356-1'`),
			"merchant 356, order M356-1: its details cannot be decoded"),
		row("another state than the newest event", exec(`UPDATE events SET to_state = 5 WHERE merchant_id = 356 AND seq = (SELECT MAX(seq) FROM events
				WHERE merchant_id = 356 AND to_state <> 0)`),
			"merchant 356, order M356-1: its state is rejected-by-merchant, but its newest event says delivered-to-pickup-point"),
		row("invalid state", exec(`UPDATE orders SET state = 99 WHERE merchant_id = 356 AND reference = 'M356-1'`),
			"merchant 356, order M356-1: its state is 99, which is not valid",
			"merchant 356: 2026-11-19, rejected-by-merchant: the day count is 1, but there are 0 orders",
			"merchant 356: 2026-11-19, unknown: the day count is 0, but there are 1 orders",
			"merchant 356: rejected-by-merchant: the merchant's number of orders is 1, but there are 0"),
	}
)

// TestDamage damages one installation for each kind of damage: files in each storage,
// rows in each database.
func TestDamage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind    maintenancetest.Kind
		damages []damage
	}{
		{maintenancetest.Kind{}, slices.Concat(fileDamages, rowDamages)},
		{maintenancetest.Kind{S3: true}, fileDamages},
		{maintenancetest.Kind{Postgres: true}, rowDamages},
	} {
		for _, d := range test.damages {
			t.Run(test.kind.String()+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				in := maintenancetest.New(t, test.kind)
				in.Fill(t, 5)
				d.seed(t, in)
				result, findings := runCheck(t, in)
				testenv.Equal(t, "findings", d.findings, findings)
				if d.files == 0 {
					d.files = 6
				}
				if n := result.Orphans; n != d.orphans || result.Files != d.files {
					t.Errorf("%d orphans, %d files, want %d and %d", n, result.Files, d.orphans, d.files)
				}
			})
		}
	}
}

// TestDamagedDatabaseFile changes one byte of an index.
func TestDamagedDatabaseFile(t *testing.T) {
	t.Parallel()
	source := maintenancetest.New(t, maintenancetest.Kind{})
	source.Fill(t, 5)
	// In a backup, because no process has its file open.
	folder := filepath.Join(t.TempDir(), "backup")
	testenv.Of(backup.Create(t.Context(), source.Installation, backup.Place{Path: folder}, maintenancetest.Now, "", new(maintenance.Reporter))).Must(t)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "orders.db")+"?mode=ro")
	testenv.NoError(t, err)
	var page, size int64
	err = db.QueryRowContext(t.Context(), `SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = 'orders_by_time'`).Scan(&page, &size)
	testenv.NoError(t, errors.Join(err, db.Close()))
	file := testenv.Of(os.OpenFile(filepath.Join(folder, "orders.db"), os.O_RDWR, 0)).Must(t)
	// SQLite fills a page from its end: the last byte is in the first entry.
	testenv.Of(file.WriteAt([]byte{0xee}, page*size-1)).Must(t)
	testenv.NoError(t, file.Close())
	_, findings := runCheck(t, maintenancetest.Open(t, folder))
	if len(findings) == 0 || !strings.HasPrefix(findings[0], "database file: ") || !strings.Contains(findings[0], "orders_by_time") {
		t.Errorf("findings %q", findings)
	}
}

// TestCheckInUse checks an installation again and again while files are uploaded,
// deleted and purged.
func TestCheckInUse(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds[:2] {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			in.Fill(t, 20)
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for n := 20; n < 200; n++ {
					select {
					case <-stop:
						return
					default:
					}
					in.Import(t, alpha, n, n+1)
					if _, err := in.Orders.Accept(t.Context(), order.CommandFor(alpha), order.ByReference(maintenancetest.Reference(alpha, n)), order.Options[order.WriteResult]{}); err != nil {
						t.Error(err)
					}
					in.Upload(t, alpha, n, "a.pdf", "stays")
					in.Delete(t, alpha, n, in.Upload(t, alpha, n, "b.pdf", "goes"))
					if _, err := in.Orders.PurgeDeletedFiles(t.Context(), maintenancetest.Now.AddDate(0, 0, 1)); err != nil {
						t.Error(err)
					}
				}
			}()
			for range 8 {
				if result, findings := runCheck(t, in); findings != nil || result.Orphans > 0 {
					t.Errorf("findings %q, orphans %d", findings, result.Orphans)
				}
			}
			close(stop)
			<-stopped
		})
	}
}

// TestHeads cuts the newest entries off two chains, and their counters with them. Only
// the heads of before show it.
func TestHeads(t *testing.T) {
	t.Parallel()
	for _, kind := range maintenancetest.Kinds {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			in := maintenancetest.New(t, kind)
			in.Fill(t, 4)
			var file bytes.Buffer
			heads := testenv.Of(check.Heads(t.Context(), in.DB)).Must(t)
			if len(heads) != 4 || heads[0].MerchantID != 0 {
				t.Errorf("heads %+v", heads)
			}
			for _, head := range heads {
				testenv.NoError(t, json.NewEncoder(&file).Encode(head))
			}
			heads = testenv.Of(check.ReadHeads(&file)).Must(t)
			if _, findings := runCheck(t, in, heads...); findings != nil {
				t.Errorf("nothing was cut: %q", findings)
			}
			in.Exec(t, `DELETE FROM audit WHERE merchant_id = 0`)
			in.Exec(t, `UPDATE counters SET last = 0 WHERE name = 'audit'`)
			if _, findings := runCheck(t, in); findings != nil {
				t.Errorf("without heads: %q", findings)
			}
			want := []string{"audit entry 1 is not the one of --audit-heads: the log was cut or replaced, or an older backup restored"}
			if _, findings := runCheck(t, in, heads...); !slices.Equal(findings, want) {
				t.Errorf("with heads: %q", findings)
			}
		})
	}
	for _, text := range []string{"x", `{"merchantId":1}`, `{"merchantId":1,"seq":1,"hash":"ab"}`} {
		if _, err := check.ReadHeads(strings.NewReader(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestCheckBesideWrites checks an installation while others write 2 MB after each statement.
// The log of the database holds what they write during a snapshot, not during the check.
func TestCheckBesideWrites(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 1100)
	busy := in.Busy(t)
	if _, findings := runCheck(t, in); findings != nil {
		t.Errorf("findings %q", findings)
	}
	const limit = 24 << 20
	if busy.MaxLog > limit {
		t.Errorf("the log has %d bytes, want at most %d", busy.MaxLog, limit)
	}
}
