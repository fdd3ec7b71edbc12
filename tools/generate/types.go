package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// typesFrom is the document from which the types of the clients are written.
const typesFrom = "openapi/v2.yaml"

// languages write the types of a client.
var languages = []struct {
	file  string
	write func(*model) string
}{
	{"clients/typescript/src/types.ts", typeScript},
	{"clients/python/merchant_orders/types.py", python},
	{"clients/php/src/Types.php", php},
	{"client/types.go", golang},
}

// generatedNote begins each file.
const generatedNote = "Code generated from " + typesFrom + " by scripts/generate. DO NOT EDIT."

// schema is a JSON schema, with what the clients need of it.
type schema struct {
	Ref         string   `yaml:"$ref"`
	Title       string   `yaml:"title"` // name of the type of a schema within another
	Description string   `yaml:"description"`
	Type        names    `yaml:"type"`
	Const       string   `yaml:"const"`
	Enum        []string `yaml:"enum"`
	Known       []string `yaml:"x-extensible-enum"` // values may be added
	Properties  fields   `yaml:"properties"`
	Required    []string `yaml:"required"`
	Items       *schema  `yaml:"items"`
	OneOf       []schema `yaml:"oneOf"`
	Closed      struct {
		OneOf []schema `yaml:"oneOf"`
	} `yaml:"x-closed"`
	Additional yaml.Node `yaml:"additionalProperties"`
}

// names is a text or a list of texts.
type names []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *names) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*n = names{node.Value}
		return nil
	}
	return node.Decode((*[]string)(n))
}

// field is a property of an object.
type field struct {
	name string
	*schema
}

// fields are the properties of an object, or named schemas, in their order.
type fields []field

// UnmarshalYAML implements yaml.Unmarshaler.
func (f *fields) UnmarshalYAML(node *yaml.Node) error {
	for pair := range slices.Chunk(node.Content, 2) {
		s := &schema{}
		if err := pair[1].Decode(s); err != nil {
			return err
		}
		*f = append(*f, field{pair[0].Value, s})
	}
	return nil
}

// get returns the property with a name, nil if there is none.
func (f fields) get(name string) *schema {
	for _, field := range f {
		if field.name == name {
			return field.schema
		}
	}
	return nil
}

func (s *schema) has(kind string) bool   { return slices.Contains(s.Type, kind) }
func (s *schema) nullable() bool         { return s.has("null") }
func (s *schema) isObject() bool         { return s.has("object") && len(s.Properties) > 0 }
func (s *schema) needs(name string) bool { return slices.Contains(s.Required, name) }

// values are those of an enumeration, without null and the empty text.
func (s *schema) values() []string {
	return slices.DeleteFunc(slices.Concat(s.Enum, s.Known), func(value string) bool { return value == "" })
}

// model has the types of all clients, in the order of the document: those that others
// refer to stand at their names.
type model struct {
	types []field
}

// readModel reads the schemas of the document. Objects and enumerations within others get
// types of their own, with their titles as names.
func readModel(root string) (*model, error) {
	text, err := os.ReadFile(filepath.Join(root, typesFrom))
	if err != nil {
		return nil, err
	}
	var document struct {
		Components struct{ Schemas fields }
	}
	var all yaml.Node
	if err := errors.Join(yaml.Unmarshal(text, &document), yaml.Unmarshal(text, &all)); err != nil {
		return nil, err
	}
	m := &model{}
	for _, named := range document.Components.Schemas {
		if named.name == "Error" {
			named.name = "ErrorResponse" // languages have an Error
			named.Properties.get("error").Properties.get("code").Known = errorCodes(&all)
		}
		if len(named.variants()) > 0 {
			named.Properties = append(named.Properties, field{"history", &schema{
				Type: names{"string"}, Description: "The history in which the number counts, added by the client: store both.",
			}})
		}
		m.add(named.name, named.schema)
	}
	m.addBodies(&all)
	return m, nil
}

// addBodies adds the types of bodies that operations describe themselves, with a title.
func (m *model) addBodies(node *yaml.Node) {
	for i, child := range node.Content {
		if i > 0 && node.Content[i-1].Value == "schema" {
			var body schema
			if child.Decode(&body) == nil && body.Title != "" {
				m.add(body.Title, &body)
			}
		}
		m.addBodies(child)
	}
}

// add adds a type, and those within it.
func (m *model) add(name string, s *schema) {
	if slices.ContainsFunc(m.types, func(t field) bool { return t.name == name }) {
		return
	}
	m.types = append(m.types, field{name, s})
	for _, f := range s.Properties {
		inner := f.schema
		if inner.Items != nil {
			inner = inner.Items
		}
		if inner.Title != "" {
			whole := *inner
			whole.Type = slices.DeleteFunc(slices.Clone(inner.Type), func(kind string) bool { return kind == "null" })
			m.add(inner.Title, &whole)
		}
	}
}

