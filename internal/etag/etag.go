// Package etag parses and compares entity tags (RFC 9110, 8.8.3 and 13.1).
package etag

import (
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
)

// CompressedSuffix ends the tag of a compressed representation, inside the quotes.
const CompressedSuffix = "-gzip"

// OfOrder returns the data tag of a single order, which is the part of its entity tag
// that names the data, the same in both versions: <legacy id>-<revision>. It changes
// whenever the order or its invoice files change, and only then.
func OfOrder(legacyID, revision int64) string {
	return strconv.FormatInt(legacyID, 10) + "-" + strconv.FormatInt(revision, 10)
}

// Tags are the entity tags of a precondition such as If-Match.
type Tags struct {
	any        bool     // *
	strong     []string // without quotes and CompressedSuffix
	weak       []string // likewise
	compressed []string // likewise; those of strong that had CompressedSuffix
}

// Parse parses the lines of a header of entity tags, or the member of a body that stands
// for it. It returns nil if there is no line, and a *strict.ParamError with a name if they
// are neither `*` nor a list of at least one tag.
func Parse(lines []string, name string) (*Tags, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	list := strings.Join(lines, ",")
	if strings.Trim(list, " \t") == "*" {
		return &Tags{any: true}, nil
	}
	tags := new(Tags)
	for rest, ok := list, true; ; {
		rest = strings.TrimLeft(rest, " \t,") // elements of a list may be empty
		if rest == "" {
			break
		}
		if rest, ok = tags.parseFirst(rest); !ok {
			return nil, invalidTags(name)
		}
	}
	if len(tags.strong)+len(tags.weak) == 0 {
		return nil, invalidTags(name)
	}
	return tags, nil
}

func invalidTags(name string) error {
	return &strict.ParamError{Name: name, Problem: `must be * or a list of entity tags, each in double quotes`}
}

// parseFirst adds the tag at the beginning of a list and returns the rest.
func (t *Tags) parseFirst(list string) (rest string, ok bool) {
	quoted, weak := strings.CutPrefix(list, "W/")
	opaque, opened := strings.CutPrefix(quoted, `"`)
	opaque, rest, closed := strings.Cut(opaque, `"`)
	if !opened || !closed || strings.ContainsFunc(opaque, isForbiddenInTag) {
		return "", false
	}
	opaque, compressed := strings.CutSuffix(opaque, CompressedSuffix)
	if weak {
		t.weak = append(t.weak, opaque)
	} else {
		t.strong = append(t.strong, opaque)
		if compressed {
			t.compressed = append(t.compressed, opaque)
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	return rest, rest == "" || rest[0] == ','
}

// isForbiddenInTag reports whether a character may not be part of a tag. Every
// byte above ASCII may.
func isForbiddenInTag(r rune) bool { return r <= ' ' || r == 0x7f }

// MatchOrder compares strongly with the data tag of an order, as If-Match demands: weak
// tags never match, `*` always does. A tag of another ViewVersion matches: a new setting
// or version must not refuse a change.
func (t *Tags) MatchOrder(o order.LockedOrder) bool {
	return t.any || slices.ContainsFunc(t.strong, func(tag string) bool {
		rest, ok := strings.CutPrefix(tag, OfOrder(o.LegacyID, o.Revision))
		return ok && (rest == "" || rest[0] == '-')
	})
}

// MatchWeakly compares with the current tag as If-None-Match demands: weak tags
// match too. The nil *Tags of an absent header matches nothing.
func (t *Tags) MatchWeakly(current string) bool {
	opaque := opaqueTag(current)
	return t != nil && (t.any || slices.Contains(t.strong, opaque) || slices.Contains(t.weak, opaque))
}

// Held returns the current tag for a 304: with CompressedSuffix if the client has the compressed
// representation, whose bytes are others.
func (t *Tags) Held(current string) string {
	if slices.Contains(t.compressed, opaqueTag(current)) {
		return strings.TrimSuffix(current, `"`) + CompressedSuffix + `"`
	}
	return current
}

// opaqueTag returns what is between the quotes of a tag.
func opaqueTag(tag string) string { return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) }
