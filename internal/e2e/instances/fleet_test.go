package instances

import (
	"math/rand/v2"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
)

// fleet is the instances of an installation, of which any may be killed at any
// moment. Another one replaces it.
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
