package release

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// The two versions that are built: the newest release, or this commit if there is none yet,
// and this commit with a further step of the schema that only adds.
const (
	oldVersion = "v0.9.0"
	newVersion = "v0.9.1"
)

// built is the folder of the releases, each in a folder named after its version.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "release-"); err != nil {
		panic(err)
	}
	os.Exit(pgtest.Run(func() int {
		defer os.RemoveAll(built)
		return m.Run()
	}, apptest.SetUp))
}

// release returns the path of a file of a version, built for this machine: kind
// is ".deb", ".rpm", or empty for the program. Each version is built once.
func release(t *testing.T, version, kind string) string {
	t.Helper()
	testenv.Need(t, "the files of a release")
	testenv.NoError(t, builds[version]())
	found := testenv.Of(filepath.Glob(filepath.Join(built, version, "merchant-orders_*_linux_*"))).Must(t)
	for _, path := range found {
		extension := filepath.Ext(path)
		if extension == kind || kind == "" && extension != ".deb" && extension != ".rpm" {
			return path
		}
	}
	t.Fatalf("no file of the kind %q in %q", kind, found)
	return ""
}

var builds = map[string]func() error{
	oldVersion: sync.OnceValue(func() error { return build(oldVersion) }),
	newVersion: sync.OnceValue(func() error { return build(newVersion) }),
}

// building is held while scripts/release runs, which builds its tools if they are
// missing.
var building sync.Mutex

func build(version string) error {
	building.Lock()
	defer building.Unlock()
	platform, err := exec.Command("go", "env", "GOHOSTOS", "GOHOSTARCH").Output()
	if err != nil {
		return err
	}
	var system, architecture string
	if _, err := fmt.Sscan(string(platform), &system, &architecture); err != nil {
		return err
	}
	source, err := clone(version)
	if err != nil {
		return err
	}
	cmd := exec.Command("bash", "scripts/release")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "OUT="+filepath.Join(built, version), "VERSION="+version,
		"TARGETS="+system+"/"+architecture, "FORMATS=program deb rpm")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build release %s: %w\n%s", version, err, output)
	}
	return nil
}

// sourceOf returns the folder with the source of a version.
func sourceOf(version string) string { return filepath.Join(built, "source of "+version) }

// clone makes the folder with the source of a version, and returns it.
func clone(version string) (string, error) {
	old := "HEAD"
	if tag, err := git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"); err == nil {
		old = tag
	}
	project, err := filepath.Abs("../../..")
	if err != nil {
		return "", err
	}
	source := sourceOf(version)
	_, err = git("clone", "--quiet", project, source)
	if err == nil && version == oldVersion {
		_, err = git("-C", source, "checkout", "--quiet", old)
	}
	if err == nil && version == newVersion {
		err = addStep(source, old)
	}
	tools := filepath.Join(project, "bin")
	return source, errors.Join(err, os.MkdirAll(tools, 0o755), os.Symlink(tools, filepath.Join(source, "bin")))
}

// addStep adds the last step that the release after an old one may have, and that only adds.
func addStep(source, old string) error {
	const folder = "internal/store/migrations"
	steps, err := git("-C", source, "ls-tree", "--name-only", old, folder+"/postgres/")
	if err != nil {
		return err
	}
	var newest int
	if _, err := fmt.Sscanf(steps[strings.LastIndex(steps, "/")+1:], "%d", &newest); err != nil {
		return err
	}
	for _, engine := range []string{"sqlite", "postgres"} {
		// Each release has a hundred numbers.
		path := filepath.Join(source, folder, engine, fmt.Sprintf("%05d_next.adds.sql", newest/100*100+199))
		if err := os.WriteFile(path, []byte("-- +goose Up\nALTER TABLE orders ADD COLUMN of_next_release TEXT;\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// git returns the standard output of git.
func git(args ...string) (string, error) {
	output, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args, err)
	}
	return strings.TrimSpace(string(output)), nil
}
