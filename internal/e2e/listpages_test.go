package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

// listed is an order as the model of a list knows it.
type listed struct {
	placed
	state   state
	created time.Time
}

// shelf is what a list is compared with: the orders of a merchant, newest
// first, then the highest number first (decision 3).
type shelf []listed

// newShelf takes in orders in all states, several in the same second and at
// the borders of days.
func newShelf(t *testing.T, s *service, count int) shelf {
	t.Helper()
	start := time.Date(2026, 2, 26, 0, 0, 0, 0, time.UTC)
	seconds := []int{0, 1, 86399, 43200, 43200, 43200, 86398}
	all := make(shelf, count)
	documents := make([]document, count)
	for i := range all {
		// Days and states follow no common beat, and orders do not come in in
		// the order of their times.
		created := start.AddDate(0, 0, i*5%7).Add(time.Duration(seconds[i%len(seconds)]) * time.Second)
		all[i] = listed{state: states[i*3%len(states)], created: created}
		documents[i] = s.newDocument(document{"state": all[i].state.name, "createdAt": created.Format(time.RFC3339)})
	}
	for i, o := range s.add(t, documents...) {
		all[i].placed = o
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.number, a.number))
	})
	return all
}

// only returns the references of the orders in a state, as a version filters
// it ("" is every state), from one day to another, both as YYYY-MM-DD or "".
func (sh shelf) only(v version, filter, from, to string) []string {
	found := []string{}
	for _, o := range sh {
		day := o.created.Format(time.DateOnly)
		if (filter == "" || o.state.in(v) == filter) && (from == "" || day >= from) && (to == "" || day <= to) {
			found = append(found, o.reference)
		}
	}
	return found
}

// walk reads a list page by page to its end, two pages beyond, and returns all
// references. The total has to be want on every page.
func (v version) walk(t *testing.T, s *service, query string, size, want int) []string {
	t.Helper()
	found := []string{}
	pages := (want+size-1)/size + 2
	for page := 1; page <= pages; page++ {
		body := s.do(t, get(fmt.Sprintf("%s/orders?page=%d&%s=%d&%s", v.prefix, page, v.size, size, v.inWords(query)))).ok(t)
		testenv.Equal(t, fmt.Sprintf("total on page %d", page), int64(want), numberAt(t, body, "params."+v.total))
		testenv.Equal(t, fmt.Sprintf("number of page %d", page), int64(page), numberAt(t, body, "params.page"))
		here := v.references(t, body)
		testenv.Equal(t, fmt.Sprintf("orders on page %d", page), min(size, max(0, want-(page-1)*size)), len(here))
		found = append(found, here...)
	}
	return found
}

// TestListPages walks lists with every kind of filter, in pages of several
// sizes, and compares them with the model: the right orders in the right order,
// none twice, none missing, none of another merchant, the total always exact.
// Proves decision 2 (set of states, code C), decision 3 (order of results; dates, time
// zone, params; page, page size; totals), spec 1, spec 2.2, spec 2.4.
func TestListPages(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		s.another(t).addMany(t, 3)
		all := newShelf(t, s, 77)
		ranges := [][2]string{
			{"", ""}, {"2026-02-28", "2026-03-01"}, {"2026-02-26", "2026-02-26"}, {"2026-03-02", ""}, {"", "2026-02-27"},
			{"2026-02-01", "2026-12-31"}, {"2027-01-01", "2027-01-01"},
		}
		inEachVersion(t, func(t *testing.T, v version) {
			filters := []string{""}
			for _, st := range states {
				if !slices.Contains(filters, st.in(v)) {
					filters = append(filters, st.in(v))
				}
			}
			for i, filter := range filters {
				for j, days := range ranges {
					size := []int{3, 10, 100, 7}[(i+j)%4]
					name := fmt.Sprintf("%s from %s to %s by %d", filter, days[0], days[1], size)
					t.Run(name, func(t *testing.T) {
						want := all.only(v, filter, days[0], days[1])
						query := "STATUS=" + filter + "&FROM=" + days[0] + "&TO=" + days[1]
						if diff := gocmp.Diff(want, v.walk(t, s, query, size, len(want))); diff != "" {
							t.Errorf("(-want +got):\n%s", diff)
						}
					})
				}
			}
		})
	})
}

// TestListSize has the page sizes of spec 8 and decision 3.
// Proves decision 3 (page, page size; numbers, dates, repeated parameters), spec 2.2, spec
// 2.4, spec 8.
func TestListSize(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		s.addMany(t, 123)
		tests := []struct {
			query, size string
			page        string
			orders      int
		}{
			{"", "10", "1", 10},
			{"page=1", "10", "1", 10},
			{"page=13", "10", "13", 3},
			{"SIZE=1", "1", "1", 1},
			{"SIZE=100", "100", "1", 100},
			{"SIZE=101", "100", "1", 100},
			{"SIZE=101&page=2", "100", "2", 23},
			{"SIZE=9223372036854775807", "100", "1", 100},
			{"SIZE=100&page=3", "100", "3", 0},
			{"page=1000000", "10", "1000000", 0},
			{"page=92233720368547760&SIZE=100", "100", "92233720368547760", 0},
			{"page=184467440737095518&SIZE=100", "100", "184467440737095518", 0}, // wraps to the 85th order
			{"page=9223372036854775807&SIZE=100", "100", "9223372036854775807", 0},
			{"page=9223372036854775807&SIZE=1", "1", "9223372036854775807", 0},
		}
		inEachVersion(t, func(t *testing.T, v version) {
			for _, test := range tests {
				t.Run(test.query, func(t *testing.T) {
					a := v.wantParams(t, s, test.query, test.page, test.size, "123", "null", "1970-01-01", "<today>")
					testenv.Equal(t, "orders", test.orders, len(v.references(t, a.body)))
				})
			}
		})
	})
}
