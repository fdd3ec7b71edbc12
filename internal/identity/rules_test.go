package identity

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

// TestProviderClaims lets the people of known providers in, by the claims that these send.
func TestProviderClaims(t *testing.T) {
	t.Parallel()
	const operator, merchant = "operator orders:read", "merchant=355 orders:read"
	for _, row := range []struct {
		file, rule string
		want       error
	}{
		{"keycloak", `realm_access.roles="store manager" ` + merchant, nil},
		{"keycloak", `resource_access.merchant-orders.roles=clerk ` + merchant, nil},
		{"keycloak", `resource_access."orders.example.com".roles=support ` + operator, nil},
		{"keycloak", `resource_access.orders.example.com.roles=support ` + operator, nil},
		{"keycloak", `resource_access.orders.roles=support ` + operator, ErrNoAccess},
		{"keycloak", `groups="/Stores/Shop 355" ` + merchant, nil},
		{"keycloak", `"groups=/Stores/Shop 355" ` + merchant, nil},
		{"keycloak", `groups=/Stores/Shop ` + merchant, ErrNoAccess},
		{"keycloak", `email=Maria@shop.example ` + merchant, nil},
		{"keycloak", `groups="\"The\" \\ Stores" ` + merchant, nil},
		{"entra", `groups=5f1c0f5c-1d5f-4d8e-9f0c-3c9be0d4b3a1 ` + operator, nil},
		{"entra", `roles=Orders.Clerk ` + merchant, nil},
		{"entra", `email=maria@shop.example ` + merchant, ErrNoAccess},
		{"entra-too-many-groups", `groups=5f1c0f5c-1d5f-4d8e-9f0c-3c9be0d4b3a1 ` + operator, ErrTooManyGroups},
		{"entra-too-many-groups", `roles=Orders.Clerk ` + operator, nil},
		{"entra-too-many-groups", `roles=Other ` + operator, ErrNoAccess},
		{"google", `email=maria@shop.example ` + merchant, nil},
		{"google", `email=Maria@Shop.Example ` + merchant, nil},
		{"google", `email=maria@s` + "\u212a" + `op.example ` + merchant, ErrNoAccess},
		{"google", `hd=shop.example ` + merchant, nil},
		{"authentik", `groups="Store Managers" ` + merchant, nil},
		{"authentik", `groups="authentik Admins" ` + operator, nil},
		{"zitadel", `urn:zitadel:iam:org:project:roles=support ` + operator, nil},
		{"zitadel", `urn:zitadel:iam:org:project:251234567890123456:roles=clerk ` + merchant, nil},
		{"zitadel", `urn:zitadel:iam:org:project:roles=251234567890000001 ` + operator, ErrNoAccess},
	} {
		rules, err := ParseRules(row.rule)
		if err != nil {
			t.Errorf("%s: %v", row.rule, err)
			continue
		}
		text := testenv.Of(os.ReadFile(filepath.Join("testdata", row.file+".json"))).Must(t)
		claims := map[string]any{}
		testenv.NoError(t, json.Unmarshal(text, &claims))
		testenv.Of(personOf(claims, rules, false)).WantError(t, fmt.Sprintf("%s, %s", row.file, row.rule), row.want)
	}
}

// TestNoAccess checks that the error says which claim is not what rules want, for the log.
func TestNoAccess(t *testing.T) {
	t.Parallel()
	rules := testenv.Of(ParseRules("roles=a operator audit\nroles=b operator audit\nx.email=c@d merchant=1 orders:read\ngroups=e merchant=1 orders:read")).Must(t)
	claims := map[string]any{"roles": []any{map[string]any{"clerk": map[string]any{}}}, "x": map[string]any{"email": "c@d"}}
	_, err := personOf(claims, rules, false)
	testenv.Equal(t, "error", ErrNoAccess.Error()+": roles has no value of a rule, x.email is not verified, groups is missing or empty", fmt.Sprint(err))
	claims["roles"] = []any{"other", map[string]any{"b": map[string]any{"1": "example.com"}}}
	testenv.Of(personOf(claims, rules, false)).WantError(t, "an object in a list", nil)
}

// TestQuotes splits lines of rules.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		`a  b	c`:       {"a", "b", "c"},
		`a="b c" d`:    {"a=b c", "d"},
		`"a=b c" d`:    {"a=b c", "d"},
		`a."b.c".d=e`:  {"a.b.c.d=e"},
		`a=DOM\x b`:    {`a=DOM\x`, "b"},
		`a="DOM\x y"`:  {`a=DOM\x y`},
		`a="\"b\" \\"`: {`a="b" \`},
		`"" a`:         {"", "a"},
		`a="b c`:       nil,
	} {
		words, ok := splitWords(line)
		if diff := cmp.Diff(want, words); ok != (want != nil) || ok && diff != "" {
			t.Errorf("%s: %t (-want +got):\n%s", line, ok, diff)
		}
	}
	if _, err := ParseRules("groups=Store Managers operator orders:read"); err == nil || !strings.Contains(err.Error(), `groups="Shop 355"`) {
		t.Errorf("a group without quotes: %v", err)
	}
}
