package operator

import (
	"net/http"
	"slices"

	"merchantorders/internal/web"
)

// readObject reads a body that is an object with members of certain names only: a
// misspelled limit must not count as absent. It returns web.ErrInvalidPayload or a
// *web.ParamError.
func readObject(r *http.Request, names ...string) (web.Object, error) {
	body, err := web.ReadBody(r, web.MaxBody)
	if err != nil {
		return nil, err
	}
	object, err := web.ParseObject(body)
	if err != nil {
		return nil, err
	}
	for name := range object {
		if !slices.Contains(names, name) {
			return nil, &web.ParamError{Name: web.Echo(name), Problem: "is not a known key"}
		}
	}
	return object, nil
}
