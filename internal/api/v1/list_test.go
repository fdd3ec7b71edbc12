package v1

import (
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/api/orderapi"
)

func FuzzListParams(f *testing.F) {
	apitest.FuzzList(f, listParams.Parse, func(t *testing.T, query string, list orderapi.List) {
		if list.State != nil && !strings.Contains(query, *list.State) && !strings.Contains(query, "%") {
			t.Errorf("status %q is not in the query", *list.State)
		}
	}, "status=C&page=3&items_per_page=2&date_from=2026-11-01T00:00:00&date_to=2026-11-20", "status=E", "page=0", "page=9223372036854775808",
		"items_per_page=&itemsPerPage=25", "status=%FF", "status=O&status=O", "date_from=2026-05-02&date_to=2026-05-01", "page=%zz", "a=1;b=2")
}
