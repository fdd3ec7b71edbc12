package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Changed returns the names of the flags whose values differ. T is Config or Serve.
func Changed[T Config | Serve](before, after T) (flags []string) {
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range was.NumField() {
		if field := was.Type().Field(i); !was.Field(i).Equal(is.Field(i)) {
			flags = append(flags, cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name)))
		}
	}
	return flags
}

// ChangedKeys returns the variables of the storage's credentials that have other values.
func (s *Sources) ChangedKeys(after *Sources) []string {
	return slices.DeleteFunc(slices.Clone(awsVariables), func(name string) bool { return s.variables[name] == after.variables[name] })
}

// Environment returns the variables of a process whose unit has an EnvironmentFile, as they
// would be after a restart. environ are those of its start, and before and after the content
// of the file at the start and now.
func Environment(environ, before, after []string) []string {
	of := func(variable string) string {
		name, _, _ := strings.Cut(variable, "=")
		return name
	}
	var kept []string
	for _, variable := range environ {
		if !slices.ContainsFunc(before, func(old string) bool { return of(old) == of(variable) }) {
			kept = append(kept, variable)
		}
	}
	return append(kept, after...)
}

// comments matches empty lines and comments, which go on after a backslash at the end of a line,
// and variable what is read of EnvironmentFile (systemd.exec(5)): a line whose value has no
// backslash and does not begin with a quote, or a value in quotes, perhaps of several lines.
var (
	comments = regexp.MustCompile(`^(?:[ \t\n]+|[#;](?:\\\n|[^\n])*)*`)
	variable = regexp.MustCompile(`^([A-Za-z_]\w*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[^\x00])*)"|'([^']*)'|([^\s"'\\][^\n\\]*|))[ \t]*(?:\n|$)`)
	escape   = regexp.MustCompile("\\\\(?:\n|([\"\\\\`$]))")
)

// ReadEnvironmentFile returns the variables in a file in the form of systemd's EnvironmentFile,
// like os.Environ; none if there is no such file. The error is an *Error of --environment-file,
// without a value, also of a line that systemd reads and variable does not match.
func ReadEnvironmentFile(path string) ([]string, error) {
	text, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Invalid("environment-file", path+": "+err.Error())
	}
	whole := strings.ReplaceAll(string(text), "\r\n", "\n")
	var variables []string
	for rest := whole; ; {
		if rest = rest[len(comments.FindString(rest)):]; rest == "" {
			return variables, nil
		}
		found := variable.FindStringSubmatch(rest)
		if found == nil {
			return nil, Invalid("environment-file", fmt.Sprintf(`%s:%d: must be NAME=VALUE, NAME="VALUE" or NAME='VALUE'; a backslash must be in quotes`,
				path, 1+strings.Count(whole[:len(whole)-len(rest)], "\n")))
		}
		variables = append(variables, found[1]+"="+escape.ReplaceAllString(found[2], "$1")+found[3]+strings.TrimRight(found[4], " \t"))
		rest = rest[len(found[0]):]
	}
}
