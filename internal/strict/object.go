package strict

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object from a request body. Its members are checked JSON, not
// yet decoded.
type Object map[string]jsontext.Value

// Has reports whether the object has a member, which may be null.
func (o Object) Has(name string) bool { return o[name] != nil }

// Text returns a member that is a string. ok is false if it is absent, null or of
// another type.
func (o Object) Text(name string) (text string, ok bool) {
	value := o[name]
	if value.Kind() != '"' || json.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// Null reports whether the object has a member that is null.
func (o Object) Null(name string) bool { return o[name].Kind() == 'n' }

// ParseObject parses a JSON object strictly, as a body that decides an action must
// be parsed (decision 7): member names are case-sensitive and unique, the text is
// valid UTF-8 without lone surrogates, and nothing follows the object. It returns
// ErrInvalidPayload for anything else, and if a member has one of the known names in
// other letters: the client means that member, and an order that is rejected without
// its reason does harm.
func ParseObject(body []byte, known ...string) (Object, error) {
	var object Object
	// Unmarshal would accept null as an object without members.
	if jsontext.Value(body).Kind() != '{' {
		return nil, Detail(ErrInvalidPayload, "%s", JSONProblem(body, nil))
	}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, Detail(ErrInvalidPayload, "%s", JSONProblem(body, err))
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if err := OtherLetters(name, known...); err != nil {
			return nil, err
		}
	}
	return object, nil
}
