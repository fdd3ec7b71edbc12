package order

import (
	"slices"
	"strings"
)

// State is the state of an order (spec 3.1, decision 2). The zero value is not a
// state. The numbers are stored: append, never reorder.
type State uint8

// The states. There are no others.
const (
	Registered State = iota + 1
	InProcessing
	ReadyForShipment
	PickedByCourier
	DeliveredToPickupPoint
	DeliveryFailed
	RejectedByMerchant
	Canceled
	Completed
	DeliveredToCustomer
	ReturnCanceled
)

// stateRow defines one state.
type stateRow struct {
	name string // published name, the v2 form
	code byte   // published letter, the v1 form; three states share C

	// byMerchant and byOperator are the states to which each of them may move an
	// order from this state.
	byMerchant []State
	byOperator []State
	bySystem   []State // after the deadline
}

// states is the state table of decision 2.
var states = [...]stateRow{
	Registered: {
		name: "registered", code: 'O',
		byMerchant: []State{InProcessing, RejectedByMerchant},
		byOperator: []State{InProcessing, RejectedByMerchant, Canceled},
		bySystem:   []State{Canceled},
	},
	InProcessing: {
		name: "in-processing", code: 'G',
		byOperator: []State{ReadyForShipment, Canceled},
	},
	ReadyForShipment: {
		name: "ready-for-shipment", code: 'H',
		byOperator: []State{PickedByCourier, Canceled},
	},
	PickedByCourier: {
		name: "picked-by-courier", code: 'J',
		byOperator: []State{DeliveredToPickupPoint, DeliveredToCustomer, DeliveryFailed},
	},
	DeliveredToPickupPoint: {
		name: "delivered-to-pickup-point", code: 'S',
		byOperator: []State{DeliveredToCustomer, DeliveryFailed},
	},
	DeliveryFailed: {
		name: "delivery-failed", code: 'L',
		byOperator: []State{PickedByCourier, Canceled},
	},
	RejectedByMerchant: {name: "rejected-by-merchant", code: 'D'},
	Canceled:           {name: "canceled", code: 'I'},
	Completed:          {name: "completed", code: 'C'},
	DeliveredToCustomer: {
		name: "delivered-to-customer", code: 'C',
		byOperator: []State{Completed, ReturnCanceled},
	},
	ReturnCanceled: {
		name: "return-canceled", code: 'C',
		byOperator: []State{Completed},
	},
}

// NumStates is one more than the largest State, for arrays indexed by State.
const NumStates = len(states)

// States returns every state, in the order of the table.
func States() []State {
	all := make([]State, 0, NumStates-1)
	for s := Registered; int(s) < NumStates; s++ {
		all = append(all, s)
	}
	return all
}

// StateNames returns the published names of all states, separated by commas, for
// error messages.
func StateNames() string {
	var names []string
	for _, s := range States() {
		names = append(names, s.String())
	}
	return strings.Join(names, ", ")
}

// Valid reports whether s is one of the states.
func (s State) Valid() bool { return s >= Registered && int(s) < NumStates }

// String returns the published name, or "unknown" for any other value.
func (s State) String() string {
	if !s.Valid() {
		return "unknown"
	}
	return states[s].name
}

// Code returns the published one-letter code of v1.
func (s State) Code() string {
	if !s.Valid() {
		return ""
	}
	return string(states[s].code)
}

// ParseState returns the state with a published name. Names are case-sensitive.
func ParseState(name string) (State, bool) {
	for s := Registered; int(s) < NumStates; s++ {
		if states[s].name == name {
			return s, true
		}
	}
	return 0, false
}

// StatesOfCode returns the states with a one-letter code of v1. It returns none
// for a letter that is not in the table.
func StatesOfCode(code byte) []State {
	var found []State
	for s := Registered; int(s) < NumStates; s++ {
		if states[s].code == code {
			found = append(found, s)
		}
	}
	return found
}

// Actor is who makes a change. The numbers are stored: append, never reorder.
type Actor uint8

// The actors.
const (
	ActorMerchant Actor = iota + 1 // through v1 or v2
	ActorOperator                  // the marketplace: command line or operator interface
	ActorSystem                    // the service itself
)

// String returns the actor's published name.
func (a Actor) String() string {
	switch a {
	case ActorMerchant:
		return "merchant"
	case ActorOperator:
		return "operator"
	case ActorSystem:
		return "system"
	}
	return "unknown"
}

// Final reports whether an order never leaves the state.
func (s State) Final() bool {
	return s.Valid() && len(states[s].byMerchant)+len(states[s].byOperator)+len(states[s].bySystem) == 0
}

// CanTransition reports whether the actor may move an order from one state to
// another (spec 3.2, decision 2).
func (a Actor) CanTransition(from, to State) bool {
	return from.Valid() && slices.Contains(a.transitions(from), to)
}

// transitions returns the states to which the actor may move an order from a valid state.
func (a Actor) transitions(from State) []State {
	switch a {
	case ActorMerchant:
		return states[from].byMerchant
	case ActorOperator:
		return states[from].byOperator
	case ActorSystem:
		return states[from].bySystem
	}
	return nil
}

// path returns the fewest transitions of the actor that bring an order from one state to
// another, as the states after the first. ok is false if there are none.
func (a Actor) path(from, to State) (path []State, ok bool) {
	paths := map[State][]State{from: nil}
	for queue := []State{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range States() {
			if _, known := paths[next]; !known && a.CanTransition(queue[0], next) {
				paths[next] = append(slices.Clone(paths[queue[0]]), next)
				queue = append(queue, next)
			}
		}
	}
	path, ok = paths[to]
	return path, ok
}
