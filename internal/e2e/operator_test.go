package e2e

import (
	"slices"
	"testing"
)

// operatorMoves are the moves of decision 2.
var operatorMoves = map[string][]string{
	"registered":                {"in-processing", "rejected-by-merchant", "canceled"},
	"in-processing":             {"ready-for-shipment", "canceled"},
	"ready-for-shipment":        {"picked-by-courier", "canceled"},
	"picked-by-courier":         {"delivered-to-pickup-point", "delivered-to-customer", "delivery-failed"},
	"delivered-to-pickup-point": {"delivered-to-customer", "delivery-failed"},
	"delivery-failed":           {"picked-by-courier", "canceled"},
	"delivered-to-customer":     {"completed", "return-canceled"},
	"return-canceled":           {"completed"},
}

// TestOperatorMoves asks for every move there is, from every state to every
// state: those of decision 2 happen, both versions show them, and all others
// leave the order as it was.
// Proves decision 2 (all 121 pairs of states, by the marketplace), spec 2.3, spec 2.5,
// spec 3.2.
func TestOperatorMoves(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		var documents []document
		for _, from := range states {
			for range states {
				documents = append(documents, s.newDocument(document{"state": from.name}))
			}
		}
		orders := s.add(t, documents...)
		for i, from := range states {
			for j, to := range states {
				o := orders[i*len(states)+j]
				t.Run(from.name+" to "+to.name, func(t *testing.T) {
					path := "/operator/merchants/" + s.id() + "/orders/" + o.reference + "/state"
					a := s.do(t, post(path, `{"state":"`+to.name+`"}`).by(s.operator))
					legal, now := slices.Contains(operatorMoves[from.name], to.name), from
					if legal {
						now = to
					}
					if a.status != 200 && a.status != 409 || (a.status == 200) != legal {
						t.Errorf("status %d: %s", a.status, a.body)
					}
					for _, v := range versions {
						if got := v.stateOf(t, s, o); got != now.in(v) {
							t.Errorf("%s shows %s, want %s", v.name, got, now.in(v))
						}
					}
					if changed := at(t, v2.shown(t, s, o), "updatedAt") != "null"; changed != legal {
						t.Errorf("an update time is shown: %t, want %t", changed, legal)
					}
				})
			}
		}
	})
}
