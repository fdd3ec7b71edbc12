package commands_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// openSQL opens the database of a data folder.
func openSQL(t *testing.T, data string) *sql.DB {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", "file:"+filepath.Join(data, "orders.db"))).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// setVersion makes the schema of a data folder look like that of another version.
func setVersion(t *testing.T, data, statement string) {
	t.Helper()
	testenv.Of(openSQL(t, data).ExecContext(t.Context(), statement)).Must(t)
}

// tree returns the paths of all files of a folder.
func tree(t *testing.T, folder string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	testenv.NoError(t, err)
	return paths
}

// TestFolderWithoutDatabase starts on folders that hold something and no database.
func TestFolderWithoutDatabase(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(data string) error{
		"missing": func(data string) error { return nil },
		"empty":   func(data string) error { return os.WriteFile(filepath.Join(data, "orders.db"), nil, 0o600) },
	} {
		s := apptest.Start(t)
		s.Stop(t)
		paths, err := filepath.Glob(filepath.Join(s.Data, "orders.db*"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			testenv.NoError(t, os.Remove(path))
		}
		testenv.NoError(t, lose(s.Data))
		for _, args := range [][]string{{"serve", "--listen=127.0.0.1:0"}, {"merchant", "add", "--id=1", "--name=x"}} {
			got := s.Run(t, "", args...)
			want := "merchant-orders: --data (MERCHANT_ORDERS_DATA): the folder " + s.Data + " contains files, but the database sqlite://" + s.Data + "/orders.db is missing or empty: "
			if got.Code != 2 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, want) {
				t.Errorf("%s, %s: %+v, want exit code 2 and %q", name, args[0], got, want)
			}
		}
		if info, err := os.Stat(filepath.Join(s.Data, "orders.db")); err == nil && info.Size() > 0 {
			t.Errorf("%s: a database was made", name)
		}
	}
}

func TestFolderWithOtherFiles(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	testenv.NoError(t, os.WriteFile(filepath.Join(data, "letter.txt"), nil, 0o600))
	got := apptest.Run(t, "", "serve", "--listen=127.0.0.1:0", "--data", data)
	if got.Code != 2 || !strings.Contains(got.Stderr, "contains letter.txt") || len(tree(t, data)) != 2 {
		t.Errorf("%+v, files %v", got, tree(t, data))
	}
	// The volume of the files is mounted, that of the database is not.
	storage := "file://" + data
	got = apptest.Run(t, "", "serve", "--listen=127.0.0.1:0", "--data", filepath.Join(data, "x"), "--storage", storage)
	if got.Code != 2 || !strings.Contains(got.Stderr, "contains letter.txt") || len(tree(t, data)) != 2 {
		t.Errorf("%+v, files %v", got, tree(t, data))
	}
	// A new volume, on which an earlier start has failed.
	data = t.TempDir()
	testenv.NoError(t, errors.Join(os.Mkdir(filepath.Join(data, "lost+found"), 0o700), os.WriteFile(filepath.Join(data, "serve.lock"), nil, 0o600)))
	apptest.StartOn(t, data)
	// One for the files alone, which doctor has tested.
	f := folder(t)
	f.Settings = []string{"--storage", "file://" + t.TempDir()}
	f.Run(t, "", "doctor").WantText(t, 0, "a file was written, read and deleted")
	f.Serve(t)
}

// TestCommandsDoNotMigrate runs commands on a schema that is not theirs.
func TestCommandsDoNotMigrate(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 1)
	status := f.Run(t, "", "migrate", "--status")
	lines := strings.Split(strings.TrimSpace(status.Stdout), "\n")
	newest := strings.Fields(lines[len(lines)-2])[0]
	if status.Code != 0 || lines[len(lines)-1] != "schema version "+newest+": up to date" || strings.Contains(status.Stdout, "pending") {
		t.Fatalf("status: %+v", status)
	}

	backup := filepath.Join(t.TempDir(), "b.tar")
	commands := [][]string{
		{"merchant", "list"}, {"merchant", "add", "--id=2", "--name=x"}, {"token", "list"}, {"token", "create", "--operator"},
		{"import", "-"}, {"check"}, {"purge"}, {"backup", backup}, {"copy", "--to-data", filepath.Join(t.TempDir(), "copy")},
	}
	setVersion(t, f.Data, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (201, 1)")
	for _, args := range commands {
		want := 0
		if args[0] == "copy" {
			want = 2 // It does not know what is new, so it would lose that.
		}
		if got := f.Run(t, "", args...); got.Code != want || want == 2 && !strings.Contains(got.Stderr, "newer version") {
			t.Errorf("%v on the schema of the next release: %+v", args, got)
		}
	}
	f.Run(t, "", "migrate").WantText(t, 2, "migrated by a newer version of merchant-orders (schema version 201, this program knows "+newest+
		"); start that version, or restore a backup that this one has made")
	setVersion(t, f.Data, "DELETE FROM goose_db_version WHERE version_id = 201")
	setVersion(t, f.Data, "INSERT INTO schema_steps VALUES (201, 'x')") // It only adds.
	testenv.NoError(t, os.Remove(backup))
	for _, args := range append(commands, []string{"migrate"}) {
		want := 0
		if args[0] == "copy" {
			want = 2
		}
		f.Run(t, "", args...).WantText(t, want)
	}
	setVersion(t, f.Data, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (301, 1)")
	for _, args := range commands {
		f.Run(t, "", args...).WantText(t, 2, "newer version")
	}
}

// TestForeignHistory runs commands on databases whose migration history is not that of
// this program: they say so and change nothing.
func TestForeignHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ statement, want string }{
		"steps that this program does not have": {
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, 1), (9, 1), (11, 1)",
			"it has run steps that this program does not have (2, 9, 11)",
		},
		"another first step": {"UPDATE schema_steps SET fingerprint = 'x'", "under the same numbers (1, 101"},
		"no fingerprints":    {"DROP TABLE schema_steps", "under the same numbers (1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := folder(t)
			f.Merchant(t, 1)
			setVersion(t, f.Data, c.statement)
			before := testenv.Of(os.ReadFile(filepath.Join(f.Data, "orders.db"))).Must(t)
			for _, args := range [][]string{
				{"serve", "--listen=127.0.0.1:0"}, {"migrate"}, {"migrate", "--status"}, {"merchant", "list"}, {"merchant", "add", "--id=2", "--name=x"},
				{"import", "-"}, {"check"}, {"check", "--repair"}, {"purge"}, {"backup", filepath.Join(t.TempDir(), "b.tar")},
				{"copy", "--to-data", filepath.Join(t.TempDir(), "copy")}, {"restore", folderBackup(t, f.Data), "--data", filepath.Join(t.TempDir(), "restored")},
			} {
				got := f.Run(t, "", args...)
				if got.Code == 0 || got.Stdout != "" || !strings.Contains(got.Stderr, c.want) || !strings.Contains(got.Stderr, "); nothing was changed: go on with that build, or import") {
					t.Errorf("%v: %+v", args, got)
				}
			}
			f.Run(t, "", "doctor").WantText(t, 1, c.want)
			if after, err := os.ReadFile(filepath.Join(f.Data, "orders.db")); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the database has changed, error %v", err)
			}
		})
	}
}

