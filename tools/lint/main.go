// Command lint is an analysis tool for go vet -vettool. It has the analyzers of go vet,
// and two more: bodyclose finds response bodies that are not closed, errorlint errors
// that are compared or asserted in ways that do not see wrapped errors. One tool takes
// half the time of two, since each has to check the types of all packages.
package main

import (
	"encoding/gob"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/appends"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/cgocall"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/defers"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/hostport"
	"golang.org/x/tools/go/analysis/passes/httpresponse"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/slog"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stdversion"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/testinggoroutine"
	"golang.org/x/tools/go/analysis/passes/tests"
	"golang.org/x/tools/go/analysis/passes/timeformat"
	"golang.org/x/tools/go/analysis/passes/unmarshal"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/analysis/passes/waitgroup"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	analyzers := []*analysis.Analyzer{
		bodyclose.Analyzer, errorlint.NewAnalyzer(),
		appends.Analyzer, asmdecl.Analyzer, assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer,
		cgocall.Analyzer, composite.Analyzer, copylock.Analyzer, defers.Analyzer, directive.Analyzer, errorsas.Analyzer,
		framepointer.Analyzer, hostport.Analyzer, httpresponse.Analyzer, ifaceassert.Analyzer, loopclosure.Analyzer, lostcancel.Analyzer,
		nilfunc.Analyzer, printf.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, slog.Analyzer, stdmethods.Analyzer,
		stdversion.Analyzer, stringintconv.Analyzer, structtag.Analyzer, testinggoroutine.Analyzer, tests.Analyzer, timeformat.Analyzer,
		unmarshal.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer, waitgroup.Analyzer,
	}
	config := readConfig(os.Args[len(os.Args)-1])
	switch {
	case config.VetxOnly && config.ModulePath != "" && !strings.HasPrefix(config.ModulePath, "merchantorders"):
		// go vet wants the types of another module, and its facts, such as which functions
		// never return. Those facts change no finding here and would take a third of the
		// time. Those of the standard library are needed.
		registerFacts(analyzers)
		analyzers = []*analysis.Analyzer{assign.Analyzer} // finds no facts
	case config.ModulePath == "merchantorders/bench":
		// bodyclose does not know that a body of http.ReadResponse needs no Close. Another
		// flag of go vet would let it check all dependencies again.
		analyzers = analyzers[1:]
	}
	unitchecker.Main(analyzers...)
}

// readConfig reads the file in which go vet describes a package. It returns the zero value
// if an argument is not its path.
func readConfig(path string) (config unitchecker.Config) {
	if !strings.HasSuffix(path, ".cfg") {
		return config
	}
	data, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := json.Unmarshal(data, &config); err != nil {
		log.Fatalf("%s: %v", path, err)
	}
	return config
}

// registerFacts lets the facts of the standard library be read without the analyzers that
// found them.
func registerFacts(analyzers []*analysis.Analyzer) {
	for _, analyzer := range analyzers {
		for _, fact := range analyzer.FactTypes {
			gob.Register(fact)
		}
		registerFacts(analyzer.Requires)
	}
}
