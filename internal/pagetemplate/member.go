package pagetemplate

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
)

// member is the field or the method with a name, of values of any type. It remembers
// where the type of the last value has it: a place in a template sees one type, as a
// rule.
type member struct {
	name  string
	args  []expression
	known atomic.Pointer[resolved]
}

// resolved says where a type has a member.
type resolved struct {
	typ     reflect.Type
	address bool  // values have an address, so that methods of the pointer are theirs
	method  int   // of the type, or of its pointer; -1: it is a field
	field   []int // of the struct
}

var errNil = errors.New("nil has no fields")

// of returns the value of the member, or what the method returns.
func (m *member) of(x *execution, dot, receiver reflect.Value) (reflect.Value, error) {
	v := element(receiver)
	if !v.IsValid() {
		return v, fmt.Errorf(".%s: %w", m.name, errNil)
	}
	known := m.known.Load()
	if known == nil || known.typ != v.Type() || known.address != hasAddress(v) {
		var err error
		if known, err = m.resolve(v); err != nil {
			return v, err
		}
		m.known.Store(known)
	}
	if known.method >= 0 {
		if known.address {
			v = v.Addr()
		}
		return m.call(x, dot, v.Method(known.method))
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return v, fmt.Errorf(".%s: %w", m.name, errNil)
		}
		v = v.Elem()
	}
	if len(known.field) == 1 {
		return v.Field(known.field[0]), nil
	}
	return v.FieldByIndexErr(known.field)
}

// hasAddress reports whether the methods of the pointer to a value are members too.
func hasAddress(v reflect.Value) bool { return v.CanAddr() && v.Kind() != reflect.Pointer }

// resolve finds the member in the type of a value: a method before a field.
func (m *member) resolve(v reflect.Value) (*resolved, error) {
	found := &resolved{typ: v.Type(), address: hasAddress(v), method: -1}
	methods := found.typ
	if found.address {
		methods = reflect.PointerTo(methods)
	}
	if method, ok := methods.MethodByName(m.name); ok {
		found.method = method.Index
		return found, nil
	}
	fields := found.typ
	if fields.Kind() == reflect.Pointer {
		fields = fields.Elem()
	}
	if fields.Kind() == reflect.Struct {
		if field, ok := fields.FieldByName(m.name); ok && field.IsExported() && len(m.args) == 0 {
			found.field = field.Index
			return found, nil
		}
	}
	return nil, fmt.Errorf(".%s is not a field or method of %s", m.name, found.typ)
}

// call calls a method with the arguments.
func (m *member) call(x *execution, dot, method reflect.Value) (reflect.Value, error) {
	args := make([]reflect.Value, len(m.args))
	for i, arg := range m.args {
		var err error
		if args[i], err = arg(x, dot); err != nil {
			return args[i], err
		}
	}
	v, err := callReflect(method, args)
	if err != nil {
		return v, fmt.Errorf(".%s: %w", m.name, err)
	}
	return v, nil
}
