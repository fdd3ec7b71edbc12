package guide_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestClientInAnotherModule runs the commands and the program of the page in an empty
// folder, with the client of a release and without access to other modules.
func TestClientInAnotherModule(t *testing.T) {
	testenv.Long(t, "it builds a program")
	t.Parallel()
	text := testenv.Of(os.ReadFile("client.md")).Must(t)
	section := regexp.MustCompile(`(?s)### In another module\n(.*?)\n### `).Find(text)
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindSubmatch(section)
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(section)
	if commands == nil || program == nil {
		t.Fatal("the page has no commands or no program")
	}
	s := apptest.Start(t, "--demo")
	shop := t.TempDir()
	run := func(dir, script string, environment ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		command.Dir = dir
		command.Env = append(os.Environ(), environment...)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, output)
		}
		return string(output)
	}
	run("../..", "scripts/release", "FORMATS=client", "VERSION=v1.2.3", "OUT="+shop)
	// Without the modules of this project, and without a network.
	alone := []string{
		"GOMODCACHE=" + t.TempDir(), "GOPROXY=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=local",
		"ORDERS_URL=" + s.BaseURL, "ORDERS_TOKEN=" + s.Folder.Token(t, "--merchant", "355"),
	}
	run(shop, string(commands[1]), alone...)
	testenv.NoError(t, os.WriteFile(filepath.Join(shop, "main.go"), program[1], 0o600))
	if orders := run(shop, "go run .", alone...); !strings.Contains(orders, "DEMO-0060\n") {
		t.Errorf("the program prints %q", orders)
	}
	run(shop, "go mod tidy -diff", alone...)
}
