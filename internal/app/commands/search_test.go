package commands_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

func TestSearchAndInspect(t *testing.T) {
	t.Parallel()
	folder := apptest.Folder{Data: t.TempDir() + "/data"}
	document := func(reference, first, last, expires string) string {
		return `{"merchantId":355,"reference":"` + reference + `","createdAt":"2026-11-20T08:15:30Z","expiresAt":"` + expires + `","total":100,
			"customer":{"firstName":"` + first + `","lastName":"` + last + `","email":"x@example.com"},"shippingAddress":{"city":"Athens","countryCode":"GR"},
			"lineItems":[{"id":1,"productName":"Tea","unitPrice":100,"quantity":1}]}`
	}
	lines := strings.NewReplacer("\n", "", "\t", "").Replace(document("A-1", "Γιώργος", "Παπαδόπουλος", "2026-11-21T00:00:00Z")) + "\n" +
		strings.NewReplacer("\n", "", "\t", "").Replace(document("A-2", "Maria", "Pappa", "2026-11-22T00:00:00Z")) + "\n"
	run := func(stdin, want string, args ...string) {
		t.Helper()
		folder.Run(t, stdin, args...).WantText(t, 0, want)
	}
	run("", "", "merchant", "add", "--id", "355", "--name", "Our Store")
	run(lines, "created 2", "import", "-")
	run("", `"orderReference":"A-1"`, "search", "παπαδοπ", "γιω", "--json")
	run("", "A-2", "search", "pappa", "--state", "registered", "--merchant", "355", "--from", "2026-11-20", "--to", "2026-11-20")
	run("", "A-1", "search", "--expires-before", "2026-11-21T00:01Z", "--limit", "1")
	run("", "order.created", "inspect", "A-1")
	run("", `"merchant":"Our Store"`, "inspect", "A-1", "--json")
	run("", `"deliveries":[]`, "inspect", "A-1", "--json")
	addDelivery(t, folder.Data)
	run("", "2026-11-20T10:00:00Z  7        1       1       order.created  -       timeout  42", "inspect", "A-1")
	run("", `"deliveries":[{"webhookId":7,"at":"2026-11-20T10:00:00Z","event":1,"type":"order.created","error":"timeout","tookMs":42}]`, "inspect", "A-1", "--json")
	run("", "only the first 1 orders are printed; a larger --limit prints more", "search", "--limit", "1", "--json")
	testenv.Equal(t, "standard error", "", folder.Run(t, "", "search", "--limit", "2").Stderr)
	folder.Run(t, "", "search", "nobody", "--json").WantOut(t, 0, "")
	folder.Run(t, "", "inspect", "none").WantText(t, 1, "there is no order none")
	bad := []string{
		"search", strings.Repeat("x", 201), "--merchant", "0", "--state", "new", "--from", "2026-13-01", "--to", "x", "--expires-before", "x", "--limit", "0",
	}
	got := folder.Run(t, "", bad...)
	for _, flag := range []string{"orders: the words must", "merchant", "state", "from", "to", "expires-before", "limit"} {
		got.WantText(t, 2, flag)
	}
}

// addDelivery writes a delivery of the first event of a merchant.
func addDelivery(t *testing.T, data string) {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", "file:"+filepath.Join(data, "orders.db"))).Must(t)
	defer db.Close()
	testenv.Of(db.ExecContext(t.Context(), `INSERT INTO webhook_deliveries (merchant_id, webhook_id, id, at, message_id, event_seq, event_merchant, event_type, status, error, took_ms, response) VALUES
		(355, 7, 1, 1795168800, 'msg', 1, 0, 'order.created', 0, 'timeout', 42, '')`)).Must(t)
}
