// Testreport prints what "go test -json" reports, in the form of "go test": a line for
// each package, and the output of each test that failed. At the end it says which tests
// were left out, with the reasons, and then which failed and why, in a few lines.
//
//	go test -json ./... | testreport
//	go test -json ./... | testreport -left-out FILE
//	testreport -left-out FILE </dev/null
//
// With -left-out it appends the reasons to a file instead, for several runs; without an
// event in its input it prints those of the file. The exit code is 1 if a test failed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// event is a line of "go test -json" (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// maxFailures bounds the failures that the last lines name.
const maxFailures = 15

// report is what is known of the tests so far.
type report struct {
	out      io.Writer
	output   map[[2]string][]string // of running tests, by package and name; of packages, with an empty name
	failed   []string               // a line for each
	failures int
	leftOut  []string // reasons
}

var (
	// position is what t.Error and t.Skip put before a text.
	position = regexp.MustCompile(`^\s*\S+\.go:\d+: `)
	// noise is what says nothing about a failure.
	noise = regexp.MustCompile(`^\s*(===|---|\{"time"|log of the server:|FAIL|exit status|$)|output\.go:\d+: log of the server`)
	// howToRun is the end of the reason of a test that was left out.
	howToRun = regexp.MustCompile(`; set MERCHANT_ORDERS_TEST=.*`)
)

// add takes a line of the input.
func (r *report) add(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(r.out, "%s\n", line) // of the go command
		return
	}
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
		if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")) {
			fmt.Fprint(r.out, e.Output)
		}
	case "build-output":
		key = [2]string{e.ImportPath, "build"}
		r.output[key] = append(r.output[key], e.Output)
	case "build-fail":
		r.fail([2]string{e.ImportPath, "build"})
	case "skip":
		if e.Test != "" {
			reason := howToRun.ReplaceAllString(r.reason(key), "")
			r.leftOut = append(r.leftOut, reason)
		}
		delete(r.output, key)
	case "fail":
		r.fail(key)
	case "pass":
		delete(r.output, key)
	}
}

// reason returns the last line of a test that says something.
func (r *report) reason(key [2]string) string {
	for _, line := range slices.Backward(r.output[key]) {
		if !noise.MatchString(line) {
			return strings.TrimSpace(position.ReplaceAllString(line, ""))
		}
	}
	return ""
}

// fail prints the output of what failed and remembers its first line that says something.
// A test that failed only because of its subtests, or a package of its tests, has none.
func (r *report) fail(key [2]string) {
	r.failures++
	lines := r.output[key]
	delete(r.output, key)
	first := slices.IndexFunc(lines, func(line string) bool { return !noise.MatchString(line) && !strings.HasPrefix(line, "#") })
	if first < 0 || key[1] == "" && len(r.failed) > 0 {
		return
	}
	fmt.Fprintf(r.out, "--- FAIL: %s %s\n%s", key[0], key[1], strings.Join(lines, ""))
	r.failed = append(r.failed, fmt.Sprintf("%s %s: %s", key[0], key[1], strings.TrimSpace(lines[first])))
}

// end prints what was left out, and what failed in the last lines.
func (r *report) end() {
	if len(r.leftOut) > 0 {
		fmt.Fprintln(r.out, "\nleft out:")
		count := make(map[string]int)
		for _, reason := range r.leftOut {
			count[reason]++
		}
		for _, reason := range slices.Sorted(maps.Keys(count)) {
			fmt.Fprintf(r.out, "%4d %s\n", count[reason], reason)
		}
	}
	if r.failures == 0 {
		return
	}
	fmt.Fprintln(r.out, "\nfailed:")
	for _, line := range r.failed[:min(len(r.failed), maxFailures)] {
		if runes := []rune(line); len(runes) > 400 {
			line = string(runes[:400]) + " ..."
		}
		fmt.Fprintln(r.out, "  "+line)
	}
	if more := len(r.failed) - maxFailures; more > 0 {
		fmt.Fprintf(r.out, "  and %d more\n", more)
	}
}

func run(in io.Reader, out io.Writer, leftOut string) (failed bool, err error) {
	r := &report{out: out, output: make(map[[2]string][]string)}
	lines := bufio.NewReader(in)
	events := false
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			events = true
			r.add([]byte(strings.TrimSuffix(string(line), "\n")))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return false, err
		}
	}
	switch {
	case leftOut != "" && events:
		if err := appendLines(leftOut, r.leftOut); err != nil {
			return false, err
		}
		r.leftOut = nil
	case leftOut != "":
		text, err := os.ReadFile(leftOut)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		r.leftOut = strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	}
	r.end()
	return r.failures > 0, nil
}

func appendLines(name string, lines []string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(file, line); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return file.Close()
}

func main() {
	leftOut := flag.String("left-out", "", "file to which reasons are appended")
	flag.Parse()
	failed, err := run(os.Stdin, os.Stdout, *leftOut)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}
