package console_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	"merchantorders/internal/console"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/identity"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// unrecorded are the forms of which the audit log has no entry, and why.
var unrecorded = map[string]string{
	"POST /console/language":           "it is a cookie of the browser",
	"POST /console/orders":             "it keeps a link for a person",
	"POST /console/operator/customers": "it asks; customers/erase erases",
}

// forms are the routes of all forms. Each is known by its pattern.
var forms = sync.OnceValue(func() *formRoutes {
	f := &formRoutes{unseen: make(map[string]bool)}
	pages, _ := console.Console{Audience: console.Merchants | console.Operators, Digests: new(digest.Service), Identity: new(identity.Provider)}.Routes()
	for _, route := range pages.Routes {
		if route.Method() != http.MethodGet {
			pattern := route.Method() + " " + pages.Prefix + route.Path()
			f.mux.HandleFunc(pattern, http.NotFound)
			f.unseen[pattern] = true
		}
	}
	return f
})

type formRoutes struct {
	mux    http.ServeMux
	sent   sync.Map // patterns by the id of a request
	mu     sync.Mutex
	unseen map[string]bool // forms of which no audit log has an entry yet
}

// sees notes that a form was sent.
func (f *formRoutes) sees(r *http.Request, response http.Header) {
	_, pattern := f.mux.Handler(r)
	f.sent.Store(response.Get("X-Request-Id"), pattern)
}

// looksInto looks for the forms in the audit log of a service, when its test ends.
func (f *formRoutes) looksInto(s *service) {
	s.T.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		for entry, err := range s.Audit.Entries(context.Background(), order.AuditQuery{}) {
			testenv.NoError(s.T, err)
			if pattern, ok := f.sent.Load(entry.By.RequestID); ok {
				delete(f.unseen, pattern.(string))
			}
		}
	})
}

// TestMain runs the tests. If it runs all, each form was in the audit log of one of them,
// with who sent it and the id of its request.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	part := func(name string) string { return flag.Lookup("test." + name).Value.String() }
	if cmp.Or(part("run"), part("skip"), part("list")) == "" {
		got, want := slices.Sorted(maps.Keys(forms().unseen)), slices.Sorted(maps.Keys(unrecorded))
		if !slices.Equal(got, want) {
			fmt.Printf("forms without an entry in the audit log: %q, want %q\n", got, want)
			code = 1
		}
	}
	os.Exit(code)
}
