package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// The two versions that are built.
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
// is "deb", or empty for the program. Each version is built once.
func release(t *testing.T, version, kind string) string {
	t.Helper()
	testenv.Need(t, "the files of a release")
	testenv.NoError(t, builds[version]())
	found, err := filepath.Glob(filepath.Join(built, version, "merchant-orders_*_linux_*"))
	testenv.NoError(t, err)
	for _, path := range found {
		if filepath.Ext(path) == kind || kind == "" && filepath.Ext(path) != ".deb" {
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
	cmd := exec.Command("bash", "../../../scripts/release")
	cmd.Env = append(os.Environ(), "OUT="+filepath.Join(built, version), "VERSION="+version,
		"TARGETS="+system+"/"+architecture, "FORMATS=program deb")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build release %s: %w\n%s", version, err, output)
	}
	return nil
}
