package pagetemplate

import (
	"fmt"
	"html/template"
	"reflect"
)

// Functions are the functions that templates call, by name.
type Functions map[string]Function

// Function is a function that templates call. Func makes one from any function. The
// others make functions that are called directly: a call by reflection takes about ten
// times longer.
type Function struct {
	value any
	call  func(args []reflect.Value) (reflect.Value, error) // may not keep args
}

// Map returns the functions as html/template takes them.
func (f Functions) Map() template.FuncMap {
	all := make(template.FuncMap)
	for name, function := range f {
		all[name] = function.value
	}
	return all
}

// Func returns a function with any arguments, of one result, or of two, the second an
// error.
func Func(f any) Function {
	value := reflect.ValueOf(f)
	return Function{f, func(args []reflect.Value) (reflect.Value, error) { return callReflect(value, args) }}
}

// Func1 returns a function of one argument.
func Func1[A, R any](f func(A) R) Function {
	slow := Func(f)
	return Function{f, func(args []reflect.Value) (reflect.Value, error) {
		if len(args) == 1 {
			if a, ok := argument[A](args[0]); ok {
				return reflect.ValueOf(f(a)), nil
			}
		}
		return slow.call(args) // converts the arguments or refuses them
	}}
}

// Func2 returns a function of two arguments.
func Func2[A, B, R any](f func(A, B) R) Function {
	slow := Func(f)
	return Function{f, func(args []reflect.Value) (reflect.Value, error) {
		if len(args) == 2 {
			a, okA := argument[A](args[0])
			b, okB := argument[B](args[1])
			if okA && okB {
				return reflect.ValueOf(f(a, b)), nil
			}
		}
		return slow.call(args)
	}}
}

// FuncText returns a function that takes a text and values for it, as fmt.Sprintf does.
func FuncText(f func(text string, values ...any) string) Function {
	slow := Func(f)
	return Function{f, func(args []reflect.Value) (reflect.Value, error) {
		if len(args) == 0 || element(args[0]).Kind() != reflect.String {
			return slow.call(args)
		}
		return reflect.ValueOf(f(element(args[0]).String(), interfaces(args[1:])...)), nil
	}}
}

// interfaces returns values as a function with any arguments takes them.
func interfaces(args []reflect.Value) []any {
	if len(args) == 0 {
		return nil
	}
	all := make([]any, len(args))
	for i, arg := range args {
		if arg.IsValid() {
			all[i] = arg.Interface()
		}
	}
	return all
}

// argument returns a value as an A. A value that has an address is not copied to the
// heap for that.
func argument[A any](v reflect.Value) (a A, ok bool) {
	if v.CanAddr() {
		if p, ok := v.Addr().Interface().(*A); ok {
			return *p, true
		}
	}
	if !v.IsValid() {
		return a, false
	}
	a, ok = v.Interface().(A)
	return a, ok
}

// callReflect calls a function of any type.
func callReflect(f reflect.Value, args []reflect.Value) (reflect.Value, error) {
	t := f.Type()
	if n := t.NumIn(); len(args) != n && (!t.IsVariadic() || len(args) < n-1) {
		return reflect.Value{}, fmt.Errorf("%d arguments for a %s", len(args), t)
	}
	converted := make([]reflect.Value, len(args))
	for i, arg := range args {
		want := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			want = want.Elem()
		}
		var err error
		if converted[i], err = convert(arg, want); err != nil {
			return reflect.Value{}, err
		}
	}
	results := f.Call(converted)
	if len(results) == 2 && !results[1].IsNil() {
		return reflect.Value{}, results[1].Interface().(error)
	}
	return results[0], nil
}

// convert returns a value as an argument of a type.
func convert(v reflect.Value, want reflect.Type) (reflect.Value, error) {
	if !v.IsValid() {
		return reflect.Zero(want), nil
	}
	if v.Type().AssignableTo(want) {
		return v, nil
	}
	v = element(v)
	switch {
	case !v.IsValid():
		return reflect.Zero(want), nil
	case v.Type().AssignableTo(want):
		return v, nil
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().AssignableTo(want):
		return v.Elem(), nil
	case v.CanAddr() && reflect.PointerTo(v.Type()).AssignableTo(want):
		return v.Addr(), nil
	case v.Kind() == reflect.Int && v.CanConvert(want) && want.Kind() != reflect.String: // a number in the template
		return v.Convert(want), nil
	}
	return reflect.Value{}, fmt.Errorf("%s in place of %s", v.Type(), want)
}
