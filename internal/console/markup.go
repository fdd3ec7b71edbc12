package console

import (
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"time"

	"merchantorders/internal/order"
)

// constant is an action with a constant value: a message, a path or an asset. Each page
// has dozens of them, and executing them took half of its time, so they are replaced
// before the templates are parsed.
var constant = regexp.MustCompile(`\{\{(t|path|asset) "([^"{}]*)"\}\}`)

// parse parses all templates of one language, with their constants replaced.
func (s *site) parse(l language, functions template.FuncMap) (*templates, error) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := template.New("").Funcs(functions)
	for _, name := range names {
		text, err := templateFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		source := constant.ReplaceAllStringFunc(string(text), func(action string) string {
			parts := constant.FindStringSubmatch(action)
			value := ""
			switch parts[1] {
			case "t":
				value = l.text(parts[2])
			case "path":
				value = s.root + parts[2]
			case "asset":
				value = s.assetPath(parts[2])
			}
			return template.HTMLEscapeString(value)
		})
		if _, err := all.New(path.Base(name)).Parse(source); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// assetPath returns the address of an asset.
func (s *site) assetPath(name string) string {
	return s.root + Prefix + "/assets/" + name + "?v=" + s.assets[name].version
}

// The functions below return elements that lists have in each row. Each of them is one
// call instead of a template with several.

// time returns the element of a moment.
func (l language) time(t time.Time) template.HTML {
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `" data-local>` + l.clock(t) + `</time>`)
}

// badge returns the element of a state.
func (l language) badge(state order.State) template.HTML {
	return template.HTML(`<span class="state"><span class="dot dot-` + state.String() + `"></span>` +
		template.HTMLEscapeString(l.text("state."+state.String())) + `</span>`)
}

// person returns the element of a customer's name.
func person(c order.Customer) template.HTML {
	return template.HTML(`<bdi>` + template.HTMLEscapeString(c.FirstName+" "+c.LastName) + `</bdi>`)
}

// orderLink returns the link to an order of the store.
func (s *site) orderLink(reference string) template.HTML {
	return template.HTML(`<a href="` + template.HTMLEscapeString(s.root+orderPath(reference)) + `">` + template.HTMLEscapeString(reference) + `</a>`)
}
