package instances

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
)

// TestDoctorOnPostgres runs doctor on PostgreSQL and S3, before and after the schema
// is made. It changes neither of them.
func TestDoctorOnPostgres(t *testing.T) {
	t.Parallel()
	f := apptest.Folder{Data: t.TempDir(), Settings: []string{"--database", pgtest.Empty(t), "--storage", bucket(t)}}
	for _, want := range []map[string]string{
		{"database": "ok", "schema": "warning", "rights": "ok", "clock": "ok", "storage": "ok"},
		{"database": "ok", "schema": "ok", "rights": "ok", "clock": "ok", "storage": "ok"},
	} {
		got := f.Run(t, "", "doctor", "--json")
		var report struct {
			Checks []struct{ Check, Status string }
		}
		if err := json.Unmarshal([]byte(got.Stdout), &report); err != nil {
			t.Fatalf("%v: %+v", err, got)
		}
		statuses := make(map[string]string)
		for _, check := range report.Checks {
			if _, ok := want[check.Check]; ok {
				statuses[check.Check] = check.Status
			}
		}
		if diff := cmp.Diff(want, statuses); diff != "" || got.Code != 0 {
			t.Errorf("checks (-want +got):\n%s\n%+v", diff, got)
		}
		if got := f.Run(t, "", "migrate"); got.Code != 0 {
			t.Fatal(got)
		}
	}
}
