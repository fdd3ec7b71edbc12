package release

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/testenv"
)

// imageUser is the user and the group of the image.
const imageUser = 65532

// containerConfig is the part of an image's configuration that the test compares.
type containerConfig struct {
	User            string
	Entrypoint, Cmd []string
	Volumes         map[string]struct{}
	Healthcheck     struct{ Test []string }
}

// TestContainerImage builds the Dockerfile, with this machine's programs in place of
// golang's image, and runs the image as its user with a read-only root.
func TestContainerImage(t *testing.T) {
	testenv.Release(t)
	t.Parallel()
	buildah := testenv.Program(t, "buildah", "buildah")
	if os.Geteuid() != 0 {
		t.Skip("only root can mount an image")
	}
	store := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(buildah, append([]string{"--storage-driver", "vfs", "--root", store + "/root", "--runroot", store + "/run"}, args...)...)
		var faults strings.Builder
		cmd.Stderr = &faults
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("buildah %s: %v\n%s", args[0], err, &faults)
		}
		return strings.TrimSpace(string(output))
	}
	run("build", "--isolation", "chroot", "--tag", "docker.io/library/golang:1.26", builderFolder(t))
	caches := testenv.Of(exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE").Output()).Must(t)
	folders := strings.Fields(string(caches))
	release(t, newVersion, "") // its source
	run("build", "--isolation", "chroot", "--format", "docker", "--pull-never", "--build-arg", "VERSION="+newVersion, "--tag", "image",
		"--volume", "/usr:/usr:ro", "--volume", folders[0]+":/go/root:ro", "--volume", folders[1]+":/go/modules", "--volume", folders[2]+":/go/cache",
		sourceOf(newVersion))
	var image struct {
		Docker struct {
			Config containerConfig `json:"config"`
		}
	}
	testenv.NoError(t, json.Unmarshal([]byte(run("inspect", "--type", "image", "image")), &image))
	want := containerConfig{
		User: "65532:65532", Entrypoint: []string{"merchant-orders"}, Cmd: []string{"serve"},
		Volumes: map[string]struct{}{"/data": {}},
	}
	want.Healthcheck.Test = []string{"CMD", "merchant-orders", "health"}
	testenv.Equal(t, "configuration", want, image.Docker.Config)
	container := run("from", "--pull-never", "image")
	root := run("mount", container)
	t.Cleanup(func() { run("rm", container) })
	checkFiles(t, root)
	serveImage(t, root)
}

// builderFolder returns a folder with an image that stands for golang's: the programs are
// those of this machine, in volumes.
func builderFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"Dockerfile": "FROM scratch\nCOPY image /\n" +
			"ENV PATH=/go/root/bin:/usr/bin GOMODCACHE=/go/modules GOCACHE=/go/cache GOPROXY=off GOTOOLCHAIN=local\n",
		"image/etc/ssl/certs/ca-certificates.crt": "certificates",
	} {
		path := filepath.Join(folder, name)
		testenv.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testenv.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	for _, name := range []string{"bin", "lib", "lib64"} {
		testenv.NoError(t, os.Symlink("usr/"+name, filepath.Join(folder, "image", name)))
	}
	testenv.NoError(t, os.Mkdir(filepath.Join(folder, "image/tmp"), 0o755))
	return folder
}

// checkFiles checks that the image has its files only, and that its user owns the
// data folder only.
func checkFiles(t *testing.T, root string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root)
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && (owner != imageUser || name != "/data") {
			t.Errorf("%s belongs to user %d", name, owner)
		}
		if !entry.IsDir() {
			files = append(files, name)
		}
		return nil
	})
	want := []string{"/etc/ssl/certs/ca-certificates.crt", "/usr/bin/merchant-orders"}
	if slices.Sort(files); err != nil || !slices.Equal(files, want) {
		t.Errorf("%v: the image has the files %q, want %q", err, files, want)
	}
}

// serveImage runs the service and its health check in the image, with a read-only
// root, a data volume, and a network of its own.
func serveImage(t *testing.T, root string) {
	t.Helper()
	cmd := exec.Command("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-euo", "pipefail", "-c", `
		mount --bind "$1" "$1"
		mount -o remount,bind,ro "$1"
		mount -t tmpfs -o mode=700,uid=65532,gid=65532 tmpfs "$1/data"
		ip link set lo up
		inside() {
			env -i PATH=/usr/bin MERCHANT_ORDERS_DATA=/data MERCHANT_ORDERS_LISTEN=0.0.0.0:8080 \
				/usr/sbin/chroot --userspec=65532:65532 "$root" merchant-orders "$@"
		}
		root=$1
		exec 3< <(inside serve --drain 1s 2>&1)
		grep --max-count 1 'listens on' <&3
		inside health
		inside version
	`, "image", root)
	output, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(output), newVersion) {
		t.Errorf("%v: %s", err, output)
	}
}
