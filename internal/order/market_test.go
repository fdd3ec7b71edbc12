package order_test

import (
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestMarketEvents waits for events of all merchants while this and another instance
// change orders of two merchants, and for events of one type.
// Proves decision 9 (feed of all merchants).
func TestMarketEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(t, numbered(1, order.Registered), numbered(2, order.Registered))
		t.Cleanup(synctest.Wait) // until no poll uses the database
		mine, others := feedService(db), feedService(db.another(t))
		end := testenv.Of(mine.MarketEvents(t.Context(), order.MarketQuery{FeedQuery: order.FeedQuery{Latest: true}})).Must(t)
		start := time.Now()
		go func() {
			for n, s := range []*order.Service{mine, others} {
				time.Sleep(time.Second)
				o := numbered(int64(3+n), order.Registered)
				o.MerchantID = stranger
				testenv.Of(s.Import(t.Context(), order.Command(), []order.Incoming{{Order: o}})).WantError(t, "import", nil)
				time.Sleep(time.Second)
				if _, err := s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(int64(1+n)), order.Options[order.WriteResult]{}); err != nil {
					t.Error(err)
				}
			}
		}()
		query := order.MarketQuery{Cursor: end.Cursor, FeedQuery: order.FeedQuery{Limit: 10, Wait: order.MaxFeedWait}}
		accepted := query
		accepted.Wants = func(t order.EventType) bool { return t == order.OrderStateChanged }
		for n, limit := range []time.Duration{0, pollInterval} {
			feed, err := mine.MarketEvents(t.Context(), accepted)
			took, at := time.Since(start), time.Duration(2+2*n)*time.Second
			if err != nil || len(feed.Events) != 1 || feed.Events[0].LegacyID != int64(1+n) || feed.More || !feed.Waited || took < at || took > at+limit {
				t.Errorf("%+v after %s, error %v", feed, took, err)
			}
			accepted.Cursor = feed.Cursor
		}
		if feed, err := mine.MarketEvents(t.Context(), accepted); err != nil || len(feed.Events) > 0 || time.Since(start) < order.MaxFeedWait {
			t.Errorf("nothing to wait for: %+v after %s, error %v", feed, time.Since(start), err)
		}
		query.Limit = 3
		feed, err := mine.MarketEvents(t.Context(), query)
		if err != nil || len(feed.Events) != 3 || !feed.More || feed.Events[0].MerchantID != stranger {
			t.Errorf("all types: %+v, error %v", feed, err)
		}
	})
}
