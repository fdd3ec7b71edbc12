package pagetemplate

import (
	"bytes"
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"text/template/parse"
)

// escaper writes a value where html/template has decided how it must be escaped. Plain
// texts and numbers take a short way. All other values, and texts for which that
// does not suffice, are escaped by html/template, with a sample of such a place.
type escaper struct {
	name          string // of the sample's commands
	sample        *template.Template
	before, after int // lengths of the sample's text around the value
	// simple reports whether special is all that the text needs.
	simple func(text string) bool
	markup bool // template.HTML is written as it is
}

// special replaces the characters that are special in HTML, as html/template does.
var special = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// escapers are the escapers of all places at which a value may be.
var escapers = []*escaper{
	newEscaper(`<p>`, `</p>`, always, true),
	newEscaper(`<title>`, `</title>`, always, false),
	newEscaper(`<p title="`, `"></p>`, always, false),
	newEscaper(`<a href="`, `"></a>`, plainURL, false),
	newEscaper(`<a href="/`, `"></a>`, plainURL, false),
	newEscaper(`<a href="?`, `"></a>`, plainQuery, false),
}

func always(string) bool { return true }

// plainURL reports whether a URL consists of characters that need no escaping, and has
// no scheme but https.
func plainURL(text string) bool {
	text = strings.TrimPrefix(text, "https://")
	return strings.IndexFunc(text, func(r rune) bool { return !unreserved(r) && r != '/' && r != '?' && r != '=' }) < 0
}

// plainQuery is plainURL for a part of a query.
func plainQuery(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !unreserved(r) }) < 0
}

// unreserved are the characters that have no meaning in URLs (RFC 3986, 2.3).
func unreserved(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
}

// newEscaper returns the escaper for a place between two texts.
func newEscaper(before, after string, simple func(string) bool, markup bool) *escaper {
	sample := template.Must(template.New("").Parse(before + "{{.}}" + after))
	if err := sample.Execute(new(bytes.Buffer), ""); err != nil {
		panic(err) // the samples are constant
	}
	e := &escaper{sample: sample, before: len(before), after: len(after), simple: simple, markup: markup}
	for _, node := range sample.Tree.Root.Nodes {
		if action, ok := node.(*parse.ActionNode); ok {
			e.name = escaperName(action.Pipe.Cmds[1:])
		}
	}
	return e
}

// escaperName returns the name of the commands with which html/template escapes a value.
func escaperName(commands []*parse.CommandNode) string {
	var names []string
	for _, command := range commands {
		names = append(names, command.String())
	}
	return strings.Join(names, "|")
}

// escaperPrefix begins the names of the functions that html/template adds.
const escaperPrefix = "_html_template_"

// splitEscapers returns the commands of a pipeline without those that html/template has
// added, and their escaper, nil if there are none.
func splitEscapers(commands []*parse.CommandNode) ([]*parse.CommandNode, *escaper, error) {
	own := len(commands)
	for own > 0 && strings.HasPrefix(commands[own-1].String(), escaperPrefix) {
		own--
	}
	name := escaperName(commands[own:])
	if name == "" {
		return commands, nil, nil
	}
	for _, e := range escapers {
		if e.name == name {
			return commands[:own], e, nil
		}
	}
	return nil, nil, fmt.Errorf("the escaping %s is not supported", name)
}

var (
	textType  = reflect.TypeFor[string]()
	int64Type = reflect.TypeFor[int64]()
	htmlType  = reflect.TypeFor[template.HTML]()
)

// append appends a value.
func (e *escaper) append(out []byte, v reflect.Value) ([]byte, error) {
	v = element(v)
	if text, ok := plainText(v); ok && e.simple(text) {
		return appendEscaped(out, text), nil
	}
	if e.markup && v.IsValid() && v.Type() == htmlType {
		return append(out, v.String()...), nil
	}
	var data any
	if v.IsValid() {
		data = v.Interface()
	}
	var whole bytes.Buffer
	if err := e.sample.Execute(&whole, data); err != nil {
		return out, err
	}
	return append(out, whole.Bytes()[e.before:whole.Len()-e.after]...), nil
}

// plainText returns the text of a value. ok is false for the types of html/template,
// such as template.HTML, and for most pointers: they are more than their text.
func plainText(v reflect.Value) (text string, ok bool) {
	if v.Kind() == reflect.Pointer && v.Type().Elem() == textType {
		v = v.Elem()
	}
	if !v.IsValid() || v.Kind() == reflect.Pointer {
		return "", false
	}
	switch t := v.Type(); {
	case t == textType:
		return v.String(), true
	case t == int64Type:
		return strconv.FormatInt(v.Int(), 10), true
	case t.PkgPath() == htmlType.PkgPath():
		return "", false
	}
	return fmt.Sprint(v.Interface()), true
}

// appendEscaped appends a text without special characters.
func appendEscaped(out []byte, text string) []byte {
	if !strings.ContainsAny(text, "\x00\"&'+<>") {
		return append(out, text...)
	}
	return append(out, special.Replace(text)...)
}
