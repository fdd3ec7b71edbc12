package operator

import (
	"iter"
	"net/http"
	"strings"

	"merchantorders/internal/web"
)

// acceptsLines reports whether the client asks for NDJSON.
func acceptsLines(r *web.Request) bool {
	for _, header := range r.Header["Accept"] {
		for _, mediaType := range strings.Split(header, ",") {
			mediaType, _, _ = strings.Cut(mediaType, ";")
			if strings.EqualFold(strings.TrimSpace(mediaType), web.LinesType) {
				return true
			}
		}
	}
	return false
}

// writeLines sends values as NDJSON while it reads them. An error of the first value is
// returned. A later one breaks the connection, so that the client does not take the
// response for complete.
func writeLines[T, V any](w http.ResponseWriter, r *web.Request, values iter.Seq2[T, error], view func(T) (V, error)) error {
	s, end := web.OpenResponse(w, r)
	defer end()
	sent := false
	begin := func() {
		if !sent {
			s.ResponseHeader().Set("Vary", "Accept")
		}
		sent = true
	}
	for value, err := range values {
		if err != nil && !sent {
			return err
		}
		if begin(); err == nil {
			err = s.SendLine(view(value))
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if begin(); s.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}
