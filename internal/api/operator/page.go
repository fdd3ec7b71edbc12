package operator

import (
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// parsePage parses the query of a list that is paged by id, which also has filters: the id
// of the last row of the page before, 0 for none, and the limit, 0 for all rows.
func parsePage(r *web.Request, filters ...string) (query *web.Query, after int64, limit int) {
	query = web.ParseQuery(r, append(filters, "after", "limit")...)
	return query, query.Int("after", 0, 0, strict.MaxInt), query.Limit(0, order.MaxMerchantsPage)
}
