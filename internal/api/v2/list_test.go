package v2

import (
	"errors"
	"net/http/httptest"
	"testing"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

func parseQuery(query string) (orderapi.List, error) {
	r := httptest.NewRequest("GET", "/v2/orders", nil)
	r.URL.RawQuery = query
	return listParams.Parse(&web.Request{Request: r})
}

// FuzzListParams parses queries. The suite of internal/e2e has what each means.
func FuzzListParams(f *testing.F) {
	for _, query := range []string{
		"state=completed&page=3&itemsPerPage=2&dateFrom=2026-11-01&dateTo=2026-11-20", "state=O", "page=0", "page=9223372036854775808",
		"itemsPerPage=25&items_per_page=x", "state=%FF", "state=registered&state=canceled", "dateFrom=2026-05-02&dateTo=2026-05-01", "page=%zz",
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
			t.Errorf("any state is %v, state %v", filter.AnyState, params.State)
		}
		if params.State != nil && (len(filter.States) != 1 || filter.States[0].String() != *params.State) {
			t.Errorf("states %v, state %q", filter.States, *params.State)
		}
	})
}