// folderBackup makes a backup of the database of a data folder, whatever its schema.
func folderBackup(t *testing.T, data string) string {
	t.Helper()
	path := t.TempDir()
	testenv.Of(openSQL(t, data).ExecContext(t.Context(), "VACUUM INTO ?", filepath.Join(path, "orders.db"))).Must(t)
	content := testenv.Of(os.ReadFile(filepath.Join(path, "orders.db"))).Must(t)
	manifest := fmt.Sprintf(`{"format":1,"database":{"size":%d,"sha256":"%x"}}`, len(content), sha256.Sum256(content))
	testenv.NoError(t, os.WriteFile(filepath.Join(path, "backup.json"), []byte(manifest), 0o600))
	return path
}

// TestMigrationsAreLogged takes the steps of the schema by a server.
func TestMigrationsAreLogged(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	if strings.Count(s.Log(), `"msg":"schema created","schema":1`) != 1 || strings.Contains(s.Log(), "schema migrated") {
		t.Errorf("a new installation logs its steps not as one:\n%s", s.Log())
	}
	if got := s.Run(t, "", "migrate"); got.Code != 0 || got.Stderr != "" || !strings.HasSuffix(got.Stdout, ": up to date\n") {
		t.Errorf("migrate with nothing to do: %+v", got)
	}
	empty := folder(t)
	testenv.NoError(t, os.MkdirAll(empty.Data, 0o700))
	setVersion(t, empty.Data, "CREATE TABLE x (y); DROP TABLE x")
	empty.Run(t, "", "migrate").WantText(t, 2, "the database is empty")
	if got := empty.Run(t, "", "migrate", "--status"); got.Code != 0 || !strings.Contains(got.Stdout, "pending\n\nschema version 0: run merchant-orders migrate, ") &&
		!strings.Contains(got.Stdout, "pending\nschema version 0: run merchant-orders migrate, ") {
		t.Errorf("status: %+v", got)
	}
	var schema struct {
		Version, Newest int
		Steps           []struct{ Status string }
	}
	got := empty.Run(t, "", "migrate", "--status", "--json")
	if err := json.Unmarshal([]byte(got.Stdout), &schema); err != nil || schema.Version != 0 || schema.Newest < 101 ||
		len(schema.Steps) < 2 || schema.Steps[0].Status != "pending" {
		t.Errorf("status as JSON: %+v, %v", got, err)
	}
}

