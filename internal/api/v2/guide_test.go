package v2

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/api/invoiceapi"
)

// TestGuideHasEveryError compares the guide's page of errors with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	want := []string{"404 " + codeNotFound + " " + invoiceapi.OrderNotFound("{orderReference}")}
	for _, refusal := range refusals {
		codes := refusal.samples
		if refusal.table != "" {
			codes += " " + refusal.table
		}
		want = append(want, "400 "+codes+" "+refusal.message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Orders, version 2", want)
	want = nil
	for _, r := range answerRefusals {
		want = append(want, strconv.Itoa(r.Status)+" "+r.Code+" "+r.Message)
	}
	docstest.SameErrors(t, "guide/errors.md", "Many answers", want)
}

// TestGuideHasEveryField compares the page on moving to this version with its
// fields.
func TestGuideHasEveryField(t *testing.T) {
	t.Parallel()
	isPart := func(field string) bool {
		return strings.HasPrefix(field, "invoiceDetails.") || strings.HasPrefix(field, "lineItems.")
	}
	for heading, want := range map[string][]string{
		"Lists":     docstest.Fields(listView{}),
		"One order": slices.DeleteFunc(docstest.Fields(orderView{}), isPart),
		"The invoice that the customer asked for": docstest.Fields(detailsView{}),
		"Lines": docstest.Fields(lineItemView{}),
	} {
		var got []string
		for _, row := range docstest.Rows(t, "guide/from-v1-to-v2.md", heading) {
			got = append(got, docstest.Code(row[1])...)
		}
		docstest.Same(t, heading+": fields", want, got)
	}
}
