package pageindex

import "merchantorders/internal/order"

// anyState is the index of the sum of all states in counts by state. It is the
// zero State, which no order has.
const anyState order.State = 0

// stateCounts is a number of orders for each state, and at anyState their sum.
type stateCounts [order.NumStates]int32

// add adds n orders, or removes -n, of a state.
func (c *stateCounts) add(state order.State, n int32) {
	c[state] += n
	c[anyState] += n
}

// addAll adds the counts of other.
func (c *stateCounts) addAll(other *stateCounts) {
	for state, n := range other {
		c[state] += n
	}
}

// of returns how many orders are in any of the given states.
func (c *stateCounts) of(states []order.State) int64 {
	n := int64(0)
	for _, state := range states {
		n += int64(c[state])
	}
	return n
}
