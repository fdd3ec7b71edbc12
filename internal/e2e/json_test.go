package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/testenv"
)

// anyText stands in an expected JSON for a text that is there, whatever it
// says, as in the decisions.
const anyText = "..."

// anyNumber stands in an expected JSON for a number that is there.
const anyNumber = "#"

// parse reads a JSON text that has to be a single value without a key given
// twice. Numbers keep their spelling, so that 1, 1.0 and "1" all differ.
func parse(t testing.TB, text string) any {
	t.Helper()
	if !jsontext.Value(text).IsValid() {
		t.Fatalf("not strict JSON: %s", text)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("not JSON: %v: %s", err, text)
	}
	return value
}

// wantJSON compares two JSON texts: the same keys, values and types.
func wantJSON(t testing.TB, what, got, want string) {
	t.Helper()
	expected := parse(t, want)
	testenv.Equal(t, what, expected, forgive(expected, parse(t, got)))
}

// forgive returns got with anyText wherever want has it and got a text.
func forgive(want, got any) any {
	switch want := want.(type) {
	case string:
		if text, ok := got.(string); ok && want == anyText && text != "" {
			return want
		}
		if _, ok := got.(json.Number); ok && want == anyNumber {
			return want
		}
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return got
		}
		for key, value := range want {
			if given, ok := object[key]; ok {
				object[key] = forgive(value, given)
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return got
		}
		for i := range want {
			list[i] = forgive(want[i], list[i])
		}
	}
	return got
}

// at returns the JSON text of a part of a JSON text, empty when there is none.
// The path has dots between keys, as in "order.customer.email"; a list's
// element is named by its index.
func at(t testing.TB, text, path string) string {
	t.Helper()
	value := parse(t, text)
	for key := range strings.SplitSeq(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			var ok bool
			if value, ok = inner[key]; !ok {
				return ""
			}
		case []any:
			index := int(number(t, key))
			if index >= len(inner) {
				return ""
			}
			value = inner[index]
		default:
			return ""
		}
	}
	return asJSON(t, value)
}

// textAt is at for a value that has to be text.
func textAt(t testing.TB, text, path string) string {
	t.Helper()
	var value string
	if err := json.Unmarshal([]byte(at(t, text, path)), &value); err != nil {
		t.Fatalf("%s is no text in %s", path, text)
	}
	return value
}

// numberAt is at for a value that has to be a whole number.
func numberAt(t testing.TB, text, path string) int64 {
	t.Helper()
	return number(t, at(t, text, path))
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	var n int64
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatalf("%q is no whole number", text)
	}
	return n
}

// asJSON writes a value as JSON without escapes that are not needed.
func asJSON(t testing.TB, value any) string {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	testenv.NoError(t, encoder.Encode(value))
	return strings.TrimSuffix(text.String(), "\n")
}
