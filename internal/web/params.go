package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/strict"
)

// Names of headers that say what came of the query parameters of a request.
const (
	ignoredHeader = "Ignored-Parameters"
	appliedHeader = "Preference-Applied"
)

// Takes returns the route with its query parameters. Several names of one parameter are
// separated by |: the first one with a value counts. Other parameters have no effect. A
// misspelled filter then shows everything, so the response names them, and a client that
// prefers it is refused (decision 3).
func (route Route) Takes(params ...string) Route {
	route.params = params
	return route
}

// TakesOnly is Takes, but a request with other parameters is refused.
func (route Route) TakesOnly(params ...string) Route {
	route.params, route.noOthers = params, true
	return route
}

// Params returns the query parameters of the route.
func (route Route) Params() []string { return route.params }

// checkingParams returns the handler of the route that checks the query parameters first.
func (route Route) checkingParams(handle Handler) Handler {
	taken := append([]string{}, route.params...) // not nil
	return func(w http.ResponseWriter, r *Request) error {
		r.params = taken
		h := w.Header()
		refuse := route.noOthers
		if prefersStrict(r.Header) {
			h.Set(appliedHeader, "handling=strict")
			refuse = true
		}
		if r.URL.RawQuery == "" {
			return handle(w, r)
		}
		query := ParseRawQuery(r.URL.RawQuery)
		ignored, err := query.ignored(taken)
		if len(ignored) > 0 {
			h.Add("Vary", "Prefer")
		}
		if err = cmp.Or(query.Err(), err); refuse && err != nil {
			return err
		}
		if len(ignored) > 0 {
			h.Set(ignoredHeader, nameList(ignored))
		}
		return handle(w, r)
	}
}

// paramOf returns the parameter with a name; empty: there is none.
func paramOf(name string, params []string) string {
	for _, param := range params {
		for known := range strings.SplitSeq(param, "|") {
			if known == name {
				return param
			}
		}
	}
	return ""
}

// ignored returns the names in the query that have no effect, and a *strict.ParamError about
// the first one.
func (q *Query) ignored(params []string) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		shown := tokens.ReplaceAllString(name, "(token)")
		problem := strict.ParamError{Name: strict.Echo(shown), Problem: "is not a known parameter"}
		param := paramOf(name, params)
		switch counts := q.First(param); {
		case param == "":
			problem.Hint = knownHint(name, params)
		case counts != name && slices.ContainsFunc(q.values[name], func(value string) bool { return value != "" }):
			problem.Problem = "has no effect beside " + counts
		default:
			continue
		}
		if names = append(names, shown); err == nil {
			err = &problem
		}
	}
	return names, err
}

// knownHint returns which parameters a route takes, and which one an unknown name may mean.
func knownHint(name string, params []string) string {
	if len(params) == 0 {
		return "; there are none here"
	}
	var all, first []string
	for _, param := range params {
		names := strings.Split(param, "|")
		all, first = append(all, names...), append(first, names[0])
	}
	return strict.KnownHint(name, first, all...)
}

// Bounds of the header of ignored parameters, in bytes.
const (
	maxIgnoredName = 64
	maxIgnored     = 500
)

// nameList returns names as tokens (RFC 9110 5.6.2): percent-encoded, and with "..." for what
// is too long or empty.
func nameList(names []string) string {
	const more = "..."
	var list strings.Builder
	for _, name := range names {
		if list.Len() > 0 {
			list.WriteString(", ")
		}
		if list.Len() > maxIgnored-maxIgnoredName {
			list.WriteString(more)
			break
		}
		name = cmp.Or(url.QueryEscape(name), more)
		if len(name) > maxIgnoredName {
			name = name[:maxIgnoredName-len(more)] + more
		}
		list.WriteString(name)
	}
	return list.String()
}

// preference is a preference of the header Prefer (RFC 7240), which may have parameters: its
// name and its value.
var preference = regexp.MustCompile(`[ \t]*([^\s,;="]*)[ \t]*(?:=[ \t]*([^\s,;="]+|"(?:[^"\\]|\\.)*"))?(?:[^,"]|"(?:[^"\\]|\\.)*")*(?:,|$)`)

// prefersStrict reports whether a client prefers an error to a parameter without effect. The
// first preference with a name counts.
func prefersStrict(h http.Header) bool {
	values := h.Values("Prefer")
	if len(values) == 0 {
		return false
	}
	for _, match := range preference.FindAllStringSubmatch(strings.Join(values, ","), -1) {
		if strings.EqualFold(match[1], "handling") {
			return strings.EqualFold(strings.ReplaceAll(strings.Trim(match[2], `"`), `\`, ""), "strict")
		}
	}
	return false
}
