package app

import (
	"runtime"
	"testing"

	"merchantorders/internal/config"
)

// TestRunMore starts servers one after the other in one process: threads are
// added once, and none where the operator has set how many, or where the
// database is a server.
func TestRunMore(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	given := func(name string) (string, bool) { return "1", name == "GOMAXPROCS" }
	none := func(string) (string, bool) { return "", false }
	for _, test := range []struct {
		what     string
		env      func(string) (string, bool)
		database string
		most     int
	}{
		{"GOMAXPROCS is set", given, "", before},
		{"the database is a server", none, "postgres://db/orders", before},
		{"the database is a file", none, "", before + 1},
		{"another one", none, "", before + 1},
	} {
		(&process{lookupEnv: test.env, settings: config.Config{Database: test.database}}).runMore()
		if now := runtime.GOMAXPROCS(0); now > test.most {
			t.Errorf("%s: %d threads, want %d at most", test.what, now, test.most)
		}
	}
}
