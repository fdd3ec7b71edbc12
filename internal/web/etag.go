package web

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/strict"
)

// OrderTag returns the data tag of a single order, which is the part of its entity tag
// that names the data, the same in both versions: <legacy id>-<revision>. It changes
// whenever the order or its invoice files change, and only then.
func OrderTag(legacyID, revision int64) string {
	return strconv.FormatInt(legacyID, 10) + "-" + strconv.FormatInt(revision, 10)
}

// ViewVersion returns a short text that differs if one of the parts differs: the
// versions of the views, and the settings that bodies show.
func ViewVersion(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(hash, "%q", part) // a hash never returns an error
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}

// entityTag returns the entity tag of a body: the data tag of what it shows, and the
// ViewVersion of the service.
func entityTag(dataTag, viewVersion string) string {
	if viewVersion != "" {
		dataTag += "-" + viewVersion
	}
	return `"` + dataTag + `"`
}

// EntityTags are the entity tags of a header such as If-Match.
type EntityTags struct {
	any        bool     // *
	strong     []string // without quotes and tagSuffix
	weak       []string // likewise
	compressed []string // likewise; those of strong that had tagSuffix
}

// ParseEntityTags parses a header of entity tags, on one line or several (RFC
// 9110, 13.1). It returns nil if the header is absent, and a *strict.ParamError if it is
// neither `*` nor a list of at least one tag.
func ParseEntityTags(h http.Header, header string) (*EntityTags, error) {
	lines := h.Values(header)
	if len(lines) == 0 {
		return nil, nil
	}
	list := strings.Join(lines, ",")
	if strings.Trim(list, " \t") == "*" {
		return &EntityTags{any: true}, nil
	}
	tags := new(EntityTags)
	for rest, ok := list, true; ; {
		rest = strings.TrimLeft(rest, " \t,") // elements of a list may be empty
		if rest == "" {
			break
		}
		if rest, ok = tags.parseFirst(rest); !ok {
			return nil, invalidTags(header)
		}
	}
	if len(tags.strong)+len(tags.weak) == 0 {
		return nil, invalidTags(header)
	}
	return tags, nil
}

func invalidTags(header string) error {
	return &strict.ParamError{Name: header, Problem: `must be * or a list of entity tags, each in double quotes`}
}

// parseFirst adds the tag at the beginning of a list and returns the rest.
func (t *EntityTags) parseFirst(list string) (rest string, ok bool) {
	quoted, weak := strings.CutPrefix(list, "W/")
	opaque, opened := strings.CutPrefix(quoted, `"`)
	opaque, rest, closed := strings.Cut(opaque, `"`)
	if !opened || !closed || strings.ContainsFunc(opaque, isForbiddenInTag) {
		return "", false
	}
	opaque, compressed := strings.CutSuffix(opaque, tagSuffix)
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

// MatchData compares strongly with the data tag of the current tag, as If-Match
// demands: weak tags never match, `*` always does. A tag of another ViewVersion
// matches: a new setting or version must not refuse a change.
func (t *EntityTags) MatchData(dataTag string) bool {
	return t.any || slices.ContainsFunc(t.strong, func(tag string) bool {
		rest, ok := strings.CutPrefix(tag, dataTag)
		return ok && (rest == "" || rest[0] == '-')
	})
}

// MatchWeakly compares with the current tag as If-None-Match demands: weak tags
// match too. The nil *EntityTags of an absent header matches nothing.
func (t *EntityTags) MatchWeakly(current string) bool {
	opaque := opaqueTag(current)
	return t != nil && (t.any || slices.Contains(t.strong, opaque) || slices.Contains(t.weak, opaque))
}

// Held returns the current tag for a 304: with tagSuffix if the client has the compressed
// representation, whose bytes are others.
func (t *EntityTags) Held(current string) string {
	if slices.Contains(t.compressed, opaqueTag(current)) {
		return strings.TrimSuffix(current, `"`) + tagSuffix + `"`
	}
	return current
}

// opaqueTag returns what is between the quotes of a tag.
func opaqueTag(tag string) string { return strings.Trim(strings.TrimPrefix(tag, "W/"), `"`) }
