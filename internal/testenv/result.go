package testenv

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// NoError ends the test if err is not nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal reports the differences between two values. what names the values. An error is
// equal to one that it wraps.
func Equal[T any](t testing.TB, what string, want, got T, options ...cmp.Option) {
	t.Helper()
	if _, isError := any(want).(error); !isError && reflect.DeepEqual(want, got) {
		return // faster than cmp, but errors with one text would be equal
	}
	all := cmp.Options{cmpopts.EquateErrors(), cmp.Exporter(func(reflect.Type) bool { return true })}
	if diff := cmp.Diff(want, got, append(all, options...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Contains reports each part that a text lacks. what names the text.
func Contains(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is not in %s", what, part, text)
		}
	}
}

// Lacks reports each part that a text contains. what names the text.
func Lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s: %q is in %s", what, part, text)
		}
	}
}

// Result is what a call returned.
type Result[T any] struct {
	value T
	err   error
}

// Of returns the result of a call.
func Of[T any](value T, err error) Result[T] { return Result[T]{value, err} }

// Must returns the value. It ends the test if there is an error.
func (r Result[T]) Must(t testing.TB) T {
	t.Helper()
	NoError(t, r.err)
	return r.value
}

// Want reports a value that is not the wanted one, or an error. what names the value.
func (r Result[T]) Want(t testing.TB, what string, want T, options ...cmp.Option) {
	t.Helper()
	Equal(t, what, want, r.value, options...)
	Equal(t, what, nil, r.err)
}

// WantError reports an error that is not the wanted one. what names the call.
func (r Result[T]) WantError(t testing.TB, what string, want error) {
	t.Helper()
	Equal(t, what, want, r.err)
}
