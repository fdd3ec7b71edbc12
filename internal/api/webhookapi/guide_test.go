package webhookapi

import (
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, r := range Refusals {
		want = append(want, strconv.Itoa(r.Status)+" "+r.Code+" "+r.Message)
	}
	for _, row := range docstest.Rows(t, "guide/errors.md", "Webhooks") {
		got = append(got, row[0]+" "+docstest.Code(row[1])[0]+" "+docstest.Code(row[2])[0])
		if row[4] == "" {
			t.Errorf("%s has no advice", row[2])
		}
	}
	docstest.Same(t, "errors", want, got)
}
