package instances

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
)

// roundsVariable raises the number of rounds of tests that kill at random.
const roundsVariable = "MERCHANT_ORDERS_TEST_ROUNDS"

// rounds returns how many rounds to go.
func rounds(t testing.TB, usual int) int {
	t.Helper()
	text := os.Getenv(roundsVariable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s must be a number from 1", roundsVariable)
	}
	return n
}

// fleet is the instances of an installation, of which any may be killed at any
// moment. Another one takes its place.
type fleet struct {
	installation

	mu      sync.Mutex
	running []*apptest.Process
}

func newFleet(t testing.TB, i installation, instances int) *fleet {
	f := &fleet{installation: i}
	for range instances {
		f.running = append(f.running, i.process(t))
	}
	return f
}

// any returns the address of one of the instances.
func (f *fleet) any(dice *rand.Rand) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running[dice.IntN(len(f.running))].BaseURL
}

// killOne kills an instance and starts another.
func (f *fleet) killOne(t testing.TB, dice *rand.Rand) {
	t.Helper()
	f.mu.Lock()
	at := dice.IntN(len(f.running))
	gone := f.running[at]
	f.mu.Unlock()
	gone.Kill(t)
	fresh := f.process(t)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[at] = fresh
}
