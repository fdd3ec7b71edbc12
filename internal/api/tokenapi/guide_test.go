package tokenapi

import (
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, row := range Refusals {
		want = append(want, strconv.Itoa(row.Status)+" "+row.Code+" "+row.Message)
	}
	for _, row := range docstest.Rows(t, "guide/errors.md", "Tokens") {
		got = append(got, row[0]+" "+docstest.Code(row[1])[0]+" "+docstest.Code(row[2])[0])
		if row[3] == "" || row[4] == "" {
			t.Errorf("%s has no cause or no advice", row[2])
		}
	}
	docstest.Same(t, "errors", want, got)
}
