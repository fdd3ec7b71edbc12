// Package docs holds the documents that the service shows on its own pages: the
// guide for integrators, the published interface, the decisions, and two
// documents for operators.
//
// It knows the files and nothing else; internal/docpages turns them into HTML.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed guide/*.md guide/states.svg interface.md decisions.md orders-in.md operator.md
var files embed.FS

// shown lists the documents in reading order.
var shown = []string{
	"guide/token.md", "guide/first-call.md", "guide/paging.md", "guide/changes.md", "guide/accepting.md", "guide/retries.md",
	"guide/invoices.md", "guide/errors.md", "guide/limits.md", "guide/client.md", "guide/before-go-live.md", "guide/from-v1-to-v2.md",
	"interface.md", "decisions.md",
	"operator.md", "orders-in.md",
}

// Page is one document.
type Page struct {
	Path     string // relative to the folder docs: "guide/errors.md"
	Title    string // its first heading
	Markdown []byte
}

// Name returns the last part of the path of the page's URL, such as "errors".
func (p Page) Name() string {
	return strings.TrimSuffix(p.Path[strings.LastIndexByte(p.Path, '/')+1:], ".md")
}

// Pages returns every document, in reading order. It fails only if a document
// in the list is missing or does not begin with a title.
func Pages() ([]Page, error) {
	pages := make([]Page, 0, len(shown))
	for _, path := range shown {
		text, err := files.ReadFile(path)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(first, "# ")
		if !ok {
			return nil, fmt.Errorf("%s: the first line is not a heading of level 1", path)
		}
		pages = append(pages, Page{Path: path, Title: title, Markdown: text})
	}
	return pages, nil
}

// StatePicture returns the picture of the states and transitions, an SVG.
func StatePicture() ([]byte, error) { return files.ReadFile("guide/states.svg") }
