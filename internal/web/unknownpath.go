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
var versionSegment = regexp.MustCompile(`^(?i:api|rest|v[0-9.]{1,3})$`)

// maxWrongPath is the length of the longest path, in bytes, for which the nearest one is searched.
const maxWrongPath = 200

// unknownPath returns the ErrRouteNotFound of a request. Its detail says where the interfaces are,
// and which of their paths is the nearest.
func (rt *Router) unknownPath(r *http.Request) error {
	var places []string
	for _, group := range rt.groups {
		if group.Interface != "" {
			places = append(places, group.Interface+" is below "+group.Prefix)
		}
	}
	if len(places) == 0 {
		return ErrRouteNotFound
	}
	detail := "Nothing is at this path: " + strings.Join(places, ", ") + "."
	if meant := rt.meantPaths(r.URL.EscapedPath()); len(meant) > 0 {
		detail += " Is " + strings.Join(meant, " or ") + " meant?"
	}
	return strict.Detail(ErrRouteNotFound, "%s", detail)
}

// meantPaths returns the patterns that a wrong path may mean: the one with as many segments after
// those of the version and the fewest letters wrong, or those that differ in the last segment.
func (rt *Router) meantPaths(path string) (meant []string) {
	if len(path) > maxWrongPath {
		return nil
	}
	segments, version := segmentsOf(path), ""
	for len(segments) > 0 && versionSegment.MatchString(segments[0]) {
		version, segments = strings.ToLower(segments[0]), segments[1:]
	}
	last := len(segments) - 1
	best := 2*len(segments) + 2
	var siblings []string
	for _, known := range slices.Backward(rt.known) {
		wrong, ok := misspelled(segments, known.segments)
		score := 2 * wrong
		if version != known.group.Prefix[1:] && !strings.HasSuffix(known.group.Interface, strings.Replace(version, "v", " ", 1)) {
			score++
		}
		if ok && score < best {
			best, meant = score, []string{known.pattern}
		}
		if last > 0 && len(known.segments) == len(segments) && score == 0 {
			if wrong, ok := misspelled(segments[:last], known.segments[:last]); ok && wrong == 0 && !slices.Contains(siblings, known.pattern) {
				siblings = append(siblings, known.pattern)
			}
		}
	}
	if meant == nil {
		slices.Sort(siblings)
		meant = siblings
	}
	return meant
}

// misspelled returns how many segments of a path are misspelled; ok is false if they are not those
// of a pattern.
func misspelled(segments, pattern []string) (wrong int, ok bool) {
	if len(segments) != len(pattern) {
		return 0, false
	}
	for i, segment := range segments {
		switch {
		case segment == pattern[i] || strings.HasPrefix(pattern[i], "{"):
		case strict.Nearest(segment, pattern[i]) != "":
			wrong++
		default:
			return 0, false
		}
	}
	return wrong, true
}
