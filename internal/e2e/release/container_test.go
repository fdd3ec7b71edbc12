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

// TestContainerImage builds the last stage of the Dockerfile, on what the stage
// before it would give, and runs the image as its user with a read-only root.
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
	run("build", "--isolation", "chroot", "--format", "docker", "--tag", "image", stageFolder(t))
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

// stageFolder returns a folder with the last stage of the Dockerfile and the files
// that it takes from the stage before.
func stageFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	text, err := os.ReadFile("../../../Dockerfile")
	testenv.NoError(t, err)
	_, last, found := strings.Cut(string(text), "\nFROM scratch\n")
	if !found {
		t.Fatal("the Dockerfile has no stage from scratch")
	}
	files := map[string]string{
		"Dockerfile": "FROM scratch\n" + strings.ReplaceAll(last, "--from=build ", ""),
		"image/etc/ssl/certs/ca-certificates.crt": "certificates",
		"image/data/.keep":                        "",
	}
	program, err := os.ReadFile(release(t, newVersion, ""))
	testenv.NoError(t, err)
	files["image/usr/bin/merchant-orders"] = string(program)
	for name, content := range files {
		path := filepath.Join(folder, name)
		testenv.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testenv.NoError(t, os.WriteFile(path, []byte(content), 0o755))
	}
	testenv.NoError(t, os.Remove(filepath.Join(folder, "image/data/.keep")))
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
