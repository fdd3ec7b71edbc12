package testenv

import (
	"sync"
	"testing"
	"time"
)

// WaitTimeout is how long tests wait for what should happen soon. It is long because
// machines can be slow and busy. Only a test that fails waits that long.
const WaitTimeout = 3 * time.Minute

// Eventually waits until a condition, which what names, is true. It ends the test if
// that takes longer than WaitTimeout.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(WaitTimeout); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not true after %v: %s", WaitTimeout, what)
		}
	}
}

// Together runs act(0), ..., act(count-1) at the same time: each prepares what it needs
// and calls ready, which returns when all have.
func Together(count int, act func(i int, ready func())) {
	var all, done sync.WaitGroup
	all.Add(count)
	for i := range count {
		done.Go(func() {
			once := sync.OnceFunc(all.Done)
			defer once()
			act(i, func() { once(); all.Wait() })
		})
	}
	done.Wait()
}
