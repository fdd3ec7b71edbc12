package commands_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"merchantorders/internal/app/apptest"
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

func TestMerchantList(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 1200)
	f.Merchant(t, 3)
	got := f.Run(t, "", "merchant", "list")
	want := regexp.MustCompile(`^ID    NAME        CREATED               SUSPENDED
3     Store 3     20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  -
1200  Store 1200  20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  -
$`)
	if got.Code != 0 || !want.MatchString(got.Stdout) {
		t.Errorf("got %d\n%s", got.Code, got.Stdout)
	}
}

func TestMerchantListJSON(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 3)
	got := f.Run(t, "", "merchant", "list", "--json")
	want := regexp.MustCompile(`^{"id":3,"name":"Store 3","createdAt":"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"}
$`)
	if got.Code != 0 || !want.MatchString(got.Stdout) {
		t.Errorf("got %d\n%s", got.Code, got.Stdout)
	}
}

// TestMerchantCommands changes a merchant with every command, and runs each with wrong
// values.
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
		{[]string{"suspend", "--id", "355", "--reason", "unpaid"}, 0, "merchant 355 is suspended since " + at + ": unpaid\n"},
		{[]string{"suspend", "--id", "355", "--reason", "other"}, 0, "merchant 355 is suspended since " + at + ": unpaid\n"},
		{[]string{"show", "--id", "355"}, 0, `MERCHANT           355
Name               Νέο
Created            ` + at + `
Suspended          ` + at + `
Reason             unpaid
Requests a second  200
Burst              9
`},
		{[]string{"show", "--id", "355", "--json"}, 0, `{"id":355,"name":"Νέο","createdAt":"` + at + `","suspendedAt":"` + at +
			`","suspensionReason":"unpaid","limits":{"requestsPerSecond":200,"burst":9}}\n`},
		{[]string{"resume", "--id", "355"}, 0, "merchant 355 is not suspended\n"},
		{[]string{"limit", "--id", "355", "--requests", "0"}, 0, "merchant 355: requests a second default, burst default\n"},
		{[]string{"show", "--id", "356"}, 1, `merchant-orders: there is no merchant 356: see "merchant-orders merchant list"\n`},
		{[]string{"suspend", "--id", "x"}, 2, `(?s).*--id \S+: must be a whole number from 1.*--reason \S+: is required.*`},
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