// target returns the name of the type of a schema; empty: it has none.
func (s *schema) target() string {
	if s.Title != "" {
		return s.Title
	}
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// variant is one of the forms of an object, whose data depends on its type.
type variant struct {
	name, data string
	types      []string
}

// variants are the forms of Event; of other schemas there are none.
func (s *schema) variants() (all []variant) {
	for _, choice := range s.Closed.OneOf {
		kind, data := choice.Properties.get("type"), choice.Properties.get("data").target()
		types := slices.Concat(kind.Enum, slices.DeleteFunc([]string{kind.Const}, func(value string) bool { return value == "" }))
		i := slices.IndexFunc(all, func(v variant) bool { return v.data == data })
		if i < 0 {
			i, all = len(all), append(all, variant{name: strings.TrimSuffix(data, "Data") + "Event", data: data})
		}
		all[i].types = append(all[i].types, types...)
	}
	return all
}

// errorCodes returns the codes of all errors in a document, sorted.
func errorCodes(node *yaml.Node) []string {
	codes := make(map[string]bool)
	var visit func(*yaml.Node, bool)
	visit = func(node *yaml.Node, within bool) {
		for i, child := range node.Content {
			key := ""
			if node.Kind == yaml.MappingNode && i%2 == 1 {
				key = node.Content[i-1].Value
			}
			if within && key == "code" {
				for _, code := range child.Content {
					codes[code.Value] = true
				}
			}
			visit(child, within && key == "" || key == "x-errors")
		}
	}
	visit(node, false)
	return slices.Sorted(func(yield func(string) bool) {
		for code := range codes {
			if !yield(code) {
				return
			}
		}
	})
}

// comment returns the lines of a description, each at most width long.
func comment(text string, width int) (lines []string) {
	if text == "" {
		return nil
	}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "|") {
			continue // tables are for the page
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}

// quoted returns texts in quotes, joined.
func quoted(texts []string, quote, separator string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = quote + text + quote
	}
	return strings.Join(all, separator)
}

// constant returns the name of a constant for a value: out-of-stock is OUT_OF_STOCK.
func constant(value string) string {
	name := strings.ToUpper(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, value))
	if unicode.IsDigit(rune(name[0])) {
		name = "CODE_" + name
	}
	return name
}

// types of the values of a language.
type syntax struct {
	scalars     map[string]string // of string, integer, boolean and null
	any, orElse string            // any value; separates alternatives
	list, table func(of string) string
	quote       string
	literal     func(values string) string // of a list of values in quotes
	open        string                     // what an enumeration has beside its values
	named       func(*schema) bool         // whether a type that a schema refers to has a name
}

// of returns the type of a value.
func (x syntax) of(m *model, s *schema) string {
	alternatives := func(texts ...string) string {
		texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
		return strings.Join(slices.Compact(texts), x.orElse)
	}
	null := ""
	if s.nullable() {
		null = x.scalars["null"]
	}
	if name := s.target(); name != "" {
		i := slices.IndexFunc(m.types, func(t field) bool { return t.name == name })
		if target := m.types[i].schema; x.named(target) {
			return alternatives(name, null)
		} else if s.Ref != "" {
			return x.of(m, target)
		}
	}
	switch {
	case len(s.OneOf) > 0:
		var all []string
		for i := range s.OneOf {
			all = append(all, x.of(m, &s.OneOf[i]))
		}
		return alternatives(all...)
	case s.Const != "" && s.has("string"):
		return x.literal(x.quote + s.Const + x.quote)
	case len(s.values()) > 0:
		separator := x.orElse
		if strings.Contains(x.literal(""), "[") {
			separator = ", "
		}
		open := ""
		if len(s.Known) > 0 {
			open = x.open
		}
		return alternatives(x.literal(quoted(s.values(), x.quote, separator)), open, null)
	case s.Items != nil:
		of := x.of(m, s.Items)
		return alternatives(x.list(of), null)
	case s.has("object") && s.Additional.Kind == yaml.MappingNode:
		var values schema
		_ = s.Additional.Decode(&values) // it was read before
		return alternatives(x.table(x.of(m, &values)), null)
	case s.has("object"):
		return alternatives(x.table(x.any), null)
	case len(s.Type) == 0:
		return x.any
	}
	return alternatives(x.scalars[s.Type[0]], null)
}

// write returns a text that is written line by line.
func write(print func(line func(format string, args ...any))) string {
	var text strings.Builder
	print(func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) })
	return text.String()
}
