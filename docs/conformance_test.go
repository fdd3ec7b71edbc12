package docs_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

var update = flag.Bool("update", false, "write conformance.md: the rules, and the tests that prove them")

var (
	// proofForm is a rule in the last paragraph of a test's comment: "Proves decision 3
	// (totals; next links), spec 2.2." names two topics of a section and all of another.
	proofForm   = regexp.MustCompile(`(spec|decision) (\d(?:\.\d)?)\b(?: \(([^)]*)\))?`)
	sectionForm = regexp.MustCompile(`^###? (\d(?:\.\d)?)\.? (.*)`)
)

// TestConformance checks that each section of the published interface and of the
// decisions has a test, and that each test of the suite in internal/e2e says what it
// proves. To get the page of all: go test ./docs -run TestConformance -update.
func TestConformance(t *testing.T) {
	t.Parallel()
	proofs, silent := readProofs(t, os.DirFS(".."))
	for _, name := range silent {
		t.Errorf("the comment of %s does not say what it proves", name)
	}
	var page strings.Builder
	page.WriteString("# Conformance\n\nThe tests of each section, by topic.\n")
	for _, document := range []struct{ kind, file string }{{"spec", "interface.md"}, {"decision", "decisions.md"}} {
		for _, line := range proseOf(t, os.DirFS("."), document.file) {
			match := sectionForm.FindStringSubmatch(line)
			if match == nil {
				continue
			}
			section := document.kind + " " + match[1]
			fmt.Fprintf(&page, "\n## %s: %s\n\n", section, match[2])
			for _, topic := range slices.Sorted(maps.Keys(proofs[section])) {
				fmt.Fprintf(&page, "- %s: %s\n", cmp.Or(topic, "in general"), strings.Join(proofs[section][topic], ", "))
			}
			hasParts := slices.ContainsFunc(slices.Collect(maps.Keys(proofs)), func(other string) bool { return strings.HasPrefix(other, section+".") })
			if len(proofs[section]) == 0 && !hasParts {
				t.Errorf("no test proves %s", section)
			}
			delete(proofs, section)
		}
	}
	for section := range proofs {
		t.Errorf("there is no %s, which %v prove", section, proofs[section])
	}
	if *update {
		testenv.NoError(t, os.WriteFile("conformance.md", []byte(page.String()), 0o644))
	}
}

// readProofs returns the tests by section and topic, and those of internal/e2e that name
// none.
func readProofs(t *testing.T, root fs.FS) (proofs map[string]map[string][]string, silent []string) {
	t.Helper()
	proofs = make(map[string]map[string][]string)
	testenv.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text := testenv.Of(fs.ReadFile(root, name)).Must(t)
		file := testenv.Of(parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)).Must(t)
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(function.Name.Name, "Test") && !strings.HasPrefix(function.Name.Name, "Fuzz") {
				continue
			}
			test := path.Dir(name) + "." + function.Name.Name
			_, claim, found := strings.Cut("\n"+function.Doc.Text(), "\nProves ")
			if !found && path.Dir(name) == "internal/e2e" && function.Name.Name != "TestMain" {
				silent = append(silent, test)
			}
			for _, match := range proofForm.FindAllStringSubmatch(strings.ReplaceAll(claim, "\n", " "), -1) {
				section := match[1] + " " + match[2]
				if proofs[section] == nil {
					proofs[section] = make(map[string][]string)
				}
				for topic := range strings.SplitSeq(match[3], "; ") {
					proofs[section][topic] = append(proofs[section][topic], test)
				}
			}
		}
		return nil
	}))
	return proofs, silent
}