// TestDamagedDatabase starts on a database whose pages are overwritten.
func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Import(t, document(1))
	s.Stop(t)
	path := filepath.Join(s.Data, "orders.db")
	content := testenv.Of(os.ReadFile(path)).Must(t)
	for i := 2 * 8192; i < len(content); i++ {
		content[i] = 0xff
	}
	testenv.NoError(t, os.WriteFile(path, content, 0o600))
	got := s.Run(t, "", "serve", "--listen=127.0.0.1:0")
	if got.Code != 2 || got.Stdout != "" || !strings.Contains(got.Stderr, "merchant-orders: --data (MERCHANT_ORDERS_DATA): open database "+path+": the database is damaged: ") {
		t.Errorf("%+v", got)
	}
}

// TestTwoSpellingsShareStagedFiles starts a second server on the database of
// another one: it must not remove what that one is uploading.
func TestTwoSpellingsShareStagedFiles(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	staged := filepath.Join(s.Data, "files", "tmp", "staged-upload")
	testenv.NoError(t, os.WriteFile(staged, nil, 0o600))
	second := apptest.Folder{Data: s.Data, Settings: []string{"--database", "sqlite://" + s.Data + "/orders.db"}}.Serve(t)
	testenv.Of(os.Stat(staged)).Must(t)
	second.Stop(t)
	s.Stop(t)
	apptest.StartOn(t, s.Data)
	testenv.Of(os.Stat(staged)).WantError(t, "a server that is alone left a staged file", fs.ErrNotExist)
}

// TestDatabaseBehindLink serves a database behind a symbolic link, also a new one.
func TestDatabaseBehindLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link.db")
	testenv.NoError(t, errors.Join(os.Mkdir(filepath.Join(dir, "disk"), 0o700), os.Symlink("disk/real.db", link)))
	// A file that belongs beside the target, and not beside the link.
	testenv.NoError(t, os.WriteFile(link+"-shm", make([]byte, 32768), 0o600))
	s := apptest.Folder{Data: filepath.Join(dir, "data"), Settings: []string{"--database", "sqlite://" + link}}.Serve(t)
	token := s.Merchant(t, 355)
	testenv.Send(t, token, "GET", s.BaseURL+"/v2/orders", "").WantStatus(t, 200)
	s.Run(t, "", "token", "revoke", "1").WantText(t, 0)
	testenv.Send(t, token, "GET", s.BaseURL+"/v2/orders", "").WantStatus(t, 401)
	testenv.Of(os.Stat(filepath.Join(dir, "disk", "real.db"))).Must(t)
}

// TestNoSecondInstallation runs commands without the settings of a service that has another
// database: they make no database beside it.
func TestNoSecondInstallation(t *testing.T) {
	t.Parallel()
	served := folder(t)
	served.Settings = []string{"--database", "sqlite://" + filepath.Join(t.TempDir(), "elsewhere.db"), "--storage", "file://" + t.TempDir()}
	served.Serve(t)
	without := apptest.Folder{Data: served.Data}
	stored := folder(t)
	stored.Settings = []string{"--storage", "file://" + t.TempDir()}
	add := []string{"merchant", "add", "--id=1", "--name=x"}
	without.Run(t, "", add...).WantText(t, 2, "a server has used the folder "+served.Data)
	stored.Run(t, "", add...).WantText(t, 2, "and no database is named")
	for _, args := range [][]string{{"migrate"}, {"token", "create", "--merchant=1"}, {"import", "-"}} {
		without.Run(t, "", args...).WantText(t, 2, "must name an installation")
	}
	for _, f := range []apptest.Folder{without, stored} {
		testenv.Of(os.Stat(filepath.Join(f.Data, "orders.db"))).WantError(t, f.Data+" has a database", fs.ErrNotExist)
	}
}
