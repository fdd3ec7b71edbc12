package lockstep

import (
	"fmt"
	"html"
	"regexp"
	"slices"
)

// randomValue is a kind of value that a service makes at random.
type randomValue struct {
	kind string
	in   *regexp.Regexp // the group of it that matches is the value
	// opaque says that equal values tell nothing: two services may differ in when they give
	// out the same one again.
	opaque bool
}

// The values may be in addresses within addresses, where %253D is "=".
var randomValues = []randomValue{
	{kind: "token", in: regexp.MustCompile(`(?:^|[^0-9A-Za-z_-]|%(?:25)*3D)(mop?_[0-9A-Za-z]{4,})`)},
	{kind: "secret", in: regexp.MustCompile(`\bwhsec_((?:[0-9A-Za-z/]|&#43;|&#61;|[+=])+)`)},
	// A transaction has a nonce, and may have one line of a stream or many.
	{kind: "nonce", in: regexp.MustCompile(`\b(?:msg|evt)(?:_\d+)?_\d+_\d+_([0-9a-z]+)\b`), opaque: true},
	{kind: "key", in: regexp.MustCompile(`(?:\b|%(?:25)*3D)([A-Z2-7]{26})\b`)},
	{kind: "revision", in: regexp.MustCompile(`name="(?:revision|shown)" value="(?:\S+ )?(\d+)"|shown(?:=|%(?:25)*3D)[0-9A-Za-z-]+(?:\+|&#43;|%(?:25)*2B)(\d+)|revision(?:=|%(?:25)*3D)(\d+)`)},
	{kind: "tag", in: regexp.MustCompile(`^Etag: (?:W/)?"([^"]+)"`)},
	{kind: "session", in: regexp.MustCompile(`(?:[/=.]|%(?:25)*(?:3D|2F))([0-9A-Za-z_-]{43})(?:["';&<% ]|$)`)},
	{kind: "history", in: regexp.MustCompile(`"history":"([^"]+)"`)},
	{kind: "cursor", in: regexp.MustCompile(`"(?:next|cursor|after)":"([^"]+)"|Export-Cursor: (\S+)`), opaque: true},
	{kind: "hash", in: regexp.MustCompile(`\b([0-9a-f]{64})\b`)},
}

// names gives the random values of one service names: the kind, and which one it is in the
// order of their first occurrence. Two services that do the same use the same names. A name
// in a request stands for the value.
type names struct {
	values map[string]string // by name
	known  map[string]string // names by value
	count  map[string]int    // by kind
}

func newNames() *names {
	return &names{values: map[string]string{}, known: map[string]string{}, count: map[string]int{}}
}

// of returns the name of a value.
func (n *names) of(kind, value string, opaque bool) string {
	value = html.UnescapeString(value)
	if name, ok := n.known[value]; ok && !opaque {
		return name
	}
	n.count[kind]++
	name := fmt.Sprintf("«%s%d»", kind, n.count[kind])
	n.known[value], n.values[name] = name, value
	return name
}

// mask replaces the random values in a text by their names.
func (n *names) mask(text string) string {
	for _, random := range randomValues {
		masked, end := "", 0
		for _, at := range random.in.FindAllStringSubmatchIndex(text, -1) {
			at = slices.DeleteFunc(at[2:], func(i int) bool { return i < 0 })
			masked += text[end:at[0]] + n.of(random.kind, text[at[0]:at[1]], random.opaque)
			end = at[1]
		}
		text = masked + text[end:]
	}
	return text
}

var nameForm = regexp.MustCompile(`«[a-z]+\d+»`)

// unmask replaces the names in a text by the values of the service.
func (n *names) unmask(text string) string {
	return nameForm.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := n.values[name]; ok {
			return value
		}
		return name
	})
}
