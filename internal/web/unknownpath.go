package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

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
	if strings.HasPrefix(path, operatorPrefix) && rt.group(path).Prefix != operatorPrefix {
		detail += " The interface of operators is on a port of its own (admin-listen)."
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

// cost returns how much the segments of a wrong path differ from the pattern. ok is false if they
// are others.
func (known knownPath) cost(segments []string) (cost int, ok bool) {
	if len(segments) != len(known.segments) {
		return 0, false
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
