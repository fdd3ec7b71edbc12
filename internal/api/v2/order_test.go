package v2

import (
	"bytes"
	"net/http/httptest"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestViewVersion checks that ViewVersion changes if a body does.
// Proves decision 8 (ETag).
func TestViewVersion(t *testing.T) {
	t.Parallel()
	apitest.CheckViewVersion(t, ViewVersion, map[string]string{"2": "ee21949bcd95e592", "3": "19e8a193c3ae606b", "4": "34e41463647e50cb", "5": "19e8a193c3ae606b"})
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

func TestArticle39Values(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value any
		want  string
	}{
		{nil, "null"}, {true, "true"}, {false, "false"}, {"", `""`}, {"Y", `"Y"`}, {"<ναι>", `"<ναι>"`},
	} {
		o := ordertest.Rich()
		o.InvoiceDetails.Article39Eligible, o.InvoiceDetails.Article39Valid = test.value, test.value
		recorder := httptest.NewRecorder()
		testenv.NoError(t, web.WriteJSON(recorder, 200, newSingleView(o, apitest.StorageURL)))
		for _, name := range []string{"article39Eligible", "article39Valid"} {
			if want := `"` + name + `":` + test.want; !bytes.Contains(recorder.Body.Bytes(), []byte(want)) {
				t.Errorf("%#v: no %s in the body", test.value, want)
			}
		}
	}
}
