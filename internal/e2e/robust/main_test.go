package robust

import (
	"os"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

// patience is how long a test waits for what must happen. Only a test that
// fails waits that long.
const patience = time.Minute

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// unable ends a test that this machine cannot run: as a failure where the tests
// count, so that none is skipped unseen.
func unable(t testing.TB, why string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(why, args...)
	}
	t.Skipf(why, args...)
}

// slow ends a test that takes long by its nature when short ones are asked for.
func slow(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes ten seconds or more")
	}
}

// together runs act(0), ..., act(count-1) at the same moment: each prepares
// what it needs and calls ready, which returns when all have.
func together(count int, act func(i int, ready func())) {
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
