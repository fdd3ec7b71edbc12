package backup_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/testenv"
)

// entriesOf returns the names of the files in a tar file, and where the content of
// each ends.
func entriesOf(t *testing.T, content []byte) (names []string, ends []int) {
	t.Helper()
	reader := bytes.NewReader(content)
	archive := tar.NewReader(reader)
	for {
		header, err := archive.Next()
		if err != nil {
			return names, ends
		}
		names = append(names, header.Name)
		ends = append(ends, len(content)-reader.Len()+int(header.Size))
	}
}

// TestRestorePartial cuts a backup off at several places.
func TestRestorePartial(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	want := in.Dump(t)
	content := testenv.Of(os.ReadFile(backUp(t, in, "b.tar"))).Must(t)
	names, ends := entriesOf(t, content)
	if len(names) != 8 || names[0] != "orders.db" || names[7] != "backup.json" {
		t.Fatalf("the backup contains %q", names)
	}
	for name, test := range map[string]struct {
		size     int
		files    int64 // that can be read
		findings int64
	}{
		"in the database":    {ends[0] - 1, -1, 0},
		"after the database": {ends[0], 0, 6},
		"in a file":          {ends[2] - 1, 1, 5},
		"after a file":       {ends[2], 2, 5},
		"in the manifest":    {ends[7] - 1, 6, 1},
		"nowhere":            {len(content), 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "b.tar")
			testenv.NoError(t, os.WriteFile(path, content[:test.size], 0o600))
			to := dataFolderIn(filepath.Join(t.TempDir(), "to"))
			var findings []string
			result, err := backup.Restore(t.Context(), at(path), to, backup.RestoreOptions{Partial: true}, &maintenance.Reporter{
				OnFinding: func(f maintenance.Finding) { findings = append(findings, f.String()) },
			})
			if test.files < 0 {
				if !errors.Is(err, backup.ErrDamaged) || !strings.Contains(err.Error(), "before its database is complete") {
					t.Errorf("error %v", err)
				}
				if left, err := os.ReadDir(to.Path); len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
				return
			}
			// A missing file that was deleted is no finding.
			cut := slices.ContainsFunc(findings, func(f string) bool { return strings.Contains(f, "invoice files could be read; ") })
			if err != nil || result.Files != test.files || result.Findings > test.findings || (result.Findings > 0) != cut || cut != (test.findings > 0) {
				t.Errorf("%+v, findings %q, error %v", result, findings, err)
			}
			got := maintenancetest.Open(t, to.Path).Dump(t)
			testenv.Equal(t, "files", test.files, int64(len(got["files"])))
			for table := range want {
				if table != "files" && !slices.Equal(got[table], want[table]) {
					t.Errorf("%s differs", table)
				}
			}
		})
	}
}

// TestCheckBackup checks backups where they are.
func TestCheckBackup(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	for _, form := range forms {
		path := backUp(t, in, form)
		result, err := backup.Check(t.Context(), at(path), new(maintenance.Reporter))
		if err != nil || result.Findings != 0 || result.Files != 6 || result.Orders == 0 {
			t.Errorf("%s: %+v, error %v", form, result, err)
		}
		testenv.Equal(t, "beside the backup", []string{form}, names(t, filepath.Dir(path)))
	}
	in.Replace(t, maintenancetest.InvoicePath(maintenancetest.Beta, 0, "a.pdf"), []byte("other"))
	path := filepath.Join(t.TempDir(), "b.tar")
	testenv.Of(backup.Create(t.Context(), in.Installation, at(path), maintenancetest.Now, "", new(maintenance.Reporter))).Must(t)
	var finding string
	_, err := backup.Check(t.Context(), at(path), &maintenance.Reporter{OnFinding: func(f maintenance.Finding) { finding = f.String() }})
	if err != nil || !strings.Contains(finding, ": invoices/M356-0/a.pdf ") || !strings.HasSuffix(finding, "; "+maintenance.CureFile) {
		t.Errorf("finding %q, error %v", finding, err)
	}
	content := testenv.Of(os.ReadFile(path)).Must(t)
	_, ends := entriesOf(t, content)
	testenv.NoError(t, os.Truncate(path, int64(ends[5]-1)))
	result, err := backup.Check(t.Context(), at(path), new(maintenance.Reporter))
	if err != nil || result.Files < 3 || result.Files > 4 || result.Findings < 2 {
		t.Errorf("a backup that was cut off: %+v, error %v", result, err)
	}
	testenv.NoError(t, os.Truncate(path, 2000))
	testenv.Of(backup.Check(t.Context(), at(path), new(maintenance.Reporter))).WantError(t, "a backup without its database", backup.ErrDamaged)
	testenv.Equal(t, "beside the backup", []string{"b.tar"}, names(t, filepath.Dir(path)))
}
