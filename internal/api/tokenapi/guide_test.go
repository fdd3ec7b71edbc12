package tokenapi

import (
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	var want []string
	for _, row := range Refusals {
		want = append(want, strconv.Itoa(row.Status)+" "+row.Code+" "+row.Message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Tokens", want)
}
