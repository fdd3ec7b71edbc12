package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Tool returns the path of a program whose main package is in the module in tools: a file
// in bin, below the root of this module. It builds the program if the file does not exist.
func Tool(module string) (string, error) {
	output, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(output)))
	program := filepath.Join(root, "bin", path.Base(module))
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	// Build to another name and rename: another test process may build it too.
	temporary := fmt.Sprintf("%s.%d", program, os.Getpid())
	build := exec.Command("go", "build", "-o", temporary, module)
	build.Dir = filepath.Join(root, "tools")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", module, err, output)
	}
	return program, os.Rename(temporary, program)
}
