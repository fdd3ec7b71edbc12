package backup_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/maintenance/maintenancetest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// forms are file names of backups in each form.
var forms = []string{"backup.tar", "backup.tar.gz", "backup.tgz", "backup"}

// at is the place of a file or folder.
func at(path string) backup.Place { return backup.Place{Path: path} }

// backUp makes a backup without findings and returns its path.
func backUp(t *testing.T, in *maintenancetest.Installation, form string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), form)
	result, err := backup.Create(t.Context(), in.Installation, at(path), maintenancetest.Now, "test", &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) { t.Errorf("finding: %v", f) },
	})
	if err != nil || result.Findings != 0 {
		t.Fatalf("backup: %+v, %v", result, err)
	}
	return path
}

// dataFolderIn returns a data folder to restore into.
func dataFolderIn(folder string) backup.DataFolder {
	return backup.DataFolder{Path: folder, Database: filepath.Join(folder, "orders.db"), Files: filepath.Join(folder, "files")}
}

// restore restores a backup into a new data folder, without findings.
func restore(t *testing.T, path string) *maintenancetest.Installation {
	t.Helper()
	to := dataFolderIn(filepath.Join(t.TempDir(), "restored"))
	result, err := backup.Restore(t.Context(), at(path), to, backup.RestoreOptions{}, &maintenance.Reporter{
		OnFinding: func(f maintenance.Finding) { t.Errorf("finding: %v", f) },
	})
	if err != nil || result.Findings != 0 {
		t.Fatalf("restore: %+v, %v", result, err)
	}
	return maintenancetest.Open(t, to.Path)
}

// Proves decision 5 (events: history).
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 250)
	want := in.Dump(t)
	for _, form := range forms {
		path := backUp(t, in, form)
		testenv.Equal(t, "the folder of the backup", []string{form}, names(t, filepath.Dir(path)))
		restored := restore(t, path)
		restored.WantDump(t, want)
		restored.WantNoFindings(t)
		if before, after := in.Histories(t), restored.Histories(t); before[0] == after[0] || before[1] == after[1] {
			t.Errorf("%s: the histories %q are %q after the restore", form, before, after)
		}
		testenv.Equal(t, form+": the restored folder", []string{"files", "orders.db", "orders.db-shm", "orders.db-wal", "orders.db.lock"}, names(t, restored.Folder))
	}
	in.WantDump(t, want)
}

// names lists the entries of a folder; nil if it does not exist or is empty.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	return found
}

// TestBackupInUse backs up an installation in use. Each backup is consistent and
// contains everything that was acknowledged before it began.
func TestBackupInUse(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 20)
	activity := maintenancetest.StartActivity(t, in, 1000)
	for _, form := range forms {
		activity.AddOrders(t)
		orders, files := activity.Acknowledged()
		restored := restore(t, backUp(t, in, form))
		restored.WantNoFindings(t)
		restored.WantAcknowledged(t, orders, files)
	}
}

// TestBackupNeverOverwrites checks that a backup overwrites nothing and that a
// failed one leaves nothing behind.
func TestBackupNeverOverwrites(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	dir := t.TempDir()
	for _, form := range []string{"file.tar", "empty"} {
		path := filepath.Join(dir, form)
		var err error
		if form == "empty" {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, []byte("precious"), 0o600)
		}
		testenv.NoError(t, err)
		testenv.Of(backup.Create(t.Context(), in.Installation, at(path), maintenancetest.Now, "", new(maintenance.Reporter))).WantError(t, form, backup.ErrExists)
	}
	if _, err := backup.Create(t.Context(), in.Installation, at(filepath.Join(dir, "missing", "b.tar")), maintenancetest.Now, "", new(maintenance.Reporter)); err == nil {
		t.Error("made a backup in a missing folder")
	}
	testenv.Equal(t, "left behind", []string{"empty", "file.tar"}, names(t, dir))
}

