package order_test

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// publishedStates is the state table of decision 2.
var publishedStates = []struct {
	state order.State
	name  string
	code  string
}{
	{order.Registered, "registered", "O"},
	{order.InProcessing, "in-processing", "G"},
	{order.ReadyForShipment, "ready-for-shipment", "H"},
	{order.PickedByCourier, "picked-by-courier", "J"},
	{order.DeliveredToPickupPoint, "delivered-to-pickup-point", "S"},
	{order.DeliveryFailed, "delivery-failed", "L"},
	{order.RejectedByMerchant, "rejected-by-merchant", "D"},
	{order.Canceled, "canceled", "I"},
	{order.Completed, "completed", "C"},
	{order.DeliveredToCustomer, "delivered-to-customer", "C"},
	{order.ReturnCanceled, "return-canceled", "C"},
}

// The transitions of decision 2, one source state a line.
const (
	merchantTransitions = `registered: in-processing, rejected-by-merchant`

	operatorTransitions = `
registered: in-processing, rejected-by-merchant, canceled
in-processing: ready-for-shipment, canceled
ready-for-shipment: picked-by-courier, canceled
picked-by-courier: delivered-to-pickup-point, delivered-to-customer, delivery-failed
delivered-to-pickup-point: delivered-to-customer, delivery-failed
delivery-failed: picked-by-courier, canceled
delivered-to-customer: completed, return-canceled
return-canceled: completed`
)

// allowedTransitions returns the pairs "from to" of a text in the form above.
func allowedTransitions(text string) map[string]bool {
	pairs := make(map[string]bool)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		from, targets, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for to := range strings.SplitSeq(targets, ", ") {
			pairs[from+" "+to] = true
		}
	}
	return pairs
}

// Proves decision 2 (imports, bulk changes and answers).
func TestStateTable(t *testing.T) {
	t.Parallel()
	if got := len(order.States()); got != len(publishedStates) {
		t.Fatalf("%d states, want %d", got, len(publishedStates))
	}
	for _, row := range publishedStates {
		testenv.Equal(t, fmt.Sprintf("state %d is called", row.state), row.name, row.state.String())
		testenv.Equal(t, row.name+" has code", row.code, row.state.Code())
		if got, ok := order.ParseState(row.name); !ok || got != row.state {
			t.Errorf("ParseState(%q) = %v, %v", row.name, got, ok)
		}
		if !row.state.Valid() {
			t.Errorf("%s is not valid", row.name)
		}
	}
}

func TestInvalidState(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "unknown", "Registered", "registered ", "cancelled", "accepted", "O"} {
		if got, ok := order.ParseState(name); ok || got.Valid() {
			t.Errorf("ParseState(%q) = %v, %v", name, got, ok)
		}
	}
	for _, s := range []order.State{0, order.State(order.NumStates), 255} {
		if s.Valid() || s.Code() != "" || s.String() != "unknown" {
			t.Errorf("state %d: valid %v, code %q, name %q", s, s.Valid(), s.Code(), s)
		}
	}
}

// Proves decision 2 (--cancel-expired; all 121 pairs of states, by the marketplace), spec 3.2.
func TestCanTransition(t *testing.T) {
	t.Parallel()
	everything := append([]order.State{0, 255}, order.States()...)
	for actor, legal := range map[order.Actor]map[string]bool{
		order.ActorMerchant: allowedTransitions(merchantTransitions),
		order.ActorOperator: allowedTransitions(operatorTransitions),
		order.ActorSystem:   {"registered canceled": true},
		0:                   nil,
	} {
		for _, from := range everything {
			for _, to := range everything {
				testenv.Equal(t, fmt.Sprintf("%s may move %s to %s", actor, from, to), legal[from.String()+" "+to.String()], actor.CanTransition(from, to))
			}
		}
	}
}
