package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
)

// knownPath is a path of an interface.
type knownPath struct {
	group    RouteGroup
	pattern  string
	segments []string // below the prefix
}

func segmentsOf(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// versionSegment is a segment that says at the beginning of a path which interface is meant.
var versionSegment = regexp.MustCompile(`^(?i:api|rest|operator|v[0-9.]{1,3})$`)

// merchantPath is a path of the interfaces of merchants.
var merchantPath = regexp.MustCompile(`^/(?:api|v2)/`)

// operatorPrefix is that of the interface of operators.
const operatorPrefix = "/operator"

// maxWrongPath is the length of the longest path, in bytes, whose meaning is searched.
const maxWrongPath = 200

// unknownPath returns the ErrRouteNotFound of a request. Its detail says where the interfaces are,
// and which of their paths are the nearest.
func (rt *Router) unknownPath(r *http.Request) error {
	detail := "Nothing is at this path."
	for _, group := range rt.groups {
		if group.Interface != "" {
			detail += " " + group.Interface + " is below " + group.Prefix + "."
		}
	}
	path := r.URL.EscapedPath()
	switch {
	case strings.HasPrefix(path, operatorPrefix) && rt.group(path).Prefix != operatorPrefix:
		detail += " The interface of operators is on a port of its own (admin-listen)."
	case merchantPath.MatchString(path) && rt.group(path).Prefix == "":
		return strict.Detail(ErrRouteNotFound, "%s", detail+" The interfaces of merchants are on another port (listen).")
	}
	switch meant := rt.meantPaths(path[:min(len(path), maxWrongPath)]); {
	case len(meant) > 0:
		detail += " Is " + strings.Join(meant, " or ") + " meant?"
	case len(rt.known) > 0:
		detail += " A slash in a value is written %2F. The paths are listed at /docs."
	}
	return strict.Detail(ErrRouteNotFound, "%s", detail)
}

// meantPaths returns the patterns that cost least to take a wrong path for.
func (rt *Router) meantPaths(path string) (meant []string) {
	segments, version := segmentsOf(path), ""
	for len(segments) > 0 && versionSegment.MatchString(segments[0]) {
		version, segments = strings.ToLower(segments[0]), segments[1:]
	}
	least := 0
	for _, known := range rt.known {
		cost, ok := known.cost(segments)
		if version != known.group.Prefix[1:] && !strings.HasSuffix(known.group.Interface, strings.Replace(version, "v", " ", 1)) {
			cost++
		}
		if ok && (meant == nil || cost <= least) {
			if cost < least {
				meant = nil
			}
			least, meant = cost, append(meant, known.pattern)
		}
	}
	slices.Sort(meant)
	return meant
}

// meantWord says which path with a word in place of a reference a misspelled word means; empty: none.
func (rt *Router) meantWord(r *http.Request) string {
	before, last := strings.CutSuffix(r.Pattern, "{orderReference}")
	word := before + strict.Nearest(r.PathValue("orderReference"), order.ReservedReferences...)
	if !last || rt.methods[word] == nil {
		return ""
	}
	return " Is " + word + " meant?"
}

// cost returns how much the segments of a wrong path differ from the pattern. ok is false if they
// are others.
func (known knownPath) cost(segments []string) (cost int, ok bool) {
	if beside := len(segments) - len(known.segments); beside != 0 {
		// Segments are missing, or there are others before.
		if len(segments) == 0 || len(known.segments) == 0 {
			return 0, false
		}
		last, meant := segments[len(segments)-1], known.segments[len(known.segments)-1]
		return 20 + max(beside, -beside), strict.Distance(strings.ToLower(last), meant) <= 1
	}
	for i, segment := range segments {
		switch pattern := known.segments[i]; {
		case segment == pattern || strings.HasPrefix(pattern, "{"):
		case strict.Nearest(segment, pattern) != "":
			cost += 2
		case i > 0 && i == len(segments)-1:
			cost += 10 // another path of the same order
		default:
			return 0, false
		}
	}
	return cost, true
}
