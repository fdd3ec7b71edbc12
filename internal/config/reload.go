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

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ReadEnvironmentFile returns the variables in a file in the form of systemd's EnvironmentFile
// (systemd.exec(5)), like os.Environ; none if there is no such file. The error is an *Error of
// --environment-file, without a value.
func ReadEnvironmentFile(path string) ([]string, error) {
	text, err := readFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Invalid("environment-file", path+": "+err.Error())
	}
	p := environmentParser{rest: strings.ReplaceAll(string(text), "\r\n", "\n"), line: 1}
	var variables []string
	for p.skipComments(); p.rest != ""; p.skipComments() {
		line := p.line
		name, found := p.name()
		if !found || !variableName.MatchString(name) {
			return nil, Invalid("environment-file", fmt.Sprintf("%s:%d: must be NAME=VALUE", path, line))
		}
		value, ended := p.value()
		if !ended {
			return nil, Invalid("environment-file", fmt.Sprintf("%s:%d: a quote is not closed", path, line))
		}
		variables = append(variables, name+"="+value)
	}
	return variables, nil
}

// environmentParser reads what systemd reads in the same way.
type environmentParser struct {
	rest string
	line int
}

// next returns the next character, and removes it.
func (p *environmentParser) next() byte {
	c := p.rest[0]
	p.rest = p.rest[1:]
	if c == '\n' {
		p.line++
	}
	return c
}

// skipComments skips empty lines, white space and comments. A comment goes on after a
// backslash at the end of its line.
func (p *environmentParser) skipComments() {
	for p.rest != "" {
		switch {
		case strings.ContainsRune(" \t\n", rune(p.rest[0])):
			p.next()
		case p.rest[0] == '#' || p.rest[0] == ';':
			for p.rest != "" && p.rest[0] != '\n' {
				if p.next() == '\\' && p.rest != "" {
					p.next()
				}
			}
		default:
			return
		}
	}
}

// name returns what is before the equals sign of a line, and whether there is one.
func (p *environmentParser) name() (string, bool) {
	for i := range len(p.rest) {
		switch p.rest[i] {
		case '=':
			name := strings.TrimRight(p.rest[:i], " \t")
			p.rest = p.rest[i+1:]
			return name, true
		case '\n':
			return "", false
		}
	}
	return "", false
}

// value returns the value of a line, and whether its quotes are closed. A value can have
// several parts, with and without quotes; those with quotes may have line ends.
func (p *environmentParser) value() (value string, ended bool) {
	var text strings.Builder
	for p.rest != "" {
		switch c := p.next(); c {
		case '\n':
			return text.String(), true
		case ' ', '\t':
		case '"', '\'':
			if !p.quoted(&text, c) {
				return "", false
			}
		default:
			p.plain(&text, c)
			return text.String(), true
		}
	}
	return text.String(), true
}

// quoted adds what is before a closing quote, and returns whether there is one.
func (p *environmentParser) quoted(text *strings.Builder, quote byte) bool {
	for p.rest != "" {
		c := p.next()
		switch {
		case c == quote:
			return true
		case c == '\\' && quote == '"' && p.rest != "":
			if c = p.next(); c == '\n' {
				continue
			}
			if !strings.ContainsRune("\"\\`$", rune(c)) {
				text.WriteByte('\\')
			}
		}
		text.WriteByte(c)
	}
	return false
}

// plain adds a part without quotes that begins with c. It ends with the line.
func (p *environmentParser) plain(text *strings.Builder, c byte) {
	var part strings.Builder
	kept := 0 // of part: an escaped space at the end stays
	for ; c != '\n'; c = p.next() {
		escaped := c == '\\' && p.rest != ""
		if escaped {
			c = p.next()
		}
		if !escaped || c != '\n' {
			part.WriteByte(c)
		}
		if escaped || c != ' ' && c != '\t' {
			kept = part.Len()
		}
		if p.rest == "" {
			break
		}
	}
	text.WriteString(part.String()[:kept])
}
