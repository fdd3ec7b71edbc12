package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// JSONType is the media type of JSON. It has no parameter, as the published interface
// writes it: RFC 8259 defines none (decision 5).
const JSONType = "application/json"

// Header values that many responses have. They are shared and never changed.
var (
	contentTypeJSON = []string{JSONType}
	noSniff         = []string{"nosniff"}
	noStore         = []string{"no-store"}
)

func contentLength(body []byte) []string { return []string{strconv.Itoa(len(body))} }

// setJSONHeaders sets the headers of a JSON response that is not to be stored.
func setJSONHeaders(h http.Header, body []byte) {
	h["Content-Type"] = contentTypeJSON
	h["X-Content-Type-Options"] = noSniff
	h["Cache-Control"] = noStore
	h["Content-Length"] = contentLength(body)
}

// WriteJSON sends a response with a status and a value as JSON. It encodes the
// whole value before it sends anything: after an error another response can still
// be sent.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	return withJSON(value, func(body []byte) {
		setJSONHeaders(w.Header(), body)
		w.WriteHeader(status)
		_, _ = w.Write(body) // an error means that the client disconnected
	})
}

// writeResponse sends a response, whose body may be a Page. Like WriteJSON, it sends
// nothing if it returns an error.
func writeResponse(w http.ResponseWriter, response Response) error {
	maps.Copy(w.Header(), response.Header)
	if page, ok := response.Body.(Page); ok {
		page.Write(w, response.Status)
		return nil
	}
	return WriteJSON(w, response.Status, response.Body)
}

// jsonBuffers hold *bytes.Buffer for bodies to be sent.
var jsonBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBuffer is the capacity, in bytes, of the largest buffer that is pooled.
const maxPooledBuffer = 256 << 10

// withJSON encodes a value as JSON and calls use with it. The bytes are valid until
// use returns.
func withJSON(value any, use func(body []byte)) error {
	buffer := jsonBuffers.Get().(*bytes.Buffer)
	buffer.Reset()
	defer func() {
		if buffer.Cap() <= maxPooledBuffer {
			jsonBuffers.Put(buffer)
		}
	}()
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	use(buffer.Bytes())
	return nil
}

// EscapeLines returns lines of JSON without U+0085, which programs such as Python's
// splitlines take for the end of a line. encoding/json escapes the other characters of the
// kind.
func EscapeLines(lines []byte) []byte {
	nextLine := []byte("\u0085")
	if !bytes.Contains(lines, nextLine) {
		return lines
	}
	return bytes.ReplaceAll(lines, nextLine, []byte(`\u0085`))
}

// TimeText returns a time as every JSON body shows it, except for the published ones of
// orders.
func TimeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// TimeOrNull is TimeText, but nil for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(TimeText(t))
}

// Collect returns what a function returns for each element of a list; never nil, which is
// null in a body.
func Collect[T, V any](list []T, of func(T) V) []V {
	all := make([]V, len(list))
	for i, element := range list {
		all[i] = of(element)
	}
	return all
}

// NonZero returns a pointer to a value; nil, which is null in a body, for the zero value.
func NonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
