package docpages

import (
	"bytes"
	"html/template"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"merchantorders/docs"
)

// stateDiagramText replaces the diagram of the states for those who cannot see it.
// The pages that show the diagram have a table of the transitions too.
const stateDiagramText = "The states of an order and the transitions between them, as in the table of transitions"

// mermaid matches a Mermaid diagram.
var mermaid = regexp.MustCompile("(?s)```mermaid\n.*?\n```\n")

// html renders a document as HTML. Links to other documents lead to their pages. A
// Mermaid diagram is replaced by the image of the states: it is the only one.
func (s *site) html(page docs.Page) template.HTML {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	source := mermaid.ReplaceAll(page.Markdown, []byte("!["+stateDiagramText+"](states.svg)\n"))
	tree := markdown.Parser().Parse(text.NewReader(source))
	rewriter := &linkRewriter{site: s, page: page, pages: make(map[string]string), unlinked: make(map[*ast.Link]ast.Node)}
	for _, other := range s.pages {
		rewriter.pages[other.Path] = s.root + "/docs/guide/" + other.Name()
	}
	// The rewriter returns no errors, and a buffer takes every byte.
	_ = ast.Walk(tree, rewriter.visit)
	for link, words := range rewriter.unlinked {
		link.Parent().ReplaceChild(link.Parent(), link, words)
	}
	var out bytes.Buffer
	_ = markdown.Renderer().Render(&out, source, tree)
	// A table that is wider than the page scrolls, with the keyboard too.
	wide := strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>")
	return template.HTML(wide.Replace(out.String()))
}

// linkRewriter changes the syntax tree of a document. It replaces nodes after the
// walk, because ast.Walk does not allow that on the way.
type linkRewriter struct {
	site     *site
	page     docs.Page
	pages    map[string]string      // URLs by document
	unlinked map[*ast.Link]ast.Node // the texts that replace links
}

func (lr *linkRewriter) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Link:
		url, ok := lr.url(string(n.Destination))
		if !ok {
			lr.unlink(n)
		}
		n.Destination = []byte(url)
	case *ast.Image:
		n.Destination = []byte(lr.site.root + "/docs/assets/" + path.Base(string(n.Destination)))
	}
	return ast.WalkContinue, nil
}

// url returns the URL of a link in the document. ok is false if the link leads to a
// document without a page.
func (lr *linkRewriter) url(destination string) (url string, ok bool) {
	if strings.HasPrefix(destination, "#") || strings.Contains(destination, "://") {
		return destination, true
	}
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	file = path.Join(path.Dir(lr.page.Path), file)
	url, ok = lr.pages[file]
	if name, isOpenAPI := strings.CutPrefix(file, "../openapi/"); isOpenAPI {
		url, ok = lr.site.root+"/openapi/"+name, true
	}
	if hasAnchor {
		url += "#" + anchor
	}
	return url, ok
}

// unlink replaces a link by its text.
func (lr *linkRewriter) unlink(n *ast.Link) {
	words := ast.NewEmphasis(1)
	for child := n.FirstChild(); child != nil; {
		next := child.NextSibling()
		words.AppendChild(words, child)
		child = next
	}
	lr.unlinked[n] = words
}
