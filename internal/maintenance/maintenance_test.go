package maintenance_test

import (
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/testenv"
)

func TestMain(m *testing.M) { maintenancetest.Main(m) }

// TestInvoiceFilePlans verifies that reading invoice files uses indexes.
func TestInvoiceFilePlans(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	const (
		order   = "SEARCH o USING INDEX sqlite_autoindex_orders_1 (merchant_id=? AND legacy_id=?)"
		invoice = "SEARCH i USING INDEX sqlite_autoindex_invoices_1 (merchant_id=? AND "
	)
	for text, want := range map[string][]string{
		maintenance.SelectInvoiceFile:     {invoice + "legacy_id=? AND id=?)", order},
		maintenance.SelectInvoiceFilePage: {invoice + "(legacy_id,id)>(?,?))", order},
	} {
		testenv.Equal(t, text, want, in.QueryPlan(t, text))
	}
}

func TestFindingString(t *testing.T) {
	t.Parallel()
	for want, finding := range map[string]maintenance.Finding{
		"p":                                   {Problem: "p"},
		"merchant 3: p":                       {MerchantID: 3, Problem: "p"},
		"merchant 3, order 4: p":              {MerchantID: 3, OrderLegacyID: 4, Problem: "p"},
		"merchant 3: p; c":                    {MerchantID: 3, Problem: "p", Cure: "c"},
		"merchant 3, order R-1, invoice 5: p": {MerchantID: 3, OrderLegacyID: 4, OrderReference: "R-1", InvoiceID: 5, Problem: "p"},
	} {
		testenv.Equal(t, "finding", want, finding.String())
	}
}
