package webhookapi

import (
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	var want []string
	for _, r := range Refusals {
		want = append(want, strconv.Itoa(r.Status)+" "+r.Code+" "+r.Message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Webhooks", want)
}
