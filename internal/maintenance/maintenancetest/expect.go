package maintenancetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
)

// WantDump fails the test unless the installation holds what another one holds.
func (in *Installation) WantDump(t *testing.T, want map[string][]string) {
	t.Helper()
	if diff := cmp.Diff(want, in.Dump(t)); diff != "" {
		t.Errorf("%v (-source +target):\n%.4000s", in.Kind, diff)
	}
}

// WantNoFindings fails the test if check reports a finding or an orphan.
func (in *Installation) WantNoFindings(t *testing.T) {
	t.Helper()
	result, err := check.Run(t.Context(), in.Installation, check.Options{}, &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) { t.Errorf("%v: %v", in.Kind, f) },
	})
	if err != nil || result.Findings != 0 || result.Orphans != 0 {
		t.Errorf("%v: %+v, error %v", in.Kind, result, err)
	}
}
