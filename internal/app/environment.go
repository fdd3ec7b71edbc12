package app

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"merchantorders/internal/config"
)

// otherVariables matches variables that begin like settings and are none: those of
// the project's tests, and those that Kubernetes sets in every pod for each of its
// services, which may be named after this program.
var otherVariables = regexp.MustCompile(`^` + config.Variable("test") + `(_|=)` +
	`|_SERVICE_(HOST|PORT(_\w+)?)=` +
	`|_PORT(_\d+_\w+)?=(tcp|udp|sctp)://` +
	`|_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=`)

// settingsIn returns the variables in environ that begin like settings, by name.
// It omits empty ones.
func settingsIn(environ []string) map[string]string {
	variables := make(map[string]string)
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, config.Variable("")) && value != "" && !otherVariables.MatchString(variable) {
			variables[name] = value
		}
	}
	return variables
}

// unknownVariables returns an error for every variable that sets no flag of any
// command. A mistyped name would otherwise leave its setting at the default in
// silence.
func unknownVariables(variables map[string]string, program *kong.Application) error {
	var known []string
	for _, leaf := range program.Leaves(false) {
		for _, group := range leaf.AllFlags(false) {
			for _, flag := range group {
				if flag.Name != "help" {
					known = append(known, config.Variable(flag.Name))
				}
			}
		}
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !slices.Contains(known, name) {
			nearest := slices.MinFunc(known, func(a, b string) int { return cmp.Compare(distance(a, name), distance(b, name)) })
			faults = append(faults, fmt.Errorf("the environment variable %s is not a setting; did you mean %s?", name, nearest))
		}
	}
	return errors.Join(faults...)
}

// distance returns how many bytes must be inserted, removed or replaced to make one
// text the other (the Levenshtein distance).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
