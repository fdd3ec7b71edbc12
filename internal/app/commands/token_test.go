package commands_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/commands"
	"merchantorders/internal/testenv"
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

// Proves decision 1 (form, storage of a token).
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
	// Nobody sees a secret that cannot be printed, so an error names what has it.
	full := testenv.Of(os.OpenFile("/dev/full", os.O_WRONLY, 0)).Must(t)
	defer func() { _ = full.Close() }()
	for args, want := range map[string]string{
		"token create --merchant 355 --data ": "there is a token 4", "webhook add --merchant 355 --url https://example.com --data ": "webhook 1 has a secret",
	} {
		var stderr bytes.Buffer
		code := commands.Run(t.Context(), strings.Fields(args+f.Data), nil, full, &stderr, nil)
		if code != 1 || !strings.Contains(stderr.String(), want+" that nobody has seen: ") {
			t.Errorf("%s: code %d, %s", args, code, stderr.String())
		}
	}
	got := f.Run(t, "", "token", "create", "--merchant", "356")
	want := `merchant-orders: there is no merchant 356: see "merchant-orders merchant add --help"` + "\n"
	got.WantErr(t, 1, want)
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
	second := f.Token(t, "--merchant", "355", "--scopes", "orders:write,orders:read", "--expires", "90d")
	third := f.Token(t, "--operator", "--expires", "30s")
	got := f.Run(t, "", "token", "list")
	table := rows(t, got.Stdout)
	if len(table) != 3 {
		t.Fatalf("got %d rows:\n%s", len(table), got.Stdout)
	}
	for i, text := range []string{first, second, third} {
		testenv.Lacks(t, "list of tokens", got.Stdout, text)
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
			{"1", "355", "orders:read,orders:write,invoices:write", hint, table[i][4], expires, "-", "-", "-", "-"},
			{"2", "355", "orders:read,orders:write", hint, table[i][4], expires, "-", "-", "-", "-"},
			{"3", "operator", "orders:read,tokens,webhooks,orders:ingest,orders:transition,merchants,audit,customers", hint, table[i][4], expires, "-", "-", "-", "-"},
		}[i]
		testenv.Equal(t, fmt.Sprintf("row %d", i), want, table[i])
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
		got.WantOut(t, 0, want)
		wantLogged(t, got.Stderr, "token revoked", second)
	}
	for _, row := range rows(t, f.Run(t, "", "token", "list").Stdout) {
		if _, err := time.Parse(time.RFC3339, row[8]); err != nil {
			t.Errorf("the list does not show token %s as revoked: %v", row[0], row)
		}
	}
	unknown, _ := token.NewText(token.MerchantPrefix)
	for name, want := range map[string]string{"3": "3", "0": "0", "x": "with the given text", unknown: "with the given text", unknown[3:]: "with the given text"} {
		for _, flag := range []string{"", "--children"} {
			args := append([]string{"token", "revoke"}, strings.Fields(name+" "+flag)...)
			f.Run(t, "", args...).WantErr(t, 1, "merchant-orders: there is no token "+want+": see \"merchant-orders token list\"\n")
		}
	}
}

