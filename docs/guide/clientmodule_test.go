package guide_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestClientInAnotherModule builds a module that uses the client, with the commands
// and the program of the page, and without access to other modules.
func TestClientInAnotherModule(t *testing.T) {
	testenv.Long(t, "it builds a program")
	t.Parallel()
	text, err := os.ReadFile("client.md")
	testenv.NoError(t, err)
	section := regexp.MustCompile(`(?s)### In another module\n(.*?)\n### `).Find(text)
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(section, -1)
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(section)
	if len(commands) != 2 || program == nil {
		t.Fatalf("the page has %d blocks of commands, want 2, and a program", len(commands))
	}
	root, err := filepath.Abs("../..")
	testenv.NoError(t, err)
	dir := t.TempDir()
	source, shop := filepath.Join(dir, "merchant-orders"), filepath.Join(dir, "shop")
	testenv.NoError(t, os.Symlink(root, source))
	testenv.NoError(t, os.Mkdir(shop, 0o700))
	for name, content := range map[string][]byte{"main.go": program[1], "go.mod": []byte("module example.com/shop\n\ngo 1.26.0\n")} {
		testenv.NoError(t, os.WriteFile(filepath.Join(shop, name), content, 0o600))
	}
	run := func(script string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
		command.Dir = shop
		// Without the modules of this project, and without a network.
		command.Env = append(os.Environ(), "PWD="+shop, "GOMODCACHE="+filepath.Join(dir, "modules"), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", script, err, output)
		}
	}
	built := filepath.Join(shop, "shop")
	run(string(commands[0][1]))
	testenv.NoError(t, os.Remove(built))
	if _, err := os.Stat(filepath.Join(shop, "go.sum")); err == nil {
		t.Error("the client needs other modules")
	}
	vendor, build, _ := strings.Cut(string(commands[1][1]), "\n")
	run(vendor)
	testenv.NoError(t, os.Remove(source))
	run(build)
	if _, err := os.Stat(built); err != nil {
		t.Errorf("no program was built from the folder vendor: %v", err)
	}
}
