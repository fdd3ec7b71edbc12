package v1

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

func parseQuery(query string) (orderapi.List, error) {
	r := httptest.NewRequest("GET", "/api/orders", nil)
	r.URL.RawQuery = query
	return listParams.Parse(&web.Request{Request: r})
}

// FuzzListParams parses queries. The suite of internal/e2e has what each means.
func FuzzListParams(f *testing.F) {
	for _, query := range []string{
		"status=C&page=3&items_per_page=2&date_from=2026-11-01T00:00:00&date_to=2026-11-20", "status=E", "page=0", "page=9223372036854775808",
		"items_per_page=&itemsPerPage=25", "status=%FF", "status=O&status=O", "date_from=2026-05-02&date_to=2026-05-01", "page=%zz", "a=1;b=2",
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		params, err := parseQuery(query)
		if err != nil {
			var param *strict.ParamError
			if !errors.As(err, &param) {
				t.Errorf("error %v is no *strict.ParamError", err)
			}
			return
		}
		filter := params.Filter
		if filter.Page < 1 || filter.PageSize < 1 || filter.PageSize > order.MaxPageSize {
			t.Errorf("page %d, size %d", filter.Page, filter.PageSize)
		}
		if filter.Normalize() != nil {
			t.Error("the range is reversed")
		}
		if filter.AnyState != (params.State == nil) {
			t.Errorf("any state is %v, status %v", filter.AnyState, params.State)
		}
		if params.State != nil && !strings.Contains(query, *params.State) && !strings.Contains(query, "%") {
			t.Errorf("status %q is not in the query", *params.State)
		}
	})
}
