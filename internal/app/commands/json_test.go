package commands_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// TestResultsAsJSON runs commands that change something with --json.
func TestResultsAsJSON(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, apptest.MerchantID)
	document := string(ingesttest.Document(1, func(d map[string]any) { d["merchantId"], d["reference"] = apptest.MerchantID, "J-1" }))
	for _, c := range []struct {
		args, stdin string
		code        int
		want        []string // parts of standard output, which is JSON
	}{
		{"import -", document + "\n{\n", 1, []string{`"line":1`, `"status":"created"`, `"line":2`, `"problem"`}},
		{"import --dry-run -", document + "\n", 0, []string{`"status":"unchanged"`}},
		{"transition -", `{"merchantId":355,"reference":"J-9","state":"cancelled"}` + "\n", 1, []string{`"line":1`, `"problem"`}},
		{"erase --dry-run --merchant 355 --reference J-1", "", 0, []string{`{"orders":1,"files":0,"dryRun":true}`}},
		{"erase --merchant 355 --reference J-1", "", 0, []string{`{"orders":1,"files":0}`}},
		{"erase --customer-email nobody@example.com", "", 1, []string{`{"orders":0,"files":0}`}},
		{"purge", "", 0, []string{`{"files":0}`}},
		{"copy --to-data " + t.TempDir() + "/copy", "", 0, []string{`"orders":1`, `"sourceChanged":false`}},
		{"backup " + t.TempDir() + "/b.tar", "", 0, []string{`"files":0`, `"findings":0`}},
		{"token revoke 1", "", 0, []string{`{"revokedTokenIds":[1]}`}},
		{"token revoke --merchant 355", "", 0, []string{`{"revokedTokenIds":[]}`}},
		{"merchant show --merchant 355", "", 0, []string{`"id":355`}},
	} {
		got := f.Run(t, c.stdin, append(strings.Fields(c.args), "--json")...)
		if got.Code != c.code {
			t.Errorf("%s: %+v, want code %d", c.args, got, c.code)
		}
		decoder := json.NewDecoder(strings.NewReader(got.Stdout))
		for decoder.More() {
			var value map[string]any
			testenv.NoError(t, decoder.Decode(&value))
		}
		testenv.Contains(t, fmt.Sprint(c.args), got.Stdout, c.want...)
	}
	f.Run(t, "", "audit", "--action", "order.stat_changed").WantText(t, 2, "is none of")
}
