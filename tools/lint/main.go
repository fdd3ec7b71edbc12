// Command lint checks all packages of the module in the current folder with the
// analyzers of go vet, with bodyclose, which finds response bodies that are not closed,
// with errorlint, which finds errors that are compared or asserted in ways that do not see
// wrapped errors, and with staticcheck. It knows no comments that suppress a finding.
//
// The commands go vet and staticcheck take more than twice as long: each checks the types
// of all packages by itself, and analyzes dependencies as a whole. Of dependencies this
// program reads the declarations only, except for withBodies.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	pkgs, err := load(root)
	if err != nil {
		return err
	}

	// The tests of a package are a variant of it, with the same files and more.
	var program, withTests []*packages.Package
	variants := make(map[string]bool)
	for _, pkg := range pkgs {
		variants[pkg.ForTest] = variants[pkg.ForTest] || pkg.ForTest == pkg.PkgPath
	}
	for _, pkg := range pkgs {
		if pkg.ForTest == "" {
			program = append(program, pkg)
		}
		if pkg.ForTest != "" || !variants[pkg.PkgPath] {
			withTests = append(withTests, pkg)
		}
	}

	count := 0
	report := func(position token.Position, analyzer, message string) {
		if path, err := filepath.Rel(root, position.Filename); err == nil {
			position.Filename = path
		}
		log.Printf("%v: %s (%s)", position, message, analyzer)
		count++
	}
	for _, set := range []struct {
		analyzers []*analysis.Analyzer
		pkgs      []*packages.Package
	}{
		{vetAnalyzers(pkgs[0].Module.Path), withTests},
		// Code that only tests use counts as unused.
		{staticcheckAnalyzers(), program},
	} {
		graph, err := checker.Analyze(set.analyzers, set.pkgs, nil)
		if err != nil {
			return err
		}
		for _, action := range graph.Roots {
			if action.Err != nil {
				return fmt.Errorf("%v: %w", action, action.Err)
			}
			for _, finding := range action.Diagnostics {
				report(action.Package.Fset.Position(finding.Pos), action.Analyzer.Name, finding.Message)
			}
			if objects, ok := action.Result.(unused.Result); ok {
				for _, object := range objects.Unused {
					report(object.DisplayPosition, action.Analyzer.Name, object.Kind+" "+object.Name+" is unused")
				}
			}
		}
	}
	if count > 0 {
		return fmt.Errorf("%d findings", count)
	}
	return nil
}

// load returns the packages of the module in the folder root, and the variants of them with
// tests.
func load(root string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule | packages.NeedForTest,
		Dir:   root,
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, source, parser.ParseComments)
			if err == nil && !within(root, name) && !slices.Contains(withBodies, filepath.Dir(name)) {
				removeBodies(file)
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}

	var pkgs []*packages.Package
	for _, pkg := range loaded {
		if !strings.HasSuffix(pkg.ID, ".test") { // not the main package that go test writes
			pkgs = append(pkgs, pkg)
		}
	}
	packages.Visit(loaded, nil, func(pkg *packages.Package) {
		// Without bodies, some imports are not used.
		if pkg.Module == nil || !pkg.Module.Main {
			pkg.Errors = nil
		}
		pkg.IllTyped = false
	})
	if packages.PrintErrors(pkgs) > 0 {
		return nil, fmt.Errorf("the packages do not compile")
	}
	return pkgs, nil
}

// withBodies are the folders of the dependencies in whose functions the analyzers learn
// something: that log.Fatal, os.Exit and testing.T.Fatal do not return, that the arguments
// of strings.NewReplacer are pairs, and that time.Time.Add changes nothing.
var withBodies = func() (folders []string) {
	for _, name := range []string{"log", "os", "strings", "testing", "time"} {
		folders = append(folders, filepath.Join(build.Default.GOROOT, "src", name))
	}
	return folders
}()

func within(folder, name string) bool {
	return strings.HasPrefix(name, folder+string(filepath.Separator))
}

func removeBodies(file *ast.File) {
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
}

// vetAnalyzers returns the analyzers of go vet, and two more.
func vetAnalyzers(module string) []*analysis.Analyzer {
	analyzers := append(slices.Clone(vet.Suite), errorlint.NewAnalyzer())
	// bodyclose does not know that a body of http.ReadResponse needs no Close.
	if module != "merchantorders/bench" {
		analyzers = append(analyzers, bodyclose.Analyzer)
	}
	return analyzers
}

// staticcheckAnalyzers returns the analyzers that the command staticcheck runs, and one that
// finds types in declarations that say nothing.
func staticcheckAnalyzers() (analyzers []*analysis.Analyzer) {
	for _, check := range slices.Concat(simple.Analyzers, staticcheck.Analyzers, stylecheck.Analyzers, []*lint.Analyzer{unused.Analyzer}) {
		if !check.Doc.NonDefault || check.Analyzer.Name == "ST1023" {
			analyzers = append(analyzers, check.Analyzer)
		}
	}
	return analyzers
}
