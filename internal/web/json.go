package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"

	strictjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// bodies are buffers for answers on their way out.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKeptBody is the capacity, in bytes, above which a buffer is not kept.
const maxKeptBody = 256 << 10

// takeBuffer returns an empty buffer, and what to call when it is not needed any
// more.
func takeBuffer() (*bytes.Buffer, func()) {
	buffer := bodies.Get().(*bytes.Buffer)
	buffer.Reset()
	return buffer, func() {
		if buffer.Cap() <= maxKeptBody {
			bodies.Put(buffer)
		}
	}
}

// WriteJSON answers with a status and a value as JSON. The value is encoded
// whole before the first byte goes out, so that an error can still be answered.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	return withJSON(value, func(body []byte) {
		h := w.Header()
		h["Content-Type"] = typeJSON
		h["X-Content-Type-Options"] = noSniff
		h["Cache-Control"] = noStore
		h["Content-Length"] = lengthOf(body)
		w.WriteHeader(status)
		// The client may be gone; there is nobody left to tell.
		_, _ = w.Write(body)
	})
}

// withJSON calls use with a value as JSON, which is good until use returns.
func withJSON(value any, use func(body []byte)) error {
	body, giveBack := takeBuffer()
	defer giveBack()
	encoder := json.NewEncoder(body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	use(body.Bytes())
	return nil
}

// Object is a JSON object from a request body, its members not yet read.
type Object map[string]jsontext.Value

// Has reports whether the object has a member, null included.
func (o Object) Has(name string) bool { return o[name] != nil }

// Text returns a member that is text. ok is false when it is absent, null or
// of another type.
func (o Object) Text(name string) (text string, ok bool) {
	value := o[name]
	if value.Kind() != '"' || strictjson.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// Null reports whether the object has a member that is null.
func (o Object) Null(name string) bool { return o[name].Kind() == 'n' }

// ParseObject reads a JSON object strictly, as a body that decides an action
// must be (decision 7): names letter for letter, no name twice, valid UTF-8, no
// lone surrogates, nothing after it. Anything else is ErrPayload.
func ParseObject(body []byte) (Object, error) {
	var object Object
	// null would pass as an object without members.
	if jsontext.Value(body).Kind() != '{' || strictjson.Unmarshal(body, &object) != nil {
		return nil, ErrInvalidPayload
	}
	return object, nil
}