func TestTokenRotate(t *testing.T) {
	t.Parallel()
	f := folder(t)
	first := f.Merchant(t, 355)
	got := f.Run(t, "", "token", "rotate", "1", "--overlap=1d")
	text := strings.TrimSuffix(got.Stdout, "\n")
	if _, err := token.HashText(text); got.Code != 0 || err != nil || text == first {
		t.Errorf("%+v, %v", got, err)
	}
	wantLogged(t, got.Stderr, "token created", text)
	testenv.Contains(t, "standard error", got.Stderr, " created=2 merchant=355 ", " replaces=1 old_expires=20")
	table := rows(t, f.Run(t, "", "token", "list").Stdout)
	expires, err := time.Parse(time.RFC3339, table[0][5])
	if until := time.Until(expires); err != nil || until < 23*time.Hour || until > 24*time.Hour || table[1][5] != "-" {
		t.Errorf("the old token expires at %v, %v; the list is %v", expires, err, table)
	}
	f.Run(t, "", "token", "rotate", "2", "--json").WantText(t, 0, `{"text":"mo_`, `"token":{"id":3,`, `"replaced":{"id":2,`, `"expiresAt":"20`)
	f.Run(t, "", "token", "revoke", "1").WantText(t, 0)
	for name, want := range map[string]string{
		first: "token 1 has expired or is revoked: create another one with merchant-orders token create\n",
		"4":   "there is no token 4: see \"merchant-orders token list\"\n",
	} {
		f.Run(t, "", "token", "rotate", name).WantErr(t, 1, "merchant-orders: "+want)
	}
}

// TestTokenFilters lists tokens with each filter, and revokes all of a merchant.
func TestTokenFilters(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Merchant(t, 356)
	f.Token(t, "--merchant", "355", "--label", "Shop", "--scopes", "tokens")
	f.Token(t, "--operator", "--label", "Shop 2")
	for flags, want := range map[string]string{
		"--merchant=355": "1 3", "--operator": "4", "--state=active": "1 2 3 4", "--state=revoked": "", "--label=Shop": "3 4", "--scope=tokens": "3 4",
		"--scope=tokens --merchant=355": "3",
	} {
		var ids []string
		for _, row := range rows(t, f.Run(t, "", append([]string{"token", "list"}, strings.Fields(flags)...)...).Stdout) {
			ids = append(ids, row[0])
		}
		testenv.Equal(t, "token list "+flags, want, strings.Join(ids, " "))
	}
	for _, want := range []string{"merchant 355: tokens revoked: 2\n", "merchant 355: tokens revoked: 0\n"} {
		f.Run(t, "", "token", "revoke", "--merchant", "355").WantOut(t, 0, want)
	}
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"revoke --merchant=9": {1, "there is no merchant 9"}, "revoke": {2, "--merchant (MERCHANT_ORDERS_MERCHANT): or a token is required"},
		"revoke 1 --merchant=355": {2, "must not be given together with a token"}, "list --state=valid": {2, "must be one of active, expired, revoked"},
		"list --merchant=355 --operator": {2, "must not be given together with --operator"}, "list --scope=all": {2, "is not a scope"},
		"create --merchant=355 --label=" + strings.Repeat("x", 101): {2, "must be text of at most 100 characters"},
	} {
		f.Run(t, "", append([]string{"token"}, strings.Fields(args)...)...).WantText(t, want.code, want.text)
	}
}

// TestTokenLifetime creates and rotates tokens with a maximum lifetime.
// Proves decision 1 (maximum lifetime).
func TestTokenLifetime(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	for _, test := range []struct {
		args string
		code int
	}{
		{"create --operator --max-token-lifetime=1h", 0}, {"create --operator --expires=1h --max-token-lifetime=1h", 0},
		{"rotate 1 --max-token-lifetime=1h", 0}, {"create --operator --expires=1h1s --max-token-lifetime=1h", 2},
		{"rotate 2 --expires=2h --max-token-lifetime=1h", 2}, {"create --operator --max-token-lifetime=30m", 2},
	} {
		got := f.Run(t, "", append([]string{"token"}, strings.Fields(test.args)...)...)
		if got.Code != test.code || (test.code == 0) == strings.Contains(got.Stderr, "must be ") {
			t.Errorf("token %s: %+v", test.args, got)
		}
	}
	for _, row := range rows(t, f.Run(t, "", "token", "list", "--scope=audit").Stdout) {
		created, _ := time.Parse(time.RFC3339, row[4])
		testenv.Equal(t, "the new life of token "+row[0], time.Hour, testenv.Of(time.Parse(time.RFC3339, row[5])).Must(t).Sub(created))
	}
}
