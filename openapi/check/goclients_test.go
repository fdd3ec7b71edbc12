package check_test

import (
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// The generators, and the modules that their clients need.
const (
	oapiGenerator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	ogenGenerator = "github.com/ogen-go/ogen/cmd/ogen@v1.24.0"
)

// TestGeneratedGoClients generates clients from the served document of version 2 in a
// module of its own, and lists, reads, accepts and uploads with them.
func TestGeneratedGoClients(t *testing.T) {
	t.Parallel()
	testenv.Release(t)
	s := apptest.Start(t, "--demo")
	folder := t.TempDir()
	program := testenv.Of(os.ReadFile("testdata/main.go")).Must(t)
	write(t, filepath.Join(folder, "main.go"), program)
	write(t, filepath.Join(folder, "go.mod"), []byte("module example.com/shop\n\ngo 1.26.0\n"))
	write(t, filepath.Join(folder, "v2.yaml"), fetch(t, s.BaseURL+"/openapi/v2.yaml"))
	testenv.NoError(t, os.Mkdir(filepath.Join(folder, "oapi"), 0o700))
	run(t, folder, s, "go", "run", oapiGenerator, "-generate=types,client", "-package=oapi", "-o=oapi/client.go", "v2.yaml")
	run(t, folder, s, "go", "run", ogenGenerator, "--target=og", "--package=og", "--clean", "v2.yaml")
	run(t, folder, s, "go", "mod", "tidy")
	run(t, folder, s, "go", "run", ".")
}
