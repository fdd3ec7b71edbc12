package web

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	strictjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Header values that many responses have. They are shared and never changed.
var (
	contentTypeJSON = []string{"application/json; charset=utf-8"}
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

// TimeText returns a time as every JSON body shows it, except for the published ones of
// orders.
func TimeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// TimeOrNull is TimeText, but nil for the zero time.
func TimeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := TimeText(t)
	return &text
}

// NonZero returns a pointer to a value; nil, which is null in a body, for the zero value.
func NonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// Object is a JSON object from a request body. Its members are checked JSON, not
// yet decoded.
type Object map[string]jsontext.Value

// Has reports whether the object has a member, which may be null.
func (o Object) Has(name string) bool { return o[name] != nil }

// Text returns a member that is a string. ok is false if it is absent, null or of
// another type.
func (o Object) Text(name string) (text string, ok bool) {
	value := o[name]
	if value.Kind() != '"' || strictjson.Unmarshal(value, &text) != nil {
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
	if jsontext.Value(body).Kind() != '{' || strictjson.Unmarshal(body, &object) != nil {
		return nil, ErrInvalidPayload
	}
	for name := range object {
		for _, meant := range known {
			if name != meant && strings.EqualFold(name, meant) {
				return nil, ErrInvalidPayload
			}
		}
	}
	return object, nil
}
