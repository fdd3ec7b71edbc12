package app

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/console"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// TestEveryRouteIsDescribed compares the routes of a server with the operations
// of the OpenAPI documents, and the query parameters that they take.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	db := testenv.Of(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), store.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	s := NewService(Deps{Store: db, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	served := map[openapitest.Operation][]string{}
	main, admin := s.groups("http://localhost")
	for _, group := range slices.Concat(main(console.Merchants), admin) {
		if group.Prefix == "/debug/pprof" || group.Prefix == console.Prefix {
			continue // for the tools of Go only, or pages for people
		}
		for _, route := range group.Routes {
			if route.Path() == "/{$}" {
				continue // the sign-in of the console
			}
			word, isWord := strings.CutPrefix(route.Path(), "/orders/")
			if isWord && !strings.ContainsAny(word, "/{") && order.ValidReference(word) {
				t.Errorf("%s hides the order with the reference %s: add it to order.ReservedReferences", route.Path(), word)
			}
			served[openapitest.Operation{Method: route.Method(), Path: group.Prefix + route.Path()}] = slices.Sorted(slices.Values(route.Params()))
		}
	}
	testenv.Equal(t, "operations", openapitest.Published().QueryParameters(), served)
}
