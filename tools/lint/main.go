// Command lint is an analysis tool for go vet -vettool. It finds response bodies
// that are not closed (bodyclose), and errors that are compared or asserted in
// ways that do not see wrapped errors (errorlint).
package main

import (
	"github.com/polyfloyd/go-errorlint/errorlint"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(bodyclose.Analyzer, errorlint.NewAnalyzer())
}
