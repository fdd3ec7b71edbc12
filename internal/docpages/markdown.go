package docpages

import (
	"bytes"
	"html/template"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"merchantorders/docs"
)

// stateDiagramText replaces the diagram of the states for those who cannot see it.
// The pages that show the diagram have a table of the transitions too.
const stateDiagramText = "The states of an order and the transitions between them, as in the table of transitions"

// mermaid matches a Mermaid diagram.
var mermaid = regexp.MustCompile("(?s)```mermaid\n.*?\n```\n")

// linkForm matches a link or an image, with its text and its destination. It also matches
// code, where nothing is a link, so that no match begins in it.
var linkForm = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`|" + `(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)`)

// markdown returns a document whose links lead to the pages of the site, as HTML or, with
// the extension ".md", as Markdown. The text of a link to any other document is emphasized.
func (s *site) markdown(page docs.Page, extension string) []byte {
	return linkForm.ReplaceAllFunc(page.Markdown, func(found []byte) []byte {
		if found[0] == '`' {
			return found
		}
		parts := linkForm.FindSubmatch(found)
		image, text, destination := string(parts[1]), string(parts[2]), string(parts[3])
		url, ok := s.root+"/docs/assets/"+path.Base(destination), true
		if image == "" {
			url, ok = s.url(page, destination, extension)
		}
		if !ok {
			return []byte("*" + text + "*")
		}
		return []byte(image + "[" + text + "](" + url + ")")
	})
}

// url returns the URL of a link in a document. ok is false if the link leads to a
// document without a page.
func (s *site) url(page docs.Page, destination, extension string) (url string, ok bool) {
	if strings.HasPrefix(destination, "#") || strings.Contains(destination, "://") {
		return destination, true
	}
	file, anchor, hasAnchor := strings.Cut(destination, "#")
	file = path.Join(path.Dir(page.Path), file)
	for _, other := range s.documents {
		if other.Path == file {
			url, ok = s.root+"/docs/guide/"+other.Name()+extension, true
		}
	}
	if name, isOpenAPI := strings.CutPrefix(file, "../openapi/"); isOpenAPI {
		url, ok = s.root+"/openapi/"+name, true
	}
	if file == "../clients" {
		url, ok = s.root+"/docs/clients", true
	}
	if hasAnchor {
		url += "#" + anchor
	}
	return url, ok
}

// html renders a document as HTML. A Mermaid diagram is replaced by the image of the
// states: it is the only one.
func (s *site) html(page docs.Page) template.HTML {
	page.Markdown = mermaid.ReplaceAll(page.Markdown, []byte("!["+stateDiagramText+"](states.svg)\n"))
	return render(string(s.markdown(page, "")))
}

// renderer renders Markdown.
var renderer = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// accessible lets what is wider than the page scroll, with the keyboard too, and makes the
// empty corner of a table no heading.
var accessible = strings.NewReplacer("<th></th>", "<td></td>", "<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`)

// render renders Markdown as HTML.
func render(text string) template.HTML {
	var out bytes.Buffer
	_ = renderer.Convert([]byte(text), &out) // a buffer takes every byte
	return template.HTML(accessible.Replace(out.String()))
}
