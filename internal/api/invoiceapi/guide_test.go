package invoiceapi

import (
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	want := []string{"404 " + OrderNotFound("{order}")}
	for _, refusal := range refusals {
		want = append(want, strconv.Itoa(refusal.Status)+" "+refusal.Message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Invoice files", want)
}
