package apitest

import (
	"errors"
	"net/http/httptest"
	"testing"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// FuzzList parses queries of lists, first the given ones. check looks at what a query
// asks for. The suite of internal/e2e has what each means.
func FuzzList(f *testing.F, parse func(*web.Request) (orderapi.List, error), check func(t *testing.T, query string, list orderapi.List), queries ...string) {
	for _, query := range queries {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/orders", nil)
		r.URL.RawQuery = query
		list, err := parse(&web.Request{Request: r})
		if err != nil {
			if _, ok := errors.AsType[*strict.ParamError](err); !ok {
				t.Errorf("error %v is no *strict.ParamError", err)
			}
			return
		}
		filter := list.Filter
		if filter.Page < 1 || filter.PageSize < 1 || filter.PageSize > order.MaxPageSize || filter.Normalize() != nil {
			t.Errorf("page %d, size %d, or the range is reversed", filter.Page, filter.PageSize)
		}
		testenv.Equal(t, "any state", list.State == nil, filter.AnyState)
		check(t, query, list)
	})
}
