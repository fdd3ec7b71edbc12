package delivery

import (
	"context"
	"errors"

	"merchantorders/internal/order"
)

// page is a page of the feed of an endpoint.
type page struct {
	events []order.EventRecord
	end    order.MarketCursor // of the last event; that of the endpoint if there is none
	more   bool               // there are more events
	again  bool               // the cursor was not valid any more: the page begins at an earlier one
	market bool
}

// at returns the cursor of an event of the page.
func (p page) at(event order.EventRecord) order.MarketCursor {
	if p.market {
		return p.end.At(event)
	}
	return order.MarketCursor{Seq: event.Seq}
}

// readPage reads up to limit events after the cursor of an endpoint. A cursor that is not valid
// any more never skips events: that of the marketplace begins again. It becomes so if the
// database was copied, or restored from a dump on another server.
func readPage(ctx context.Context, store Store, c Cursor, limit int) (page, error) {
	if c.MerchantID == Marketplace {
		market, err := store.MarketEvents(ctx, c.Acknowledged, limit)
		again := errors.Is(err, order.ErrOtherHistory)
		if again {
			market, err = store.MarketEvents(ctx, order.MarketCursor{}, limit)
		}
		return page{market.Events, market.Cursor, len(market.Events) == limit, again, true}, err
	}
	feed, err := store.Events(ctx, c.MerchantID, c.Acknowledged.Seq, limit)
	p := page{events: feed.Events, end: c.Acknowledged}
	if newest := feed.Version.Event; err == nil && c.Acknowledged.Seq > newest {
		// Not reached while cursor and events are in one database.
		p.end, p.again = order.MarketCursor{Seq: newest}, true
	}
	if n := len(p.events); n > 0 {
		p.end = p.at(p.events[n-1])
		p.more = p.end.Seq < feed.Version.Event
	}
	return p, err
}