func TestBackupOfPostgres(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{Postgres: true})
	dir := t.TempDir()
	_, err := backup.Create(t.Context(), in.Installation, at(filepath.Join(dir, "b.tar")), maintenancetest.Now, "", new(maintenance.Reporter))
	testenv.Equal(t, "backup", sqldb.ErrNoBackup, err)
	testenv.Equal(t, "left behind", nil, names(t, dir))
}

// TestBackupWithFindings backs up an installation with missing and damaged files.
// The backup is restored only on request.
func TestBackupWithFindings(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	in.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "a.pdf"), nil)
	in.Replace(t, maintenancetest.InvoicePath(maintenancetest.Alpha, 0, "a-1.pdf"), nil) // deleted: as after an interrupted purge
	in.Replace(t, maintenancetest.InvoicePath(maintenancetest.Beta, 0, "a.pdf"), []byte("other"))
	path := filepath.Join(t.TempDir(), "b.tar")
	findings := make(map[string]bool)
	made, err := backup.Create(t.Context(), in.Installation, at(path), maintenancetest.Now, "", &maintenance.Reporter{OnFinding: func(f maintenance.Finding) {
		findings[f.String()] = true
	}})
	if err != nil || made.Findings != 2 || len(findings) != 2 || made.Files != 4 {
		t.Errorf("backup: %+v, %v, findings %v", made, err, findings)
	}
	to := dataFolderIn(t.TempDir())
	testenv.Of(backup.Restore(t.Context(), at(path), to, backup.RestoreOptions{}, new(maintenance.Reporter))).WantError(t, "restore", backup.ErrDamaged)
	testenv.Equal(t, "left behind by a refused restore", nil, names(t, to.Path))
	testenv.Equal(t, "findings of the restore", 2, testenv.Of(backup.Restore(t.Context(), at(path), to, backup.RestoreOptions{WithFindings: true}, new(maintenance.Reporter))).Must(t).Findings)
	maintenancetest.Open(t, to.Path).WantDump(t, in.Dump(t))
}

// TestRestoreDamagedBackup damages backups and restores them.
func TestRestoreDamagedBackup(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	change := func(name string, damage func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			content := testenv.Of(os.ReadFile(filepath.Join(path, name))).Must(t)
			testenv.NoError(t, os.WriteFile(filepath.Join(path, name), damage(content), 0o600))
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, path string) { testenv.NoError(t, os.Remove(filepath.Join(path, name))) }
	}
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	file := func(name string) string {
		return filepath.Join("files", maintenancetest.InvoicePath(maintenancetest.Alpha, 0, name))
	}
	for name, test := range map[string]struct {
		form   string
		damage func(*testing.T, string)
	}{
		"no manifest":        {"backup", remove("backup.json")},
		"no database":        {"backup", remove("orders.db")},
		"another database":   {"backup", change("orders.db", flip)},
		"no file":            {"backup", remove(file("a.pdf"))},
		"another file":       {"backup", change(file("a.pdf"), flip)},
		"no deleted file":    {"backup", remove(file("a-1.pdf"))},
		"cut in half":        {"b.tar", change("", func(b []byte) []byte { return b[:len(b)/2] })},
		"cut compressed":     {"b.tar.gz", change("", func(b []byte) []byte { return b[:len(b)-9] })},
		"end cut off":        {"b.tar", change("", func(b []byte) []byte { return b[:len(b)-2048] })},
		"empty":              {"b.tar", change("", func([]byte) []byte { return nil })},
		"no tar":             {"b.tar", change("", func([]byte) []byte { return bytes.Repeat([]byte("x"), 2000) })},
		"flipped compressed": {"b.tar.gz", change("", flip)},
		"newer format":       {"backup", change("backup.json", func([]byte) []byte { return []byte(`{"format":2}`) })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := backUp(t, in, test.form)
			test.damage(t, path)
			to := dataFolderIn(filepath.Join(t.TempDir(), "to"))
			result, err := backup.Restore(t.Context(), at(path), to, backup.RestoreOptions{}, new(maintenance.Reporter))
			if err == nil {
				t.Errorf("restored: %+v", result)
			} else if name != "newer format" && !errors.Is(err, backup.ErrDamaged) {
				t.Errorf("restore: %v, want %v", err, backup.ErrDamaged)
			}
			testenv.Lacks(t, "error", err.Error(), "a.pdf", "\n")
			testenv.Equal(t, "left behind", nil, names(t, to.Path))
		})
	}
}

