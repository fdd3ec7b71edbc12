package openapitest

import (
	"fmt"
	"net/url"
	"strings"
)

// requestViolations compares a request that succeeded with its operation.
func (e Exchange) requestViolations(o *operation, escaped string) []string {
	var violations []string
	if o.secured && len(e.RequestHeader.Values("Authorization")) != 1 {
		violations = append(violations, "a request without a token is accepted")
	}
	segments := strings.Split(escaped[1:], "/")
	query, err := url.ParseQuery(e.Query)
	if err != nil {
		return append(violations, fmt.Sprintf("a malformed query is accepted: %v", err))
	}
	for _, p := range o.parameters {
		for _, sent := range p.sent(o, segments, query, e.RequestHeader.Values(p.name)) {
			if err := p.check(sent); err != nil {
				violations = append(violations, fmt.Sprintf("%s parameter %s is accepted as %q: %v", p.in, p.name, sent, err))
			}
		}
	}
	if o.body == nil || e.BodyIncomplete || len(e.RequestBody) == 0 && !o.bodyRequired {
		return violations
	}
	if o.form && strings.HasPrefix(e.RequestHeader.Get("Content-Type"), "multipart/form-data") {
		return violations
	}
	if err := checkJSON(o.body, e.RequestBody); err != nil {
		violations = append(violations, fmt.Sprintf("a body is accepted that is not described: %v", err))
	}
	return violations
}

// sent returns the values of a parameter in a request. An empty value in a query counts
// as absent (decision 3).
func (p parameter) sent(o *operation, segments []string, query url.Values, header []string) []string {
	switch p.in {
	case "header":
		return header
	case "query":
		var values []string
		for _, value := range query[p.name] {
			if value != "" {
				values = append(values, value)
			}
		}
		return values
	}
	for i, segment := range o.segments {
		if segment == "{"+p.name+"}" {
			value, err := url.PathUnescape(segments[i])
			if err != nil {
				value = segments[i]
			}
			return []string{value}
		}
	}
	return nil
}
