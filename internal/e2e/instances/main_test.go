package instances

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

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
