package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/testenv"
)

// TestDiskFull backs up to file systems with too little space for the snapshot of the
// database, and for its copy.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if !testenv.MayMount(t) {
		return
	}
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 250)
	info := testenv.Of(os.Stat(filepath.Join(in.Folder, "orders.db"))).Must(t)
	for _, size := range []int64{info.Size() / 2, info.Size() * 3 / 2} {
		dir := t.TempDir()
		testenv.SmallDisk(t, dir, fmt.Sprint("size=", size))
		path := filepath.Join(dir, "b.tar")
		_, err := backup.Create(t.Context(), in.Installation, at(path), maintenancetest.Now, "", new(maintenance.Reporter))
		if err == nil || !strings.Contains(err.Error(), "no space left on the disk of "+path+"; nothing was left behind") {
			t.Errorf("on a disk of %d bytes: error %v", size, err)
		}
		testenv.Equal(t, "left behind", 0, len(testenv.Of(os.ReadDir(dir)).Must(t)))
	}
}
