package docstest

import (
	"reflect"
	"strings"
)

// Fields returns the paths of all JSON fields of a Go value in declaration order,
// such as "customer.email". Arrays and pointers count as their elements. A type
// with its own MarshalJSON counts as one field.
func Fields(value any) []string { return fieldsOf(reflect.TypeOf(value), "") }

func fieldsOf(t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return []string{path}
	}
	var paths []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		below := name
		if path != "" {
			below = path + "." + name
		}
		paths = append(paths, fieldsOf(t.Field(i).Type, below)...)
	}
	return paths
}
