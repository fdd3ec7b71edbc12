// Package docs holds the documents that the service shows on its own pages: the
// guide for integrators, the published interface, the decisions, and four
// documents for operators.
//
// It knows the files and nothing else; internal/docpages turns them into HTML.
package docs

import (
	"embed"
	"slices"
	"strings"
	"sync"
)

//go:embed guide/*.md interface.md decisions.md orders-in.md operator.md merchants-and-tokens.md runbook.md
var files embed.FS

// forMerchants lists documents in reading order, forOperators those that only operators
// need.
var forMerchants = []string{
	"guide/token.md", "guide/first-call.md", "guide/paging.md", "guide/changes.md", "guide/webhooks.md", "guide/accepting.md", "guide/retries.md",
	"guide/invoices.md", "guide/errors.md", "guide/error-details.md", "guide/limits.md", "guide/client.md", "guide/python.md", "guide/typescript.md", "guide/php.md", "guide/other-languages.md", "guide/assistants.md", "guide/sandbox.md", "guide/before-go-live.md", "guide/from-v1-to-v2.md", "guide/compatibility.md", "guide/accessibility.md", "guide/console-el.md",
	"interface.md", "decisions.md",
}

var forOperators = []string{"operator.md", "merchants-and-tokens.md", "orders-in.md", "runbook.md"}

// Page is one document.
type Page struct {
	Path      string // relative to the folder docs: "guide/errors.md"
	Title     string // its first heading
	Summary   string // its first sentence, in Markdown
	Markdown  []byte
	Operators bool // only operators need it
}

// Language returns the code of the language of the page; empty: English.
func (p Page) Language() string {
	if strings.HasSuffix(p.Path, "-el.md") {
		return "el"
	}
	return ""
}

// Name returns the last part of the path of the page's URL, such as "errors".
func (p Page) Name() string {
	return strings.TrimSuffix(p.Path[strings.LastIndexByte(p.Path, '/')+1:], ".md")
}

// StatePicture is the picture of the states and transitions, an SVG.
//
//go:embed guide/states.svg
var StatePicture []byte

// Pages returns every document, in reading order. The caller must not change the
// result.
func Pages() []Page { return loaded() }

// loaded panics if a document in the list is missing or does not begin with a
// title and a sentence, which tests rule out.
var loaded = sync.OnceValue(func() []Page {
	var pages []Page
	for i, path := range slices.Concat(forMerchants, forOperators) {
		text, err := files.ReadFile(path)
		if err != nil {
			panic(err)
		}
		lines := strings.SplitN(string(text), "\n", 4)
		title, ok := strings.CutPrefix(lines[0], "# ")
		if !ok || len(lines) < 4 || lines[2] == "" || strings.ContainsAny(lines[2][:1], "#|-") {
			panic(path + ": the document does not begin with a heading of level 1 and a sentence")
		}
		pages = append(pages, Page{Path: path, Title: title, Summary: lines[2], Markdown: text, Operators: i >= len(forMerchants)})
	}
	return pages
})
