package web

import (
	"net/http"
	"slices"
)

// ReadObject reads a body that is an object with members of certain names only: a
// misspelled limit must not count as absent. It returns ErrInvalidPayload or a
// *ParamError.
func ReadObject(r *http.Request, names ...string) (Object, error) {
	body, err := ReadBody(r, MaxBody)
	if err != nil {
		return nil, err
	}
	return parseKnown(body, names)
}

// ReadOptionalObject is ReadObject, but an empty body is an object without members.
func ReadOptionalObject(r *http.Request, names ...string) (Object, error) {
	body, err := ReadBody(r, MaxBody)
	if err != nil || len(body) == 0 {
		return nil, err
	}
	return parseKnown(body, names)
}

func parseKnown(body []byte, names []string) (Object, error) {
	object, err := ParseObject(body)
	if err != nil {
		return nil, err
	}
	for name := range object {
		if !slices.Contains(names, name) {
			return nil, &ParamError{Name: Echo(name), Problem: "is not a known key"}
		}
	}
	return object, nil
}
