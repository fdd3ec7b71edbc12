package e2e

import (
	"strconv"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// everyState takes in one order in each state.
func everyState(t *testing.T, s *service) map[state]placed {
	t.Helper()
	documents := make([]document, len(states))
	for i, st := range states {
		documents[i] = s.newDocument(document{"state": st.name})
	}
	orders := map[state]placed{}
	for i, o := range s.add(t, documents...) {
		orders[states[i]] = o
	}
	return orders
}

// TestAccept accepts an order in every state (spec 3.2, decision 2): legal from
// registered only, and everything else leaves the order as it was.
// Proves decision 2 (accept and reject; update time), spec 2.3, spec 2.5.
func TestAccept(t *testing.T) {
	fromEveryState(t, version.accept, state{"in-processing", "G"}, cannotAccept)
}

// TestReject is TestAccept for reject.
// Proves decision 2 (accept and reject), spec 2.3, spec 2.5.
func TestReject(t *testing.T) {
	fromEveryState(t, func(v version, o placed) request { return v.reject(o) }, state{"rejected-by-merchant", "D"}, cannotReject)
}

// fromEveryState sends a request for an order in every state: from registered it
// leads to another one, from every other state it is refused.
func fromEveryState(t *testing.T, action func(version, placed) request, to state, refused refusal) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := everyState(t, s)
			for _, st := range states {
				t.Run("from "+st.name, func(t *testing.T) {
					if st.name == "registered" {
						wantMoved(t, s, v, orders[st], action(v, orders[st]), to)
						return
					}
					wantUnmoved(t, s, v, orders[st], action(v, orders[st]), refused)
				})
			}
		})
	})
}

// wantMoved sees that a request moves an order to a state that both versions
// show, and notes the time.
func wantMoved(t *testing.T, s *service, v version, o placed, r request, to state) {
	t.Helper()
	before := v2.shown(t, s, o)
	if got := at(t, before, "updatedAt"); got != "null" {
		t.Fatalf("the order was changed before: %s", got)
	}
	began := time.Now().Truncate(time.Second)
	s.do(t, r).want(t, 200, v.done())
	ended := time.Now()
	for _, shownIn := range versions {
		testenv.Equal(t, "state in "+shownIn.name, to.in(shownIn), shownIn.stateOf(t, s, o))
	}
	changed := textAt(t, v2.shown(t, s, o), "updatedAt")
	moved, err := time.Parse(time.DateTime, changed)
	if err != nil || moved.Before(began) || moved.After(ended) {
		t.Errorf("updatedAt is %s, the move was between %s and %s", changed, began.UTC(), ended.UTC())
	}
	testenv.Equal(t, "last_order_change", strconv.FormatInt(moved.Unix(), 10), textAt(t, v1.shown(t, s, o), "last_order_change"))
}

// wantUnmoved sees that a request is refused and leaves an order as it was,
// down to the last field.
func wantUnmoved(t *testing.T, s *service, v version, o placed, r request, refused refusal) {
	t.Helper()
	first, second := v1.shown(t, s, o), v2.shown(t, s, o)
	s.do(t, r).wantRefusal(t, v, refused, o)
	wantJSON(t, "the order in v1", v1.shown(t, s, o), first)
	wantJSON(t, "the order in v2", v2.shown(t, s, o), second)
}

// TestReasons has the reasons of a reject (spec 4.1): each allowed one, none,
// and those that are not allowed.
// Proves decision 5 (reason).
func TestReasons(t *testing.T) {
	tests := []struct {
		name, member string
		refused      *refusal
	}{
		{"out-of-stock", `"reason":"out-of-stock"`, nil},
		{"damaged", `"reason":"damaged"`, nil},
		{"wrong-price", `"reason":"wrong-price"`, nil},
		{"disabled-product", `"reason":"disabled-product"`, nil},
		{"wrong-product", `"reason":"wrong-product"`, nil},
		{"null", `"reason":null`, nil},
		{"empty", `"reason":""`, nil},
		{"another key", `"cause":"nonsense"`, nil},

		{"unknown", `"reason":"changed-my-mind"`, &reasonNotValid},
		{"another letter case", `"reason":"Damaged"`, &reasonNotValid},
		{"NUL", `"reason":"damaged\u0000"`, &reasonNotValid},
		{"long", `"reason":"` + longText + `"`, &reasonNotValid},

		{"number", `"reason":1`, &invalidBody},
		{"array", `"reason":["damaged"]`, &invalidBody},
		{"given twice", `"reason":"damaged","reason":"damaged"`, &invalidBody},
	}
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, len(tests))
			for i, test := range tests {
				t.Run(test.name, func(t *testing.T) {
					o := orders[i]
					if test.refused != nil {
						wantUnmoved(t, s, v, o, v.reject(o, test.member), *test.refused)
						return
					}
					wantMoved(t, s, v, o, v.reject(o, test.member), state{"rejected-by-merchant", "D"})
				})
			}
		})
	})
}

// TestBothVersions plays one order through, each step in the other version than
// the one before (spec 9).
// Proves decision 5 (v1 successor, choice of the version), spec 9.
func TestBothVersions(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		a := s.uploaded(t, v1, o, "a.pdf", "a")
		b := s.uploaded(t, v2, o, "b.pdf", "b")
		s.do(t, remove(v2.invoice(o, a.id))).ok(t)
		s.do(t, remove(v1.invoice(o, b.id))).ok(t)
		s.do(t, v2.accept(o)).want(t, 200, v2.done())
		s.do(t, v1.reject(o)).wantRefusal(t, v1, cannotReject, o)
		s.do(t, v1.accept(o)).wantRefusal(t, v1, cannotAccept, o)
		if one, two := textAt(t, v1.shown(t, s, o), "status"), textAt(t, v2.shown(t, s, o), "state"); one != "G" || two != "in-processing" {
			t.Errorf("v1 shows %s, v2 %s", one, two)
		}
	})
}
