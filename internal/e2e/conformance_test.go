package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// mention is the name of a test in the document: a folder where it is not this
// one, the test, and a case of it. The folder is in internal, or it is client.
var mention = regexp.MustCompile("`(?:([a-z0-9/]+)\\.)?((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(?:/([^`]+))?`")

// TestConformanceDocument holds docs/conformance.md to the tests: every test
// and every case that it names is there, and every test of this suite is named.
func TestConformanceDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../../docs/conformance.md"))
	testenv.NoError(t, err)
	sources := map[string]testSource{}
	named := map[string]bool{}
	for _, found := range mention.FindAllStringSubmatch(string(text), -1) {
		folder, test, subtest := found[1], found[2], found[3]
		if folder == "" {
			folder, named[test] = "e2e", true
		}
		source, ok := sources[folder]
		if !ok {
			parent := ".."
			if folder == "client" {
				parent = filepath.Join("..", "..")
			}
			source = readTests(t, filepath.Join(parent, filepath.FromSlash(folder)))
			sources[folder] = source
		}
		if !slices.Contains(source.tests, test) {
			t.Errorf("%s: %s has no test of that name", found[0], folder)
		} else if subtest != "" && !source.texts[subtest] {
			t.Errorf("%s: %s has no case of that name", found[0], folder)
		}
	}
	for _, test := range readTests(t, ".").tests {
		if test != "TestMain" && !named[test] {
			t.Errorf("docs/conformance.md does not name %s", test)
		}
	}
}

// testSource is what the tests of a folder are called.
type testSource struct {
	tests []string
	texts map[string]bool // every text in their code, names of cases among them
}

func readTests(t *testing.T, folder string) testSource {
	t.Helper()
	files, err := fs.Glob(os.DirFS(folder), "*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", folder, err)
	}
	source := testSource{texts: map[string]bool{}}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		testenv.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && (strings.HasPrefix(node.Name.Name, "Test") || strings.HasPrefix(node.Name.Name, "Fuzz")) {
					source.tests = append(source.tests, node.Name.Name)
				}
			case *ast.BasicLit:
				if value, err := strconv.Unquote(node.Value); err == nil {
					source.texts[value] = true
				}
			}
			return true
		})
	}
	return source
}
