package orderapi

import (
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// MarketCursor returns the text of a cursor of the feed of all merchants.
func MarketCursor(c order.MarketCursor) string {
	return web.EncodeCursor("", c.History, c.Position, c.MerchantID, c.Seq, c.Nonce)
}

// ParseMarketCursor returns the cursor with a text, empty for the beginning of the feed. ok
// is false if it is not the text of a cursor.
func ParseMarketCursor(text string) (c order.MarketCursor, ok bool) {
	ok = text == "" || web.DecodeCursor(text, "", &c.History, &c.Position, &c.MerchantID, &c.Seq, &c.Nonce)
	return c, ok
}
