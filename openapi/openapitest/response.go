package openapitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// httpHeaders are headers that belong to HTTP itself, and need no description.
var httpHeaders = []string{"Connection", "Content-Length", "Content-Type", "Date", "Strict-Transport-Security", "Transfer-Encoding", "Vary"}

// jsonLines is the media type of JSON in lines. The contentSchema is that of each line.
const jsonLines = "application/x-ndjson"

// responseViolations compares a response with the one described for its status.
func (e Exchange) responseViolations(described *response) []string {
	var violations []string
	for name, values := range e.Header {
		h, ok := described.headers[name]
		if !ok {
			if !slices.Contains(httpHeaders, name) {
				violations = append(violations, fmt.Sprintf("header %s is not described", name))
			}
			continue
		}
		// The schema describes the joined value of a repeated header (RFC 9110, 5.3).
		if err := h.check(strings.Join(values, ", ")); err != nil {
			violations = append(violations, fmt.Sprintf("header %s: %v", name, err))
		}
	}
	for name, h := range described.headers {
		if h.required && len(e.Header.Values(name)) == 0 {
			violations = append(violations, fmt.Sprintf("header %s is missing", name))
		}
	}
	if fault := e.contentViolation(described); fault != "" {
		violations = append(violations, fault)
	}
	return violations
}

// contentViolation compares the body with its description. It returns an empty text
// if the body conforms.
func (e Exchange) contentViolation(described *response) string {
	if e.Status == http.StatusNotModified || len(described.content) == 0 {
		if len(e.Body) > 0 && e.Method != http.MethodHead {
			return "a body is not described"
		}
		return ""
	}
	mediaType, _, err := mime.ParseMediaType(e.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Sprintf("Content-Type %q: %v", e.Header.Get("Content-Type"), err)
	}
	schema, ok := described.content[mediaType]
	switch {
	case !ok:
		return fmt.Sprintf("content of type %s is not described", mediaType)
	case schema == nil || e.Method == http.MethodHead:
		return ""
	}
	bodies := slices.Values([][]byte{e.Body})
	if mediaType == jsonLines {
		bodies = bytes.Lines(e.Body[:bytes.LastIndexByte(e.Body, '\n')+1]) // the last one may be cut
	}
	for body := range bodies {
		if err := checkJSON(schema, body); err != nil {
			return fmt.Sprintf("body: %v", err)
		}
	}
	return ""
}

// check validates a text from a header, a path or a query.
func (v value) check(text string) error {
	if v.schema == nil {
		return nil
	}
	var decoded any = text
	if v.integer {
		// The schema may allow a text too.
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			decoded = n
		}
	}
	return v.schema.Validate(decoded)
}

func checkJSON(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
