package guide_test

import (
	"strconv"
	"strings"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/order"
)

// TestLimits compares the table of limits with the constants of the domain.
func TestLimits(t *testing.T) {
	t.Parallel()
	want := map[string]int64{
		"orders on a page":          order.MaxPageSize,
		"events in a response":      order.MaxFeedLimit,
		"invoice files of an order": order.MaxInvoices,
		"invoice files of an order in all, deleted ones included": order.MaxInvoicesEver,
		"size of an invoice file":                                 order.MaxInvoiceSize,
		"waiting requests of a merchant, for each server":         order.MaxWaiters,
	}
	for _, row := range docstest.Rows(t, "guide/limits.md", "Limits") {
		limit, ok := want[row[0]]
		if !ok {
			continue
		}
		delete(want, row[0])
		number, _, _ := strings.Cut(row[1], " ")
		if got := strings.ReplaceAll(number, ",", ""); got != strconv.FormatInt(limit, 10) {
			t.Errorf("%s: the guide has %s, the code %d", row[0], row[1], limit)
		}
	}
	for name := range want {
		t.Errorf("the guide has no limit for: %s", name)
	}
}

// TestEventTypes compares the table of event types with the types of the domain.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	var types, documented []string
	for eventType := order.OrderCreated; eventType.String() != "unknown"; eventType++ {
		types = append(types, eventType.String())
	}
	for _, row := range docstest.Rows(t, "guide/changes.md", "Events") {
		if name := docstest.Code(row[0])[0]; strings.Contains(name, ".") {
			documented = append(documented, name)
		}
	}
	docstest.Same(t, "event types", types, documented)
}
