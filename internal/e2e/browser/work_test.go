package browser

import (
	"context"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// slowResults waits before it keeps the result of a part.
type slowResults struct {
	app.Store
	before func()
}

// Keep implements token.SessionStore.
func (s slowResults) Keep(ctx context.Context, merchantID int64, kind token.KeptKind, person string, k token.Kept, most int, check func([]token.Kept) (string, error)) error {
	s.before()
	return s.Store.Keep(ctx, merchantID, kind, person, k, most, check)
}

// TestWork rejects the orders of all pages while the database is slow, with scripts and without:
// the page shows how far it is, can be left, and ends with what became of the orders.
func TestWork(t *testing.T) {
	startBrowser(t)
	for name, scripts := range map[string]bool{"scripts": true, "no scripts": false} {
		t.Run(name, func(t *testing.T) {
			more, kept := make(chan struct{}), 0
			s := apptest.New(t, apptest.Setup{Store: func(db app.Store) app.Store {
				return slowResults{db, func() {
					if kept++; kept > 2 { // after the first part
						<-more
					}
				}}
			}, Fill: func(s *apptest.Service) {
				testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), jobMerchant, "Store", order.Options[order.Merchant]{}))
				for n := range jobOrders {
					s.MustImport(testenv.Of(ingest.Parse(jobOrder(n + 1))).Must(t))
				}
			}})
			p := newPerson(t, new(apptest.Server), s.URL)
			p.speak(t, "en")
			p.signIn(t, s.NewToken(jobMerchant, order.MerchantScopes))
			p.runScripts(t, scripts)
			p.see(t, "/console/new", "h2", "orders")
			for _, selector := range []string{"[data-all]", "#reject summary", "[value=damaged]", "#reject button"} {
				p.wait(t, selector, "")
				p.click(t, selector)
			}
			p.wait(t, "h1", "Reject 353 orders?") // the page before has a button of this class too
			p.click(t, "main .danger")
			p.wait(t, "h1", "Rejecting 353 orders…")
			p.wait(t, "main p", "100 of 353")
			more <- struct{}{}
			p.wait(t, "main p", "200 of 353")
			p.see(t, "/console/ship", "h1", "To ship")
			p.see(t, "/console/new?result=last", "main p", "200 of 353")
			close(more)
			p.wait(t, ".notice.good", "353 orders were rejected.")
		})
	}
}
