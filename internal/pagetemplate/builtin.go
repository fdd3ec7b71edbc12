package pagetemplate

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// builtins are the predefined functions of the template language that pages use.
// "and" and "or" are compiled otherwise.
var builtins = Functions{
	"print": {call: func(args []reflect.Value) (reflect.Value, error) {
		return reflect.ValueOf(fmt.Sprint(interfaces(args)...)), nil
	}},
	"printf": FuncText(fmt.Sprintf),
	"not":    {call: not},
	"len":    {call: length},
	"index":  {call: index},
	"eq":     {call: equal},
	"ne":     comparison(func(order int) bool { return order != 0 }),
	"lt":     comparison(func(order int) bool { return order < 0 }),
	"le":     comparison(func(order int) bool { return order <= 0 }),
	"gt":     comparison(func(order int) bool { return order > 0 }),
	"ge":     comparison(func(order int) bool { return order >= 0 }),
}

var errArguments = errors.New("wrong number of arguments")

// not negates the truth of a value.
func not(args []reflect.Value) (reflect.Value, error) {
	if len(args) != 1 {
		return reflect.Value{}, errArguments
	}
	return reflect.ValueOf(!isTrue(args[0])), nil
}

// equal reports whether the first value equals one of the others.
func equal(args []reflect.Value) (reflect.Value, error) {
	if len(args) < 2 {
		return reflect.Value{}, errArguments
	}
	for _, other := range args[1:] {
		if order, err := compare(args[0], other); err != nil || order == 0 {
			return reflect.ValueOf(true), err
		}
	}
	return reflect.ValueOf(false), nil
}

// comparison returns a function that compares two values.
func comparison(holds func(order int) bool) Function {
	return Function{call: func(args []reflect.Value) (reflect.Value, error) {
		if len(args) != 2 {
			return reflect.Value{}, errArguments
		}
		order, err := compare(args[0], args[1])
		return reflect.ValueOf(holds(order)), err
	}}
}

// compare compares two texts, numbers or truth values.
func compare(a, b reflect.Value) (int, error) {
	a, b = element(a), element(b)
	switch {
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String()), nil
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int()), nil
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint()), nil
	case a.CanFloat() && b.CanFloat():
		return cmp.Compare(a.Float(), b.Float()), nil
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool:
		if a.Bool() == b.Bool() {
			return 0, nil
		}
		return 1, nil
	}
	return 0, fmt.Errorf("%v and %v are not comparable", a.Kind(), b.Kind())
}

// length returns the number of elements of a collection, or of bytes of a text.
func length(args []reflect.Value) (reflect.Value, error) {
	if len(args) != 1 {
		return reflect.Value{}, errArguments
	}
	v := element(args[0])
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.String:
		return reflect.ValueOf(v.Len()), nil
	}
	return reflect.Value{}, fmt.Errorf("%v has no length", v.Kind())
}

// index returns an element of a map or a slice. It is the zero value if a map has none.
func index(args []reflect.Value) (reflect.Value, error) {
	if len(args) != 2 {
		return reflect.Value{}, errArguments
	}
	all, key := element(args[0]), element(args[1])
	switch {
	case all.Kind() == reflect.Map:
		key, err := convert(key, all.Type().Key())
		if err != nil {
			return reflect.Value{}, err
		}
		if v := all.MapIndex(key); v.IsValid() {
			return v, nil
		}
		return reflect.Zero(all.Type().Elem()), nil
	case all.Kind() == reflect.Slice && key.CanInt() && key.Int() >= 0 && key.Int() < int64(all.Len()):
		return all.Index(int(key.Int())), nil
	}
	return reflect.Value{}, fmt.Errorf("%v has no element %v", all.Kind(), key)
}
