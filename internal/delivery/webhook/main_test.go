package webhook_test

import (
	"os"
	"testing"

	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/store/pgtest"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(childVariable); database != "" {
		os.Exit(childMain(database))
	}
	pgtest.Main(m, maintenancetest.SetUp)
}
