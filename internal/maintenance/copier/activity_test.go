package copier_test

import (
	"fmt"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/testenv"
)

// TestCopySourceInUse copies an installation in use several times. Each copy is
// consistent and contains everything that was acknowledged before. The last one,
// after the activity, equals the source.
func TestCopySourceInUse(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][2]maintenancetest.Kind{
		{{}, {Postgres: true, S3: true}},
		{{Postgres: true, S3: true}, {}},
	} {
		t.Run(kinds[0].String(), func(t *testing.T) {
			t.Parallel()
			source, target := maintenancetest.New(t, kinds[0]), maintenancetest.New(t, kinds[1])
			source.Fill(t, 250)
			activity := maintenancetest.StartActivity(t, source, testenv.Count(300, 1000))
			for range testenv.Count(1, 3) {
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

// TestCopyFilesOfSourceInUse copies only the files of an installation in use.
func TestCopyFilesOfSourceInUse(t *testing.T) {
	t.Parallel()
	source, target := maintenancetest.New(t, maintenancetest.Kind{}), maintenancetest.New(t, maintenancetest.Kind{S3: true})
	source.Fill(t, 10)
	activity := maintenancetest.StartActivity(t, source, testenv.Count(300, 1000))
	for range testenv.Count(2, 3) {
		activity.AddOrders(t)
		_, files := activity.Acknowledged()
		mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
		target.WantAcknowledged(t, nil, files)
	}
	activity.Stop(t)
	mustCopy(t, source.Installation, maintenance.Installation{Files: target.Files})
	want := source.Dump(t)["files"]
	got := target.Dump(t)["files"]
	testenv.Equal(t, "files of the target", fmt.Sprint(got), fmt.Sprint(want))
}
