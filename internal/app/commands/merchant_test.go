package commands_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// folder returns a data folder that does not exist yet.
func folder(t *testing.T) apptest.Folder {
	t.Helper()
	return apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}
}

func TestMerchantAdd(t *testing.T) {
	t.Parallel()
	f := folder(t)
	for range 2 {
		f.Run(t, "", "merchant", "add", "--id", "355", "--name", "Το μαγαζί μας").WantOut(t, 0, "merchant 355: Το μαγαζί μας\n")
	}
	f.Run(t, "", "merchant", "add", "--id", "355", "--name", "Another").WantErr(t, 1, "merchant-orders: merchant 355 exists already, with another name\n")
}

// TestManyMerchantsAndTokens adds merchants and creates tokens, one a line, twice: the second
// time nothing changes.
func TestManyMerchantsAndTokens(t *testing.T) {
	t.Parallel()
	f := folder(t)
	many := func(input, args string, code int, counts string, want ...string) (results []string) {
		t.Helper()
		got := f.Run(t, input, strings.Fields(args)...)
		results = strings.Split(strings.TrimSuffix(got.Stdout, "\n"), "\n")
		if got.Code != code || !strings.Contains(got.Stderr, counts) || len(results) != len(want) {
			t.Fatalf("%s: %+v", args, got)
		}
		for i, text := range results {
			if matched, err := regexp.MatchString("^"+want[i]+"$", text); err != nil || !matched {
				t.Errorf("%s: line %s does not match %s, %v", args, text, want[i], err)
			}
		}
		return results
	}
	merchants := `{"id":355,"name":"Our Store"}` + "\n\n" + `{"id":356,"name":"Άλλο"}` + "\n" + `{"id":355,"name":"Another"}` + "\n" + `{"id":"7"}` + "\nx\n"
	add := func(status, counts string) {
		t.Helper()
		many(merchants, "merchant add -", 1, counts,
			`{"line":1,"merchantId":355,"status":"`+status+`"}`, `{"line":3,"merchantId":356,"status":"`+status+`"}`,
			`{"line":4,"merchantId":355,"status":"conflicting","problem":"the merchant exists already, with another name"}`,
			`{"line":5,"status":"invalid","problem":"id must be a whole number from 1"}`, `{"line":6,"status":"invalid","problem":"the line is not a JSON object"}`)
	}
	add("created", "created 2, unchanged 0, conflicting 1, invalid 2")
	add("unchanged", "created 0, unchanged 2, conflicting 1, invalid 2")
	f.Run(t, "", "merchant", "add", "--id=356", "--name=Άλλο", "--json").WantText(t, 0, `{"id":356,"name":"Άλλο","createdAt":"20`)

	tokens := `{"merchantId":355,"label":"shop","expires":"90d"}` + "\n" + `{"merchantId":356,"label":"shop","scopes":["orders:read"]}` + "\n" + `{"operator":true,"label":"ERP"}` + "\n"
	made := many(tokens, "token create -", 0, "created 3, unchanged 0, conflicting 0, invalid 0",
		`{"line":1,"merchantId":355,"status":"created","tokenId":1,"token":"mo_\w+"}`, `{"line":2,"merchantId":356,"status":"created","tokenId":2,"token":"mo_\w+"}`,
		`{"line":3,"status":"created","tokenId":3,"token":"mop_\w+"}`)
	var first struct{ Token string }
	testenv.NoError(t, json.Unmarshal([]byte(made[0]), &first))
	many(tokens+`{"merchantId":355,"label":"shop","scopes":["tokens"]}`+"\n"+`{"merchantId":9,"label":"shop"}`+"\n"+`{"merchantId":355}`+"\n"+`{"merchantId":355,"label":"x","expires":"1999-01-01"}`,
		"token create -", 1, "created 0, unchanged 3, conflicting 1, invalid 3",
		`{"line":1,"merchantId":355,"status":"unchanged","tokenId":1}`, `{"line":2,"merchantId":356,"status":"unchanged","tokenId":2}`, `{"line":3,"status":"unchanged","tokenId":3}`,
		`{"line":4,"merchantId":355,"status":"conflicting","tokenId":1,"problem":"there is a token with this label and other scopes"}`,
		`{"line":5,"merchantId":9,"status":"invalid","problem":"there is no merchant 9: .+"}`,
		`{"line":6,"status":"invalid","problem":"label is required: the command creates no second token with the label"}`,
		`{"line":7,"merchantId":355,"status":"invalid","problem":".*must be later than now"}`)
	f.Run(t, "", "token", "revoke", first.Token).WantText(t, 0, "token 1 is revoked")
	many(`{"merchantId":355,"label":"shop"}`, "token create -", 0, "created 1", `{"line":1,"merchantId":355,"status":"created","tokenId":4,"token":"mo_\w+"}`)
	f.Run(t, "", "token", "create", "--operator", "--json").WantText(t, 0, `{"text":"mop_`, `"token":{"id":5,"operator":true`)
}

