package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// OrderTag is the entity tag of a single order, the same in both versions:
// "<number>-<revision>" in quotes. It changes with everything that an order
// shows, and with nothing else.
func OrderTag(number, revision int64) string {
	return `"` + strconv.FormatInt(number, 10) + "-" + strconv.FormatInt(revision, 10) + `"`
}

// gzipSuffix ends a tag, within its quotes, in the answers that are compressed.
const gzipSuffix = "-gzip"

// Tags are the entity tags of a header field such as If-Match.
type EntityTags struct {
	any    bool     // *
	strong []string // what is in the quotes, without gzipSuffix
	weak   []string
}

// ParseTags reads the entity tags of a header field, on one line or several
// (RFC 9110, 13.1). It returns nil when the field is absent, and a *ParamError
// when it is neither `*` nor a list of one tag or more.
func ParseEntityTags(h http.Header, field string) (*EntityTags, error) {
	lines := h.Values(field)
	if len(lines) == 0 {
		return nil, nil
	}
	list := strings.Join(lines, ",")
	if strings.Trim(list, " \t") == "*" {
		return &EntityTags{any: true}, nil
	}
	tags := new(EntityTags)
	for rest := list; ; {
		rest = strings.TrimLeft(rest, " \t,") // elements of a list may be empty
		if rest == "" {
			break
		}
		var ok bool
		if rest, ok = tags.add(rest); !ok {
			return nil, badTags(field)
		}
	}
	if len(tags.strong)+len(tags.weak) == 0 {
		return nil, badTags(field)
	}
	return tags, nil
}

func badTags(field string) error {
	return &ParamError{Name: field, Problem: `must be * or a list of entity tags, each in double quotes`}
}

// add adds the tag that a text begins with, and returns what follows it up to
// the end or a comma.
func (t *EntityTags) add(text string) (rest string, ok bool) {
	quoted, weak := strings.CutPrefix(text, "W/")
	opaque, open := strings.CutPrefix(quoted, `"`)
	opaque, rest, closed := strings.Cut(opaque, `"`)
	if !open || !closed || strings.ContainsFunc(opaque, notInTag) {
		return "", false
	}
	opaque = strings.TrimSuffix(opaque, gzipSuffix)
	if weak {
		t.weak = append(t.weak, opaque)
	} else {
		t.strong = append(t.strong, opaque)
	}
	rest = strings.TrimLeft(rest, " \t")
	return rest, rest == "" || rest[0] == ','
}

// notInTag reports whether a letter, or a byte that is none, cannot stand
// between the quotes of a tag. Bytes above ASCII can.
func notInTag(letter rune) bool { return letter <= ' ' || letter == 0x7f }

// Match reports whether one of the tags is that of what there is, a tag as
// OrderTag returns it, in the way of If-Match: weak ones never are. `*` is any.
func (t *EntityTags) Match(tag string) bool {
	return t.any || slices.Contains(t.strong, opaqueOf(tag))
}

// MatchWeakly is Match in the way of If-None-Match, where weak tags count.
func (t *EntityTags) MatchWeakly(tag string) bool {
	return t.Match(tag) || slices.Contains(t.weak, opaqueOf(tag))
}

// opaqueOf returns what is in the quotes of a tag.
func opaqueOf(tag string) string { return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) }
