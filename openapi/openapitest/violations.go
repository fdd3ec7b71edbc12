package openapitest

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Exchange is a request and its response.
type Exchange struct {
	Method         string
	Path           string // escaped, as sent
	Query          string // likewise
	RequestHeader  http.Header
	RequestBody    []byte
	BodyIncomplete bool // RequestBody is not all that was sent
	Status         int
	Header         http.Header
	Body           []byte
}

// Violations returns what the documents do not describe of an exchange, one line each.
// A request is compared only if it succeeded: what the service accepts must be
// described, what it refuses need not be.
func (c *Contract) Violations(e Exchange) []string {
	d := c.documentOf(e.Path)
	at := d.plainPath(e.Path)
	found := d.matching(at)
	var violations []string
	switch o := operationOf(found, e.Method); {
	case len(found) == 0:
		violations = e.expectStatus(http.StatusNotFound, d.unknownPath, "an undescribed path")
	case o == nil:
		described := cmp.Or(found[0].unknownMethod, d.unknownMethod)
		violations = append(e.expectStatus(http.StatusMethodNotAllowed, described, "an undescribed method"), e.allowViolations(found)...)
	default:
		described, ok := o.responses[e.Status]
		if !ok {
			violations = append(violations, fmt.Sprintf("status %d is not described", e.Status))
			break
		}
		violations = e.responseViolations(described)
		if e.Status < http.StatusBadRequest {
			violations = append(violations, e.requestViolations(o, at)...)
		}
	}
	for i := range violations {
		violations[i] = fmt.Sprintf("%s %s, status %d: %s", e.Method, e.Path, e.Status, violations[i])
	}
	return violations
}

// documentOf returns the document of a path.
func (c *Contract) documentOf(escaped string) *document {
	first, _, _ := strings.Cut(strings.TrimPrefix(escaped, "/"), "/")
	var last *document
	for _, d := range c.documents {
		if d.firstSegments[first] {
			return d
		}
		if d.name == fallback {
			last = d
		}
	}
	return last
}

// matching returns the operations of a path: of several paths, of that which is the first
// to have a word where the others have a parameter.
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
	slices.SortStableFunc(found, byWords)
	return slices.DeleteFunc(found, func(o *operation) bool { return byWords(o, found[0]) != 0 })
}

// byWords compares operations: first the one that is the first to have a word.
func byWords(a, b *operation) int {
	return slices.CompareFunc(a.segments, b.segments, func(a, b string) int {
		return strings.Compare(strconv.FormatBool(isParameter(a)), strconv.FormatBool(isParameter(b)))
	})
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// plainPath returns a path as the document has it: without a slash at its end, and
// without runs of slashes if those count as one.
func (d *document) plainPath(escaped string) string {
	for d.mergeSlashes && strings.Contains(escaped, "//") {
		escaped = strings.ReplaceAll(escaped, "//", "/")
	}
	if len(escaped) > 1 {
		return strings.TrimSuffix(escaped, "/")
	}
	return escaped
}

// operationOf returns the operation of a method, nil if there is none. HEAD counts as
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

// expectStatus compares the response to a request that the document does not describe
// with the described 404 or 405.
func (e Exchange) expectStatus(status int, described *response, what string) []string {
	if e.Status != status {
		return []string{fmt.Sprintf("%s does not get %d", what, status)}
	}
	return e.responseViolations(described)
}

// allowViolations compares Allow with the methods of a path.
func (e Exchange) allowViolations(operations []*operation) []string {
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
