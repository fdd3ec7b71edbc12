package orderapi

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestCursorList changes each field of a filter: a cursor of one list is not valid for
// another, and valid for another page size.
func TestCursorList(t *testing.T) {
	t.Parallel()
	before := cursorList(355, order.Filter{})
	if cursorList(356, order.Filter{}) == before {
		t.Error("another merchant has the same cursors")
	}
	// No list of the interfaces has another zone.
	ofPage := []string{"Page", "PageSize", "After", "Zone"}
	for i := range reflect.TypeFor[order.Filter]().NumField() {
		var filter order.Filter
		field := reflect.ValueOf(&filter).Elem().Field(i)
		switch field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			field.SetInt(1)
		}
		name := reflect.TypeFor[order.Filter]().Field(i).Name
		testenv.Equal(t, fmt.Sprintf("a filter with another %s has the same cursors", name), slices.Contains(ofPage, name), cursorList(355, filter) == before)
	}
}
