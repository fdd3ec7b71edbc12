package strict

import (
	"maps"
	"slices"
)

// Body is an object in the body of a request that has members of certain names only: a
// misspelled limit must not count as absent. Methods that parse a member return its zero
// value for one that is wrong. Err returns ErrInvalidPayload if the body is no object.
type Body struct {
	*FirstError
	Object
	path string // of the object in the body, such as "limits."; empty: the body itself
}

// NoBody returns a body without members, whose error is err.
func NoBody(err error) *Body { return &Body{FirstError: &FirstError{err}} }

// ParseBody parses an object with members of certain names only.
func ParseBody(text []byte, names ...string) *Body {
	object, err := ParseObject(text)
	b := &Body{FirstError: &FirstError{err}, Object: object}
	b.allow(names)
	return b
}

// allow refuses members with other names.
func (b *Body) allow(names []string) {
	for _, name := range slices.Sorted(maps.Keys(b.Object)) {
		if b.err == nil && !slices.Contains(names, name) {
			b.err = &ParamError{Name: b.path + Echo(name), Problem: "is not a known key", Hint: KnownHint(name, names)}
		}
	}
}

// Text parses a member that is text. problemOf returns what is wrong with a text; empty if
// it is valid.
func (b *Body) Text(name string, problemOf func(string) string) string {
	text, ok := b.Object.Text(name)
	switch {
	case ok:
		b.Refuse(b.path+name, problemOf(text))
	case b.Has(name):
		b.Refuse(b.path+name, "must be text")
	default:
		b.Refuse(b.path+name, "is required")
	}
	return text
}

// Valid parses a member that is text for which a function is true. problem is what is wrong
// with any other member.
func (b *Body) Valid(name string, valid func(string) bool, problem string) string {
	text, ok := b.Object.Text(name)
	if !ok || !valid(text) {
		b.Refuse(b.path+name, problem)
	}
	return text
}

// Int parses a member that is a whole number from minimum to maximum.
func (b *Body) Int(name string, minimum, maximum int64) int64 {
	n, problem := ParseInt(string(b.Object[name]), minimum, maximum) // the JSON of a number is its text
	b.Refuse(b.path+name, problem)
	return n
}

// Bool parses a member that is true or false.
func (b *Body) Bool(name string) bool {
	text := string(b.Object[name])
	if text != "true" && text != "false" {
		b.Refuse(b.path+name, "must be true or false")
	}
	return text == "true"
}

// Inner parses a member that is an object with members of certain names only.
func (b *Body) Inner(name string, names ...string) *Body {
	object, err := ParseObject(b.Object[name])
	if err != nil {
		b.Refuse(b.path+name, "must be an object or null")
	}
	inner := &Body{FirstError: b.FirstError, Object: object, path: b.path + name + "."}
	inner.allow(names)
	return inner
}
