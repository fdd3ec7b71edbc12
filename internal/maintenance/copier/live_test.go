package copier_test

import (
	"fmt"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/maintenancetest"
)

// TestCopyWhileTheSourceLives copies an installation in use several times. Each
// copy fits together by itself and has all that was acknowledged before; the last
// one, after the end, is the same as the source.
func TestCopyWhileTheSourceLives(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][2]maintenancetest.Kind{
		{{}, {Postgres: true, S3: true}},
		{{Postgres: true, S3: true}, {}},
	} {
		t.Run(kinds[0].String(), func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, kinds[0]), maintenancetest.New(t, kinds[1])
			source.Fill(t, 250)
			activity := maintenancetest.StartActivity(t, source, 1000)
			for range 3 {
				activity.AddOrders(t)
				orders, files := activity.Acknowledged()
				mustCopy(t, source.Installation, target.Installation)
				target.WantAcknowledged(t, orders, files)
				target.WantNoFindings(t)
				source.WantNoFindings(t)
			}
			activity.Stop(t)
			mustCopy(t, source.Installation, target.Installation)
			target.WantDump(t, source.Dump(t))
			target.WantNoFindings(t)
		})
	}
}

// TestCopyFilesWhileTheSourceLives copies the files alone.
func TestCopyFilesWhileTheSourceLives(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{S3: true})
	source.Fill(t, 10)
	activity := maintenancetest.StartActivity(t, source, 1000)
	for range 3 {
		activity.AddOrders(t)
		_, files := activity.Acknowledged()
		mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
		target.WantAcknowledged(t, nil, files)
	}
	activity.Stop(t)
	mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
	want := source.Dump(t)["files"]
	got := target.Dump(t)["files"]
	if fmt.Sprint(want) != fmt.Sprint(got) {
		t.Errorf("files in the target are %d, want %d", len(got), len(want))
	}
}
