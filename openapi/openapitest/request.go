package openapitest

import (
	"fmt"
	"net/url"
	"strings"
)

// requestFaults holds a request that was answered with a success to its
// operation.
func (e Exchange) requestFaults(o *operation, escaped string) []string {
	var faults []string
	if o.secured && len(e.RequestHeader.Values("Authorization")) != 1 {
		faults = append(faults, "a request without a token is taken")
	}
	segments := strings.Split(escaped[1:], "/")
	query, err := url.ParseQuery(e.Query)
	if err != nil {
		return append(faults, fmt.Sprintf("a malformed query is taken: %v", err))
	}
	for _, p := range o.parameters {
		for _, sent := range p.sent(o, segments, query, e.RequestHeader.Values(p.name)) {
			if err := p.check(sent); err != nil {
				faults = append(faults, fmt.Sprintf("%s parameter %s is taken as %q: %v", p.in, p.name, sent, err))
			}
		}
	}
	if o.body == nil || e.BodyUnknown || len(e.RequestBody) == 0 && !o.needsBody {
		return faults
	}
	if err := checkJSON(o.body, e.RequestBody); err != nil {
		faults = append(faults, fmt.Sprintf("a body is taken that is not described: %v", err))
	}
	return faults
}

// sent returns what a request has for a parameter. An empty value in a query is
// as if absent (decision 3).
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
