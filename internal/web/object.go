package web

import (
	"maps"
	"net/http"
	"slices"
)

// ReadObject reads a body that is an object with members of certain names only: a
// misspelled limit must not count as absent. It returns ErrInvalidPayload or a
// *ParamError.
func ReadObject(r *http.Request, names ...string) (Object, error) {
	return ReadLargeObject(r, MaxBody, names...)
}

// ReadLargeObject is ReadObject for a body of at most limit bytes.
func ReadLargeObject(r *http.Request, limit int64, names ...string) (Object, error) {
	body, err := ReadBody(r, limit)
	if err != nil {
		return nil, err
	}
	return ParseKnownObject(body, names...)
}

// ReadOptionalObject is ReadObject, but an empty body is an object without members.
func ReadOptionalObject(r *http.Request, names ...string) (Object, error) {
	body, err := ReadBody(r, MaxBody)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	return ParseKnownObject(body, names...)
}

// ParseKnownObject parses an object with members of certain names only.
func ParseKnownObject(body []byte, names ...string) (Object, error) {
	object, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	return object, object.Allow("", names...)
}

// Allow returns a *ParamError if the object has a member with another name. path
// precedes the names in the error, such as "limits." for the members of limits.
func (o Object) Allow(path string, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(names, name) {
			return &ParamError{Name: path + Echo(name), Problem: "is not a known key"}
		}
	}
	return nil
}
