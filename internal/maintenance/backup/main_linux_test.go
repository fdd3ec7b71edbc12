package backup_test

import (
	"fmt"
	"os"
	"testing"

	"merchantorders/internal/maintenance/maintenancetest"
)

func TestMain(m *testing.M) {
	if mountPoint := os.Getenv(fullDiskVariable); mountPoint != "" {
		if err := backUpToFullDisk(os.Args[len(os.Args)-1], mountPoint); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	maintenancetest.Main(m)
}
