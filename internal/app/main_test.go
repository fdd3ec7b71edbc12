package app_test

import (
	"os"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(func() int { return apptest.Main(m) }, apptest.SetUp))
}
