package web

import (
	"mime"
	"strings"
	"unicode"
)

// Attachment returns the Content-Disposition of a file with a name. A name beyond ASCII
// comes with a fallback in ASCII, which old clients read (RFC 6266, appendix D).
func Attachment(name, fallback string) string {
	header := func(name string) string {
		return mime.FormatMediaType("attachment", map[string]string{"filename": name})
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return header(name)
	}
	return header(fallback) + strings.TrimPrefix(header(name), "attachment")
}
