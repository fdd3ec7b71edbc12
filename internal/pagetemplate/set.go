// Package pagetemplate executes templates of html/template several times faster than
// html/template does, with the same output.
//
// html/template still parses the templates and decides how each value is escaped.
// Compile then turns the parse trees into functions, once. Execution needs no look-up
// of names, remembers where the fields of each type are, and calls most
// functions without reflection.
//
// A Set supports what the pages need of the template language: not break, continue,
// and ranges over anything but slices and arrays. Compile refuses what it can see of
// that; execution returns an error for the rest.
package pagetemplate

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"slices"
	"sync/atomic"
	"text/template/parse"
)

// Set is a set of compiled templates. It is safe for concurrent use.
type Set struct {
	programs map[string]*program
}

// program is a compiled template.
type program struct {
	body  statement
	slots int          // number of variables
	size  atomic.Int64 // of the newest output in bytes, for the next one
}

// Compile compiles those templates of a set that have the names, with all that they
// call. functions are those that the templates were parsed with. The set must not be
// changed afterwards.
func Compile(set *template.Template, functions Functions, names ...string) (*Set, error) {
	s := &Set{programs: make(map[string]*program)}
	for _, name := range names {
		// The first execution escapes the template and all that it calls, before it
		// looks at the data. Without data it may fail later.
		var malformed *template.Error
		if err := set.ExecuteTemplate(io.Discard, name, nil); errors.As(err, &malformed) {
			return nil, err
		}
		if err := s.compile(set, functions, name); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// compile compiles a template and all that it calls, each once.
func (s *Set) compile(set *template.Template, functions Functions, name string) error {
	if s.programs[name] != nil {
		return nil
	}
	source := set.Lookup(name)
	if source == nil || source.Tree == nil {
		return fmt.Errorf("template %q does not exist, or is used in two contexts", name)
	}
	p := &program{}
	s.programs[name] = p
	c := compiler{set: s, functions: functions, variables: []string{"$"}, slots: 1}
	body, err := c.list(source.Tree.Root)
	if err != nil {
		return fmt.Errorf("template %q: %w", name, err)
	}
	p.body, p.slots = body, c.slots
	for _, called := range c.called {
		if err := s.compile(set, functions, called); err != nil {
			return err
		}
	}
	return nil
}

// Append executes a template and appends its output to a buffer. After an error the
// buffer has a part of it.
func (s *Set) Append(buffer []byte, name string, data any) ([]byte, error) {
	p := s.programs[name]
	if p == nil {
		return buffer, fmt.Errorf("template %q is not compiled", name)
	}
	size := p.size.Load()
	x := &execution{out: slices.Grow(buffer, int(size+size/8))}
	err := x.run(p, reflect.ValueOf(data))
	p.size.Store(int64(len(x.out) - len(buffer)))
	return x.out, err
}

// execution is one execution of a template.
type execution struct {
	out       []byte
	variables []reflect.Value // of all templates that are running
	frame     int             // first variable of the one that runs
	args      []reflect.Value // of the calls that are being prepared
}

// run executes a template with its data, which is its variable $.
func (x *execution) run(p *program, data reflect.Value) error {
	caller, frame := x.frame, len(x.variables)
	for range p.slots {
		x.variables = append(x.variables, data)
	}
	x.frame = frame
	err := p.body(x, data)
	x.variables, x.frame = x.variables[:frame], caller
	return err
}

// compiler compiles one template.
type compiler struct {
	set       *Set
	functions Functions
	variables []string // names of those in scope; the index is the slot
	slots     int
	called    []string // names of the templates that it calls
}

// declare returns the slot of a new variable. Slots are not reused: a template has few.
func (c *compiler) declare(name string) int {
	for len(c.variables) < c.slots {
		c.variables = append(c.variables, "")
	}
	c.variables = append(c.variables, name)
	c.slots++
	return c.slots - 1
}

// leave ends a scope that began with some variables.
func (c *compiler) leave(variables int) {
	for i := variables; i < len(c.variables); i++ {
		c.variables[i] = "" // out of scope
	}
}

// slot returns the slot of a variable. The parser has checked that it exists.
func (c *compiler) slot(name string) int {
	for i := len(c.variables) - 1; i > 0; i-- {
		if c.variables[i] == name {
			return i
		}
	}
	return 0
}

// unsupported returns the error for a node that cannot be compiled.
func unsupported(node parse.Node) error { return fmt.Errorf("%s is not supported", node) }