// TestRestoreNewerBackup restores a backup whose schema is newer than this
// program's.
func TestRestoreNewerBackup(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Exec(t, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (201, 1)`)
	path := filepath.Join(t.TempDir(), "backup")
	testenv.NoError(t, os.MkdirAll(filepath.Join(path, "files"), 0o700))
	testenv.NoError(t, in.DB.Backup(t.Context(), filepath.Join(path, "orders.db")))
	content, err := os.ReadFile(filepath.Join(path, "orders.db"))
	testenv.NoError(t, err)
	manifest := fmt.Sprintf(`{"format":1,"database":{"size":%d,"sha256":"%x"}}`, len(content), sha256.Sum256(content))
	testenv.NoError(t, os.WriteFile(filepath.Join(path, "backup.json"), []byte(manifest), 0o600))
	_, err = backup.Restore(t.Context(), at(path), dataFolderIn(t.TempDir()), backup.RestoreOptions{}, new(maintenance.Reporter))
	if err == nil || !strings.HasPrefix(err.Error(), "the backup was made by a newer version (schema 201, this one knows ") || errors.Is(err, backup.ErrDamaged) {
		t.Errorf("restore: %v", err)
	}
}

// TestRestoreNeedsEmptyFolder checks that a restore refuses a folder that is not
// empty and removes what a killed restore left behind.
func TestRestoreNeedsEmptyFolder(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	path := backUp(t, in, "b.tar")
	for _, name := range []string{"orders.db", "files", "notes.txt"} {
		folder := t.TempDir()
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
		if _, err := backup.Restore(t.Context(), at(path), dataFolderIn(folder), backup.RestoreOptions{}, new(maintenance.Reporter)); err == nil {
			t.Errorf("restored into a folder with %s", name)
		}
		testenv.Equal(t, "the folder with "+name, []string{name}, names(t, folder))
	}
	folder := t.TempDir()
	testenv.NoError(t, os.MkdirAll(filepath.Join(folder, "files.partial", "invoices"), 0o700))
	for _, name := range []string{"orders.db.partial", "orders.db.partial-wal", "serve.lock"} {
		testenv.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("partial"), 0o600))
	}
	testenv.Of(backup.Restore(t.Context(), at(path), dataFolderIn(folder), backup.RestoreOptions{}, new(maintenance.Reporter))).Must(t)
	testenv.Equal(t, "the folder", []string{"files", "orders.db", "serve.lock"}, names(t, folder))
	maintenancetest.Open(t, folder).WantDump(t, in.Dump(t))
}

// TestBackupIsDataFolder opens a backup in the form of a folder as an installation.
func TestBackupIsDataFolder(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	as := maintenancetest.Open(t, backUp(t, in, "backup"))
	testenv.Equal(t, "findings", 0, testenv.Of(check.Run(t.Context(), as.Installation, check.Options{}, new(maintenance.Reporter))).Must(t).Findings)
	as.WantDump(t, in.Dump(t))
}

// TestRestoreIgnoresStagedFiles restores a folder in which a power cut has brought back the
// first name of a file.
func TestRestoreIgnoresStagedFiles(t *testing.T) {
	t.Parallel()
	in := maintenancetest.New(t, maintenancetest.Kind{})
	in.Fill(t, 5)
	path := backUp(t, in, "backup")
	testenv.NoError(t, os.WriteFile(filepath.Join(path, "files", "tmp", "staged-X"), []byte("content"), 0o600))
	restore(t, path).WantDump(t, in.Dump(t))
}
