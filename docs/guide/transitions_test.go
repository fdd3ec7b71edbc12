package guide_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/docs/docstest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestTransitionTable compares the table of transitions in the guide with the
// transitions that the domain allows.
func TestTransitionTable(t *testing.T) {
	t.Parallel()
	transitions := func(actor order.Actor, from order.State) string {
		var names []string
		for _, to := range order.States() {
			if actor.CanTransition(from, to) {
				names = append(names, to.String())
			}
		}
		return strings.Join(names, " ")
	}
	var want, got [][]string
	for _, state := range order.States() {
		want = append(want, []string{state.String(), state.Code(), transitions(order.ActorMerchant, state), transitions(order.ActorOperator, state)})
	}
	for _, row := range docstest.Rows(t, "guide/accepting.md", "States and transitions") {
		var cells []string
		for _, cell := range row {
			cells = append(cells, strings.Join(docstest.Code(cell), " "))
		}
		got = append(got, cells)
	}
	testenv.Equal(t, "transitions", want, got, cmp.Transformer("sorted", func(text string) map[string]int {
		words := map[string]int{}
		for _, word := range strings.Fields(text) {
			words[word]++
		}
		return words
	}))
}
