package commands_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestEraseCommand counts, erases, and says that nobody has an address.
func TestEraseCommand(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Import(t, document(1, func(d map[string]any) { d["customer"] = map[string]any{"email": "maria@example.com"} }))
	f.Run(t, "", "erase", "--customer-email", "maria@example.com", "--dry-run").WantOut(t, 0, "would erase: orders 1, files 0\n")
	f.Run(t, "", "erase", "--merchant=355", "--reference=T-9", "--dry-run").WantText(t, 1, "merchant 355 has no order T-9\n")
	f.Run(t, "", "erase", "--customer-email", "mara@example.com").WantText(t, 1, "no order has a customer with this address")
	f.Run(t, "", "export", "--customer-email", "mara@example.com").WantErr(t, 0, "merchant-orders: no order has a customer with this address, or all are erased already\n")
	f.Run(t, "", "erase", "--customer-email", "maria@example.com", "--customer-email", "mara@example.com").WantText(t, 2, "--customer-email", "is given twice")
	f.Run(t, "", "erase", "--customer-email", "maria@example.com").WantOut(t, 0, "erased: orders 1, files 0\n")
	f.Run(t, "", "erase", "--customer-email", "maria@example.com").WantText(t, 1, "are erased already")
}

// TestNoCountWithoutDatabase has commands count in a damaged database: they print no number.
func TestNoCountWithoutDatabase(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	db := testenv.Of(sql.Open("sqlite", "file:"+filepath.Join(f.Data, "orders.db"))).Must(t)
	testenv.Of(db.ExecContext(t.Context(), "DROP TABLE orders")).Must(t)
	testenv.NoError(t, db.Close())
	for _, command := range []string{"purge --dry-run", "erase --dry-run --merchant 355 --reference T-1"} {
		got := f.Run(t, "", strings.Fields(command)...)
		if got.Code != 1 || got.Stdout != "" || got.Stderr == "" {
			t.Errorf("%s: %+v", command, got)
		}
	}
}
