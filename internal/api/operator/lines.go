package operator

import (
	"bufio"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"time"

	"merchantorders/internal/web"
)

// linesType is the media type of NDJSON, one JSON document a line.
const linesType = "application/x-ndjson"

// acceptsLines reports whether the client asks for NDJSON.
func acceptsLines(r *web.Request) bool {
	for _, header := range r.Header["Accept"] {
		for _, mediaType := range strings.Split(header, ",") {
			mediaType, _, _ = strings.Cut(mediaType, ";")
			if strings.EqualFold(strings.TrimSpace(mediaType), linesType) {
				return true
			}
		}
	}
	return false
}

const (
	// linesTimeout is how long a client may take to read linesBetweenDeadlines lines.
	linesTimeout          = time.Minute
	linesBetweenDeadlines = 1000
)

// writeLines sends values as NDJSON while it reads them. An error of the first value is
// returned. A later one breaks the connection, so that the client does not take the
// response for complete.
func writeLines[T, V any](w http.ResponseWriter, r *web.Request, values iter.Seq2[T, error], view func(T) (V, error)) error {
	control := http.NewResponseController(w)
	buffer := bufio.NewWriterSize(w, 32<<10)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	begin := func() {
		h := w.Header()
		h.Set("Content-Type", linesType)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Vary", "Accept")
		w.WriteHeader(http.StatusOK)
	}
	lines := 0
	for value, err := range values {
		if err != nil && lines == 0 {
			return err
		}
		if lines == 0 {
			begin()
		}
		if lines%linesBetweenDeadlines == 0 {
			// An error means that the connection has no deadline.
			_ = control.SetWriteDeadline(time.Now().Add(linesTimeout))
		}
		lines++
		if err == nil {
			err = encodeLine(encoder, value, view)
		}
		if err != nil || r.Context().Err() != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if lines == 0 {
		begin()
	}
	if err := buffer.Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func encodeLine[T, V any](encoder *json.Encoder, value T, view func(T) (V, error)) error {
	line, err := view(value)
	if err != nil {
		return err
	}
	return encoder.Encode(line)
}
