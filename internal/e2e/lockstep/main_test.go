package lockstep

import (
	"os"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(s3test.Main(func() int { return pgtest.Run(m.Run, apptest.SetUp) }))
}
