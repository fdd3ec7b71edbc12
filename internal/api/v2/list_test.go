package v2

import (
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/api/orderapi"
)

func FuzzListParams(f *testing.F) {
	apitest.FuzzList(f, listParams.Parse, func(t *testing.T, _ string, list orderapi.List) {
		if states := list.Filter.States; list.State != nil && (len(states) != 1 || states[0].String() != *list.State) {
			t.Errorf("states %v, state %q", states, *list.State)
		}
	}, "state=completed&page=3&itemsPerPage=2&dateFrom=2026-11-01&dateTo=2026-11-20", "state=O", "page=0", "page=9223372036854775808",
		"itemsPerPage=25&items_per_page=x", "state=%FF", "state=registered&state=canceled", "dateFrom=2026-05-02&dateTo=2026-05-01", "page=%zz")
}
