package order

import (
	"cmp"
	"context"
)

// MarketCursor is a place in the marketplace's feed: that of an event, or the beginning.
type MarketCursor struct {
	History int64 // identifies the history in which the cursor is valid; 0: in any
	// Position, MerchantID and Seq are those of the event, Nonce tells whether it is still
	// the same event. All are 0 at the beginning.
	Position, MerchantID, Seq, Nonce int64
}

// MarketQuery selects events of all merchants.
type MarketQuery struct {
	FeedQuery // without After
	// Cursor is where the page before ended; the zero value is before the first event.
	Cursor MarketCursor
}

// MarketFeed is a page of the marketplace's feed: the events of all merchants, those of
// each merchant in their order. Its Version is that of the end of the page, its Next has
// no meaning.
type MarketFeed struct {
	Feed
	Cursor MarketCursor // where the page ends
}

// MarketEvents returns a page of the events of all merchants, as Events does for one:
// every event that is committed at some time is in one page at least. A page may have
// fewer events than there are, even none: see Feed.More. It returns ErrOtherHistory for a
// cursor whose event is gone, and ErrOnCluster where there is no such feed.
func (s *Service) MarketEvents(ctx context.Context, query MarketQuery) (MarketFeed, error) {
	if query.Latest {
		return s.store.MarketEnd(ctx)
	}
	market := MarketFeed{Cursor: query.Cursor}
	var err error
	market.Feed, err = s.waitForEvents(ctx, allMerchants, query.FeedQuery, func() (Feed, error) {
		market, err = s.readMarket(ctx, query, market.Cursor)
		return market.Feed, err
	})
	if err == nil && query.Orders {
		n := len(market.Events)
		if market.Events, err = s.addFeedOrders(ctx, market.Events); err == nil && len(market.Events) < n {
			market.Cursor, market.More = market.Cursor.At(market.Events[len(market.Events)-1]), true
			market.Version = market.Cursor.version()
		}
	}
	return market, err
}

// readMarket reads the events of the wanted types after a cursor.
func (s *Service) readMarket(ctx context.Context, query MarketQuery, after MarketCursor) (MarketFeed, error) {
	market := MarketFeed{Cursor: after}
	var err error
	market.Events, market.More, err = query.readWanted(func(limit int) ([]EventRecord, error) {
		page, err := s.store.MarketEvents(ctx, market.Cursor, limit)
		market.History, market.Cursor = page.History, page.Cursor
		return page.Events, err
	})
	if err != nil {
		return MarketFeed{}, err
	}
	if n := len(market.Events); n == query.Limit {
		market.Cursor = market.Cursor.At(market.Events[n-1])
	}
	market.Version = market.Cursor.version()
	return market, nil
}

// At returns the cursor of an event in the same history.
func (c MarketCursor) At(e EventRecord) MarketCursor {
	return MarketCursor{History: c.History, Position: e.Position, MerchantID: e.MerchantID, Seq: e.Seq, Nonce: e.Nonce}
}

// Before reports whether an event is behind the cursor.
func (c MarketCursor) Before(e EventRecord) bool {
	return cmp.Or(cmp.Compare(c.Position, e.Position), cmp.Compare(c.MerchantID, e.MerchantID), cmp.Compare(c.Seq, e.Seq)) < 0
}

// version returns the data version of all merchants of which the cursor is the end.
func (c MarketCursor) version() DataVersion { return DataVersion{Event: c.Position, Nonce: c.Nonce} }
