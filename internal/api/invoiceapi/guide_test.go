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
	var got []string
	for _, row := range docstest.Rows(t, "guide/errors.md", "Invoice files") {
		got = append(got, row[0]+" "+docstest.Code(row[1])[0])
		if row[2] == "" || row[3] == "" {
			t.Errorf("%s has no cause or no advice", row[1])
		}
	}
	docstest.Same(t, "errors", want, got)
}
