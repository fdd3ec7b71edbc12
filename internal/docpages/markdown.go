package docpages

import (
	"bytes"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"merchantorders/docs"
)

// pictureText stands in place of the picture of the states for those who
// cannot see it; the pages that show it have a table of transitions too.
const pictureText = "The states of an order and the transitions between them, as in the table of transitions"

// html turns a document into HTML. Links to other documents lead to their
// pages; a diagram becomes the picture of the states, the only one there is.
func (s *site) html(page docs.Page) (template.HTML, error) {
	served, err := s.served()
	if err != nil {
		return "", err
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	tree := markdown.Parser().Parse(text.NewReader(page.Markdown))
	turn := &linkRewriter{site: s, page: page, served: served}
	if err := ast.Walk(tree, turn.visit); err != nil {
		return "", err
	}
	turn.apply()
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, page.Markdown, tree); err != nil {
		return "", err
	}
	// A table that is wider than the page scrolls by itself, with the keyboard too.
	wide := strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>")
	return template.HTML(wide.Replace(out.String())), nil
}

// served returns the pages that there are, by the path of their document.
func (s *site) served() (map[string]string, error) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, err
	}
	served := make(map[string]string, len(pages))
	for _, page := range pages {
		served[page.Path] = s.root + "/docs/guide/" + page.Name()
	}
	return served, nil
}

// turning changes the tree of a document. Nodes are replaced after the walk,
// which would lose its way otherwise.
type linkRewriter struct {
	site    *site
	page    docs.Page
	served  map[string]string
	replace []replacement
}

type replacement struct{ old, new ast.Node }

func (t *linkRewriter) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	switch n := n.(type) {
	case *ast.Link:
		address, ok := t.address(string(n.Destination))
		if !ok {
			t.unlink(n)
		}
		n.Destination = []byte(address)
	case *ast.Image:
		n.Destination = []byte(t.site.root + "/docs/assets/" + path.Base(string(n.Destination)))
	case *ast.FencedCodeBlock:
		if string(n.Language(t.page.Markdown)) == "mermaid" {
			t.replace = append(t.replace, replacement{n, t.picture()})
		}
	}
	return ast.WalkContinue, nil
}

// address returns where a link of the document leads on the pages. ok is false
// for a document that is not shown there.
func (t *linkRewriter) address(destination string) (address string, ok bool) {
	if strings.HasPrefix(destination, "#") || strings.Contains(destination, "://") {
		return destination, true
	}
	file, anchor, anchored := strings.Cut(destination, "#")
	file = path.Join(path.Dir(t.page.Path), file)
	address, ok = t.served[file]
	if name, below := strings.CutPrefix(file, "../openapi/"); below {
		address, ok = t.site.root+"/openapi/"+name, true
	}
	if anchored {
		address += "#" + anchor
	}
	return address, ok
}

// unlink leaves only the words of a link.
func (t *linkRewriter) unlink(n *ast.Link) {
	words := ast.NewEmphasis(1)
	for child := n.FirstChild(); child != nil; {
		next := child.NextSibling()
		words.AppendChild(words, child)
		child = next
	}
	t.replace = append(t.replace, replacement{n, words})
}

func (t *linkRewriter) picture() ast.Node {
	shown := ast.NewLink()
	shown.Destination = []byte(t.site.root + "/docs/assets/states.svg")
	image := ast.NewImage(shown)
	image.AppendChild(image, ast.NewString([]byte(pictureText)))
	paragraph := ast.NewParagraph()
	paragraph.AppendChild(paragraph, image)
	return paragraph
}

func (t *linkRewriter) apply() {
	for _, r := range t.replace {
		r.old.Parent().ReplaceChild(r.old.Parent(), r.old, r.new)
	}
}
