package openapitest

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Exchange is a request and its answer.
type Exchange struct {
	Method        string
	Path          string // escaped, as it was sent
	Query         string // likewise
	RequestHeader http.Header
	RequestBody   []byte
	BodyUnknown   bool // RequestBody is not all that was sent
	Status        int
	Header        http.Header
	Body          []byte
}

// Faults returns what of an exchange the documents do not describe, a line
// each. A request is held to them if it was answered with a success: what a
// service takes has to be described, what it refuses is the tests' affair.
func (c *Contract) Faults(e Exchange) []string {
	d, at := c.responsible(e.Path), withoutTrailingSlash(e.Path)
	found := d.matching(at)
	var faults []string
	switch o := operationOf(found, e.Method); {
	case len(found) == 0:
		faults = e.wantAnswer(http.StatusNotFound, d.unknownPath, "an undescribed path")
	case o == nil:
		faults = append(e.wantAnswer(http.StatusMethodNotAllowed, d.unknownMethod, "an undescribed method"), e.allowFaults(found)...)
	default:
		described, ok := o.responses[e.Status]
		if !ok {
			faults = append(faults, fmt.Sprintf("status %d is not described", e.Status))
			break
		}
		faults = e.answerFaults(described)
		if e.Status < http.StatusBadRequest {
			faults = append(faults, e.requestFaults(o, at)...)
		}
	}
	for i := range faults {
		faults[i] = fmt.Sprintf("%s %s, status %d: %s", e.Method, e.Path, e.Status, faults[i])
	}
	return faults
}

// responsible returns the document that a path belongs to.
func (c *Contract) responsible(escaped string) *document {
	first, _, _ := strings.Cut(strings.TrimPrefix(escaped, "/"), "/")
	var last *document
	for _, d := range c.documents {
		if d.parts[first] {
			return d
		}
		if d.name == fallback {
			last = d
		}
	}
	return last
}

// matching returns the operations of a path.
func (d *document) matching(escaped string) []*operation {
	if !strings.HasPrefix(escaped, "/") || path.Clean(escaped) != escaped {
		return nil
	}
	segments := strings.Split(escaped[1:], "/")
	var found []*operation
	for _, o := range d.operations {
		if slices.EqualFunc(o.segments, segments, func(described, sent string) bool {
			return isParameter(described) && sent != "" || described == sent
		}) {
			found = append(found, o)
		}
	}
	return found
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

func withoutTrailingSlash(escaped string) string {
	if len(escaped) > 1 {
		return strings.TrimSuffix(escaped, "/")
	}
	return escaped
}

// operationOf returns the operation of a method, nil if there is none. HEAD is
// GET (decision 5).
func operationOf(operations []*operation, method string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, o := range operations {
		if o.method == method {
			return o
		}
	}
	return nil
}

// wantAnswer holds the answer to a request that the document does not describe
// to the only one that there may be.
func (e Exchange) wantAnswer(status int, described *response, what string) []string {
	if e.Status != status {
		return []string{fmt.Sprintf("%s is not answered with %d", what, status)}
	}
	return e.answerFaults(described)
}

// allowFaults compares Allow with the methods that a path has.
func (e Exchange) allowFaults(operations []*operation) []string {
	var allowed []string
	for _, o := range operations {
		allowed = append(allowed, o.method)
		if o.method == http.MethodGet {
			allowed = append(allowed, http.MethodHead)
		}
	}
	slices.Sort(allowed)
	if want, got := strings.Join(allowed, ", "), e.Header.Get("Allow"); got != want {
		return []string{fmt.Sprintf("Allow is %q, the document has %q", got, want)}
	}
	return nil
}
