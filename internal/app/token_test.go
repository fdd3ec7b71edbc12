package app_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/token"
)

// rows returns the rows of a printed table, without the heading. Columns are
// at least two spaces apart.
func rows(t *testing.T, table string) [][]string {
	t.Helper()
	var all [][]string
	for line := range strings.Lines(table) {
		all = append(all, regexp.MustCompile(` {2,}`).Split(strings.TrimRight(line, " \n"), -1))
	}
	return all[1:]
}

func TestTokenCreatePrintsOnlyTheToken(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	for prefix, flags := range map[string][]string{"mo_": {"--merchant", "355"}, "mop_": {"--operator"}} {
		got := f.Run(t, "", append([]string{"token", "create"}, flags...)...)
		text := strings.TrimSuffix(got.Stdout, "\n")
		if _, err := token.HashText(text); got.Code != 0 || err != nil || !strings.HasPrefix(text, prefix) {
			t.Errorf("token create %v: %+v, %v", flags, got, err)
		}
		wantLogged(t, got.Stderr, "token created", text)
	}
	got := f.Run(t, "", "token", "create", "--merchant", "356")
	want := `merchant-orders: there is no merchant 356: see "merchant-orders merchant add --help"` + "\n"
	if got.Code != 1 || got.Stdout != "" || got.Stderr != want {
		t.Errorf("unknown merchant: %+v", got)
	}
}

// wantLogged checks that a command logged one message, with who ran it and
// without the text of the token.
func wantLogged(t *testing.T, stderr, message, text string) {
	t.Helper()
	if strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, `msg="`+message+`"`) ||
		!strings.Contains(stderr, `by="command of user `) || strings.Contains(stderr, text) {
		t.Errorf("standard error: %q", stderr)
	}
}

func TestTokenList(t *testing.T) {
	t.Parallel()
	f := folder(t)
	first := f.Merchant(t, 355)
	second := f.Token(t, "--merchant", "355", "--scopes", "orders:write,orders:read", "--expires", "2160h")
	third := f.Token(t, "--operator", "--expires", "30s")
	got := f.Run(t, "", "token", "list")
	table := rows(t, got.Stdout)
	if len(table) != 3 {
		t.Fatalf("got %d rows:\n%s", len(table), got.Stdout)
	}
	for i, text := range []string{first, second, third} {
		if strings.Contains(got.Stdout, text) {
			t.Error("the list contains a whole token")
		}
		created, err := time.Parse(time.RFC3339, table[i][4])
		if err != nil || time.Since(created) > time.Hour || time.Since(created) < -time.Hour {
			t.Errorf("created %s, %v", table[i][4], err)
		}
		expires := "-"
		if lifetime := []time.Duration{0, 2160 * time.Hour, 30 * time.Second}[i]; lifetime > 0 {
			expires = created.Add(lifetime).Format(time.RFC3339)
		}
		hint := text[:strings.Index(text, "_")+5] + "..."
		want := [][]string{
			{"1", "355", "orders:read,orders:write,invoices:write", hint, table[i][4], expires, "-", "-"},
			{"2", "355", "orders:read,orders:write", hint, table[i][4], expires, "-", "-"},
			{"3", "operator", "-", hint, table[i][4], expires, "-", "-"},
		}[i]
		if diff := cmp.Diff(want, table[i]); diff != "" {
			t.Errorf("row %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestTokenRevoke(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	second := f.Token(t, "--operator")
	for _, name := range []string{"1", "1", second} {
		want := "token 1 is revoked\n"
		if name == second {
			want = "token 2 is revoked\n"
		}
		got := f.Run(t, "", "token", "revoke", name)
		if got.Code != 0 || got.Stdout != want {
			t.Errorf("got %+v, want %q", got, want)
		}
		wantLogged(t, got.Stderr, "token revoked", second)
	}
	for _, row := range rows(t, f.Run(t, "", "token", "list").Stdout) {
		if _, err := time.Parse(time.RFC3339, row[7]); err != nil {
			t.Errorf("the list does not show token %s as revoked: %v", row[0], row)
		}
	}
	unknown, _ := token.NewText(token.MerchantPrefix)
	for _, name := range []string{"3", "0", "x", unknown} {
		got := f.Run(t, "", "token", "revoke", name)
		if want := "merchant-orders: there is no such token\n"; got.Code != 1 || got.Stdout != "" || got.Stderr != want {
			t.Errorf("revoke %s: %+v", name, got)
		}
	}
}
