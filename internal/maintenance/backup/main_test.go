package backup_test

import (
	"testing"

	"merchantorders/internal/maintenance/maintenancetest"
)

func TestMain(m *testing.M) { maintenancetest.Main(m) }
