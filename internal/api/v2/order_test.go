package v2

import (
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// TestViewVersion checks that ViewVersion changes if a body does.
// Proves decision 8 (ETag).
func TestViewVersion(t *testing.T) {
	t.Parallel()
	apitest.CheckViewVersion(t, ViewVersion, map[string]string{"2": "ee21949bcd95e592", "3": "19e8a193c3ae606b", "4": "34e41463647e50cb", "5": "19e8a193c3ae606b", "6": "b2ea13b20b1f8138"})
}

func TestOrderView(t *testing.T) {
	t.Parallel()
	apitest.CheckOrders(t, func(o order.Order) any { return newSingleView(o, apitest.StorageURL) })
}

func TestListView(t *testing.T) {
	t.Parallel()
	const query = "state=return-canceled&page=3&itemsPerPage=2&dateFrom=2026-11-01&dateTo=2026-11-20"
	apitest.CheckLists(t, query, func(r *web.Request, page order.Page, now time.Time) (any, error) {
		params, err := listParams.Parse(r)
		return newListView(params, page, now), err
	})
}
