package maintenancetest

import (
	"fmt"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/testenv"
)

// WantDump fails the test unless the installation holds what another one holds.
func (in *Installation) WantDump(t *testing.T, want map[string][]string) {
	t.Helper()
	testenv.Equal(t, fmt.Sprintf("%v", in.Kind), want, in.Dump(t))
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
