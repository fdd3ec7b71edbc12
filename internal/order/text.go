package order

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOf returns a text that may be absent; empty if it is.
func TextOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// TextUnit is what the length of a text is counted in. Its name is part of messages.
type TextUnit string

// The units of the length of a text.
const (
	Bytes      TextUnit = "bytes"
	Characters TextUnit = "characters"
)

// LineProblem returns what is wrong with a text that must be one line of at most limit
// units, as a phrase that follows the name of the field. It returns "" for a valid text,
// which may be empty.
func LineProblem(text string, limit int, unit TextUnit) string {
	if problem := textProblem(text, limit, unit); problem != "" {
		return problem
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }) {
		return "must be on one line, without control characters"
	}
	return ""
}

// textProblem is LineProblem for a text with any characters.
func textProblem(text string, limit int, unit TextUnit) string {
	length := len(text)
	if unit == Characters {
		length = utf8.RuneCountInString(text)
	}
	if !utf8.ValidString(text) || length > limit {
		return "must be text of at most " + strconv.Itoa(limit) + " " + string(unit)
	}
	return ""
}

// requiredLineProblem is LineProblem for a text that must not be empty or blank.
func requiredLineProblem(text string, maxBytes int) string {
	problem := LineProblem(text, maxBytes, Bytes)
	if problem == "" && strings.TrimSpace(text) == "" {
		problem = "is required"
	}
	return problem
}
