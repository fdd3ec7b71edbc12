// Package docs holds the documents that the service shows on its own pages:
// the guide for integrators, the published interface, our decisions, and the
// two for the marketplace's side.
//
// It knows the files and nothing else; internal/docpages makes pages of them.
package docs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed guide/*.md guide/states.svg interface.md decisions.md orders-in.md operator.md
var files embed.FS

// shown are the documents, in the order in which they are to be read.
var shown = []string{
	"guide/token.md", "guide/first-call.md", "guide/paging.md", "guide/answering.md", "guide/invoices.md", "guide/errors.md", "guide/from-v1-to-v2.md",
	"interface.md", "decisions.md",
	"operator.md", "orders-in.md",
}

// Page is one document.
type Page struct {
	Path     string // below docs: "guide/errors.md"
	Title    string // its first heading
	Markdown []byte
}

// Name is how addresses call the page: "errors".
func (p Page) Name() string {
	return strings.TrimSuffix(p.Path[strings.LastIndexByte(p.Path, '/')+1:], ".md")
}

// Pages returns every document, in the order in which they are to be read. An
// error says which cannot be read, and does not occur in a program that was
// tested.
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
			return nil, fmt.Errorf("%s does not begin with its title", path)
		}
		pages = append(pages, Page{Path: path, Title: title, Markdown: text})
	}
	return pages, nil
}

// StatePicture returns the picture of the states and their moves, an SVG.
func StatePicture() ([]byte, error) { return files.ReadFile("guide/states.svg") }
