package openapitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// general are headers of answers that belong to HTTP itself, written by
// net/http for the most part.
var general = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// answerFaults holds an answer to the response that is described for its
// status.
func (e Exchange) answerFaults(described *response) []string {
	var faults []string
	for name, values := range e.Header {
		h, ok := described.headers[name]
		if !ok {
			if !slices.Contains(general, name) {
				faults = append(faults, fmt.Sprintf("header %s is not described", name))
			}
			continue
		}
		for _, value := range values {
			if err := h.check(value); err != nil {
				faults = append(faults, fmt.Sprintf("header %s: %v", name, err))
			}
		}
	}
	for name, h := range described.headers {
		if h.required && len(e.Header.Values(name)) == 0 {
			faults = append(faults, fmt.Sprintf("header %s is missing", name))
		}
	}
	if fault := e.contentFault(described); fault != "" {
		faults = append(faults, fault)
	}
	return faults
}

// contentFault looks at the answer's body; empty: nothing is wrong with it.
func (e Exchange) contentFault(described *response) string {
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
	if err := checkJSON(schema, e.Body); err != nil {
		return fmt.Sprintf("body: %v", err)
	}
	return ""
}

// check holds a text from a header, a path or a query to its schema.
func (v value) check(text string) error {
	if v.schema == nil {
		return nil
	}
	var what any = text
	if v.integer {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		what = n
	}
	return v.schema.Validate(what)
}

func checkJSON(schema *jsonschema.Schema, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
