package commands_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestAuditNamesWhoRanACommand checks that each entry of a command has its user, the
// name of --as, and the ticket.
func TestAuditNamesWhoRanACommand(t *testing.T) {
	t.Parallel()
	f := folder(t)
	account := testenv.Of(user.Current()).Must(t)
	f.Merchant(t, 355)
	steps := [][]string{
		{"token", "create", "--merchant", "355"}, {"token", "rotate", "1"}, {"token", "revoke", "1"}, {"login-link", "--merchant", "355"},
		{"merchant", "suspend", "--id", "355", "--reason", "x"}, {"merchant", "resume", "--id", "355"},
		{"export", "--customer-email", "a@example.com"}, {"links", "revoke"},
	}
	for _, step := range steps {
		if got := f.Run(t, "", slices.Concat(step, []string{"--as", "maria@example.com", "--ticket", "OPS-17"})...); got.Code != 0 {
			t.Fatalf("%q: %+v", step, got)
		}
	}
	lines := strings.Split(strings.TrimSpace(f.Run(t, "", "audit", "--json", "--limit", "0").Stdout), "\n")
	if len(lines) < len(steps) {
		t.Errorf("%d entries", len(lines))
	}
	for i, line := range lines {
		want := "by=maria@example.com ticket=OPS-17\""
		if strings.Contains(line, `"merchantId":355,"seq":1,`) || strings.Contains(line, `"merchantId":355,"seq":2,`) { // of f.Merchant
			want = "by=" + account.Username + "\""
		}
		testenv.Contains(t, fmt.Sprint("entry ", i), line, want)
	}
	f.Run(t, "", "check").WantText(t, 0)
	for flag, value := range map[string]string{"as": "two words", "ticket": "a=b"} {
		f.Run(t, "", "merchant", "list", "--"+flag, value).WantErr(t, 2, "merchant-orders: --"+flag+" (MERCHANT_ORDERS_"+strings.ToUpper(flag)+"): must be up to 64 letters, digits, and characters of . _ - + @ # / : without a space\n")
	}
}

// TestAuditHeads compares the audit log with heads that are right, wrong and none.
func TestAuditHeads(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	limited := f.Run(t, "", "audit", "--limit", "1", "--json")
	if strings.Count(limited.Stdout, "\n") != 1 || limited.Stderr != "merchant-orders: only the newest 1 entries are printed; --limit 0 prints all\n" {
		t.Errorf("limited to 1: %+v", limited)
	}
	f.Run(t, "", "audit", "--from", "2026-11-21", "--to", "2026-11-20").WantText(t, 2, "--from (MERCHANT_ORDERS_FROM): is after --to")
	heads := f.Run(t, "", "audit", "--heads").Stdout
	if !strings.HasPrefix(heads, `{"merchantId":355,"seq":2,"hash":"`) || strings.Count(heads, "\n") != 1 {
		t.Fatalf("heads %q", heads)
	}
	file := filepath.Join(t.TempDir(), "heads")
	for content, code := range map[string]int{heads: 0, strings.Replace(heads, `"seq":2`, `"seq":3`, 1): 1, "x": 2, "": 2} {
		testenv.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		f.Run(t, "", "check", "--audit-heads", file).WantText(t, code)
	}
}
