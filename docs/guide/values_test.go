package guide_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
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
		"sessions of a merchant at the console":                   token.MaxSessions,
	}
	for _, row := range docstest.Rows(t, "guide/limits.md", "Limits") {
		limit, ok := want[row[0]]
		if !ok {
			continue
		}
		delete(want, row[0])
		number, _, _ := strings.Cut(strings.ReplaceAll(row[1], ";", " "), " ")
		testenv.Equal(t, row[0], strconv.FormatInt(limit, 10), strings.ReplaceAll(number, ",", ""))
	}
	for name := range want {
		t.Errorf("the guide has no limit for: %s", name)
	}
}

// TestUploadLimits compares the limits of uploads, where documents name them, with the
// code.
func TestUploadLimits(t *testing.T) {
	t.Parallel()
	want := []string{
		strconv.Itoa(order.MaxInvoiceSize/1e6) + ",000,000 bytes",
		strconv.Itoa(invoiceapi.MaxBody>>20) + " MiB",
	}
	limits := regexp.MustCompile(`[0-9]+,[0-9]{3},[0-9]{3} bytes|[0-9]{2} MiB`)
	for _, file := range []string{
		"errors.md", "invoices.md", "limits.md", "../interface.md", "../../openapi/v1.yaml", "../../openapi/v2.yaml",
		"../../deploy/nginx/merchant-orders.conf", "../../deploy/caddy/Caddyfile",
	} {
		text := testenv.Of(os.ReadFile(file)).Must(t)
		found := limits.FindAllString(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s names no limit of an upload", file)
		}
		for _, limit := range found {
			if !slices.Contains(want, limit) {
				t.Errorf("%s has a limit of %s, the code %q", file, limit, want)
			}
		}
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

// TestGuideHasEveryError compares the page of errors with the refusals of tokens and webhooks.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	for heading, refusals := range map[string]web.CodedRefusals{"Tokens": tokenapi.Refusals, "Webhooks": webhookapi.Refusals} {
		var want []string
		for _, r := range refusals {
			want = append(want, fmt.Sprint(r.Status, " ", r.Code, " ", r.Message))
		}
		docstest.SameErrors(t, "guide/errors.md", heading, want)
	}
}
