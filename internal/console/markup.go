package console

import (
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// constant is an action with a constant value: a message, a path or an asset. Each page
// has dozens of them, and executing them took half of its time, so they are replaced
// before the templates are parsed.
var constant = regexp.MustCompile(`\{\{(t|path|asset) "([^"{}]*)"\}\}`)

// parse parses and compiles all templates of one language, with their constants replaced.
func (s *site) parse(l language) (templates, error) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	functions := s.functions(l)
	all := template.New("").Funcs(functions.Map())
	for i, name := range names {
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
		names[i] = path.Base(name)
	}
	return compile(all, functions, names...)
}

// assetPath returns the address of an asset.
func (s *site) assetPath(name string) string {
	return s.root + Prefix + "/assets/" + name + "?v=" + s.assets[name].version
}

// The functions below return elements that lists have in each row. Each of them is one
// call instead of a template with several.

// time returns the element of a moment.
func (l language) time(t time.Time) template.HTML {
	var room [128]byte
	text := append(room[:0], `<time datetime="`...)
	text = t.UTC().AppendFormat(text, time.RFC3339)
	text = append(append(text, `" data-local>`...), l.clock(t)...)
	return template.HTML(append(text, `</time>`...))
}

// badges returns a function that returns the element of a state.
func (l language) badges() func(order.State) template.HTML {
	all := make(map[order.State]template.HTML)
	for _, state := range order.States() {
		all[state] = template.HTML(`<span class="state"><span class="dot dot-` + state.String() + `"></span>` +
			template.HTMLEscapeString(l.text("state."+state.String())) + `</span>`)
	}
	return func(state order.State) template.HTML { return all[state] }
}

// person returns the element of a customer's name.
func person(c order.Customer) template.HTML {
	return template.HTML(`<bdi>` + template.HTMLEscapeString(c.FirstName+" "+c.LastName) + `</bdi>`)
}

// orderLink returns the link to an order of the store.
func (s *site) orderLink(reference string) template.HTML {
	return template.HTML(`<a href="` + template.HTMLEscapeString(s.root+orderPath(reference)) + `">` + template.HTMLEscapeString(reference) + `</a>`)
}

// bars returns the elements of the bar of a day. A chart has up to 210 of them.
func bars(all []chartBar) template.HTML {
	var room [1024]byte
	text := room[:0]
	for _, bar := range all {
		text = append(append(text, `<rect class="bar-`...), bar.Group...)
		text = strconv.AppendFloat(append(text, `" x="`...), bar.X, 'f', 1, 64)
		text = strconv.AppendFloat(append(text, `" y="`...), bar.Y, 'f', 1, 64)
		text = strconv.AppendFloat(append(text, `" width="`...), bar.Width, 'f', 1, 64)
		text = strconv.AppendFloat(append(text, `" height="`...), bar.Height, 'f', 1, 64)
		text = append(text, `"/>`...)
	}
	return template.HTML(text)
}
