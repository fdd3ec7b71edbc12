package v1

import (
	"slices"
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/api/invoiceapi"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	want := []string{"404 " + invoiceapi.OrderNotFound("{orderId}")}
	for _, refusal := range refusals {
		want = append(want, strconv.Itoa(refusal.Status)+" "+refusal.Message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Orders, version 1", want)
}

// TestGuideHasEveryField compares the page on moving to version 2 with the
// fields of this version.
func TestGuideHasEveryField(t *testing.T) {
	t.Parallel()
	hasTable := func(field string) bool { return field == "fields" || field == "products" }
	for heading, want := range map[string][]string{
		"Lists":     docstest.Fields(listView{}),
		"One order": slices.DeleteFunc(slices.DeleteFunc(docstest.Fields(orderView{}), hasTable), isPart),
		"The invoice that the customer asked for": docstest.Fields(fieldsView{}),
		"Lines": docstest.Fields(productView{}),
	} {
		var got []string
		for _, row := range docstest.Rows(t, "guide/from-v1-to-v2.md", heading) {
			got = append(got, docstest.Code(row[0])...)
		}
		docstest.Same(t, heading+": fields", want, got)
	}
}

// isPart reports whether a field has its own table on the page.
func isPart(field string) bool {
	return len(field) > 7 && field[:7] == "fields." || len(field) > 9 && field[:9] == "products."
}
