package v1

import (
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestViewVersion checks that ViewVersion changes if a body does.
// Proves decision 8 (ETag).
func TestViewVersion(t *testing.T) {
	t.Parallel()
	apitest.CheckViewVersion(t, ViewVersion, map[string]string{"2": "cb2aeddf00aff95b", "3": "d1e0f0e67742ab82"})
}

func TestOrderView(t *testing.T) {
	t.Parallel()
	apitest.CheckOrders(t, func(o order.Order) any { return newOrderView(o, apitest.StorageURL) })
}

func TestListView(t *testing.T) {
	t.Parallel()
	const query = "status=C&page=3&items_per_page=2&date_from=2026-11-01&date_to=2026-11-20"
	apitest.CheckLists(t, query, func(r *web.Request, page order.Page, now time.Time) (any, error) {
		params, err := listParams.Parse(r)
		return newListView(params, page, apitest.MerchantID, now), err
	})
}

func TestYesNo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value any
		want  string
	}{
		{true, "Y"}, {"Y", "Y"}, {"yes", "Y"}, {"1", "Y"}, {"true", "Y"}, {"y", "Y"}, {"TRUE", "Y"}, {"Yes", "Y"},
		{false, "N"}, {nil, "N"}, {"", "N"}, {"N", "N"}, {"no", "N"}, {"0", "N"}, {"oui", "N"},
	} {
		testenv.Equal(t, fmt.Sprintf("yesNo(%#v)", test.value), test.want, yesNo(test.value))
	}
}

func TestStreetOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		street, number, want string
	}{
		{"Ερμού", "12", "Ερμού 12"},
		{"Ερμού 12", "", "Ερμού 12"},
		{"", "12", "12"},
		{"", "", ""},
	} {
		got := streetOf(order.Address{Street: test.street, StreetNumber: test.number})
		testenv.Equal(t, fmt.Sprintf("streetOf(%q, %q)", test.street, test.number), test.want, got)
	}
}
