package instances

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		// Most of these tests wait for something to fail, and need no processor.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	os.Exit(s3test.Main(func() int {
		return pgtest.Run(func() int { return apptest.Main(m) }, apptest.SetUp)
	}))
}

// waitTimeout is how long a test waits for something to happen. Only a test that
// fails waits that long.
const waitTimeout = 3 * time.Minute

// eventually waits until a condition is true.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(waitTimeout); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not true after %v: %s", waitTimeout, what)
		}
	}
}

// together runs act(0), ..., act(count-1) at the same time: each prepares
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