// TestMerchantCommands changes a merchant with every command, and runs each with wrong
// values.
// Proves decision 1 (suspended merchant).
func TestMerchantCommands(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	const at = `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`
	for _, step := range []struct {
		args []string
		code int
		want string // a pattern of both outputs
	}{
		{[]string{"rename", "--id", "355", "--name", "Νέο"}, 0, "merchant 355: Νέο\n"},
		{[]string{"limit", "--id", "355", "--requests", "200"}, 0, "merchant 355: requests a second 200, burst 400\n"},
		{[]string{"limit", "--id", "355", "--requests", "200", "--burst", "9"}, 0, "merchant 355: requests a second 200, burst 9\n"},
		{[]string{"zone", "--id", "355", "--time-zone", "Europe/Athens"}, 0, "merchant 355: time zone Europe/Athens\n"},
		{[]string{"suspend", "--id", "355", "--reason", "unpaid"}, 0, "merchant 355 is suspended since " + at + ": unpaid\n"},
		{[]string{"suspend", "--id", "355", "--reason", "other"}, 0, "merchant 355 is suspended since " + at + ": unpaid\n"},
		{[]string{"show", "--id", "355"}, 0, `MERCHANT           355
Name               Νέο
Created            ` + at + `
Suspended          ` + at + `
Reason             unpaid
Requests a second  200
Burst              9
Time zone          Europe/Athens
`},
		{[]string{"show", "--id", "355", "--json"}, 0, `{"id":355,"name":"Νέο","createdAt":"` + at + `","suspendedAt":"` + at +
			`","suspensionReason":"unpaid","limits":{"requestsPerSecond":200,"burst":9},"timeZone":"Europe/Athens"}\n`},
		{[]string{"list"}, 0, "ID   NAME  CREATED               SUSPENDED\n355  Νέο   " + at + "  " + at + "\n"},
		{[]string{"zone", "--id", "355"}, 2, `(?s).*--time-zone \S+: is required.*`},
		{[]string{"zone", "--id", "355", "--time-zone", ""}, 0, "merchant 355: time zone default\n"},
		{[]string{"zone", "--id", "355", "--time-zone", "", "--json"}, 0, `{"id":355,.+,"limits":{"requestsPerSecond":200,"burst":9}}\n`},
		{[]string{"zone", "--id", "355", "--time-zone", "Athens"}, 2, `(?s).*--time-zone \S+: must be the name of a time zone, such as Europe/Athens or UTC.*`},
		{[]string{"resume", "--id", "355"}, 0, "merchant 355 is not suspended\n"},
		{[]string{"limit", "--id", "355", "--requests", "0"}, 0, "merchant 355: requests a second default, burst default\n"},
		{[]string{"show", "--id", "356"}, 1, `merchant-orders: there is no merchant 356: see "merchant-orders merchant list"\n`},
		{[]string{"suspend", "--id", "x"}, 2, `(?s).*--id \S+: must be a whole number from 1.*--reason \S+: is required.*`},
		{[]string{"rename", "--id", "355", "--name", " \u00a0"}, 2, `(?s).*--name \S+: is required.*`},
		{[]string{"rename", "--id", "355"}, 2, `(?s).*--name \S+: is required.*`},
		{[]string{"limit", "--id", "355", "--requests", "500001"}, 2, `(?s).*--requests \S+: must be a whole number from 1 to 500000.*`},
		{[]string{"limit", "--id", "355", "--requests", "0", "--burst", "5"}, 2, `(?s).*--burst \S+: must not be given together with --requests 0.*`},
	} {
		got := f.Run(t, "", append([]string{"merchant"}, step.args...)...)
		if output := got.Stdout + got.Stderr; got.Code != step.code || !regexp.MustCompile(`^`+step.want+`$`).MatchString(output) {
			t.Errorf("%q: exit code %d\n%s", step.args, got.Code, output)
		}
	}
}
