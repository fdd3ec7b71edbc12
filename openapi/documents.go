// Package openapi embeds the OpenAPI documents of the service. Tests compare them
// with the running service. The package itself does not depend on the service.
//
// A file says once what it repeats, and refers to what another file has. Documents are whole.
package openapi

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

//go:embed v1.yaml v2.yaml operator.yaml service.yaml
var files embed.FS

// names are the names of the documents, in the order of the documentation pages.
var names = []string{"v1", "v2", "operator", "service"}

// Document is an OpenAPI document in YAML and JSON with the same content.
type Document struct {
	Name    string // "v1"
	Title   string // info.title of the document
	Summary string // info.summary
	YAML    []byte
	JSON    []byte // with the same order of keys
}

// Documents returns every document. The caller must not change the result.
func Documents() []Document { return loaded() }

// loaded panics if an embedded file is not valid, which tests rule out.
var loaded = sync.OnceValue(func() []Document {
	roots := make(map[string]*yaml.Node)
	documents := make([]Document, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			panic(err)
		}
		if roots[name], err = read(name, text); err != nil {
			panic(err)
		}
	}
	for _, name := range names {
		roots[name] = take(roots[name], roots)
	}
	for i, name := range names {
		addErrorCodes(roots[name])
		addPrefer(roots[name])
		var err error
		if documents[i], err = newDocument(name, roots[name]); err != nil {
			panic(err)
		}
	}
	return documents
})

// take returns a node with the content of each reference to another file, such as
// v2.yaml#/components/schemas/Token, in its place.
func take(node *yaml.Node, roots map[string]*yaml.Node) *yaml.Node {
	if file, pointer, ok := strings.Cut(member(node, "$ref").Value, ".yaml#/"); ok {
		var keys []string
		for key := range strings.SplitSeq(pointer, "/") {
			keys = append(keys, strings.ReplaceAll(key, "~1", "/"))
		}
		return clone(member(roots[file], keys...))
	}
	for i, child := range node.Content {
		node.Content[i] = take(child, roots)
	}
	return node
}

// clone returns a copy of a node, so that a change of one document changes no other.
func clone(node *yaml.Node) *yaml.Node {
	other := *node
	other.Content = nil
	for _, child := range node.Content {
		other.Content = append(other.Content, clone(child))
	}
	return &other
}

// addErrorCodes adds to each operation the codes of its errors (x-error-codes), and all of
// them to the schema of errors.
func addErrorCodes(root *yaml.Node) {
	var all []*yaml.Node
	for path := range slices.Chunk(member(root, "paths").Content, 2) {
		for operation := range slices.Chunk(path[1].Content, 2) {
			var codes []*yaml.Node
			for response := range slices.Chunk(member(operation[1], "responses").Content, 2) {
				described := response[1]
				if name, ok := strings.CutPrefix(member(described, "$ref").Value, "#/components/responses/"); ok {
					described = member(root, "components", "responses", name)
				}
				for _, errors := range member(described, "content", "application/json", "x-errors").Content {
					codes = append(codes, member(errors, "code").Content...)
				}
			}
			if len(codes) > 0 {
				addCodes(operation[1], "x-error-codes", codes)
				all = append(all, codes...)
			}
		}
	}
	if schema := member(root, "components", "schemas", "Error", "properties", "error", "properties", "code"); schema != &absent && len(all) > 0 {
		addCodes(schema, "x-extensible-enum", all)
	}
}

// addPrefer adds the parameter Prefer to each path, where the document has it: every
// operation takes it.
func addPrefer(root *yaml.Node) {
	if member(root, "components", "parameters", "Prefer") == &absent {
		return
	}
	for path := range slices.Chunk(member(root, "paths").Content, 2) {
		var prefer yaml.Node
		_ = yaml.Unmarshal([]byte(`{parameters: [{$ref: "#/components/parameters/Prefer"}]}`), &prefer) // it is valid
		if all := member(path[1], "parameters"); all != &absent {
			all.Content = slices.Concat(all.Content, member(prefer.Content[0], "parameters").Content)
		} else {
			path[1].Content = append(path[1].Content, prefer.Content[0].Content...)
		}
	}
}

// addCodes adds a member with codes to a mapping, sorted, each once.
func addCodes(to *yaml.Node, key string, codes []*yaml.Node) {
	byText := func(a, b *yaml.Node) int { return strings.Compare(a.Value, b.Value) }
	codes = slices.CompactFunc(slices.SortedFunc(slices.Values(codes), byText), func(a, b *yaml.Node) bool { return a.Value == b.Value })
	to.Content = append(to.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: codes})
}

// absent is the node that a mapping does not have.
var absent yaml.Node

// member returns the node below keys.
func member(node *yaml.Node, keys ...string) *yaml.Node {
	found := node
	for _, key := range keys {
		members := found.Content
		found = &absent
		for i := 0; i+1 < len(members); i += 2 {
			if members[i].Value == key {
				found = members[i+1]
			}
		}
	}
	return found
}

// WithServer returns the document for the service at a URL. The embedded documents have a
// relative URL, which some tools keep as it is. An empty url changes nothing.
func (d Document) WithServer(url string) Document {
	if url == "" {
		return d
	}
	quoted := []byte(strconv.Quote(url))
	d.YAML = bytes.Replace(d.YAML, []byte("\nservers:\n  - url: ..\n"), slices.Concat([]byte("\nservers:\n  - url: "), quoted, []byte("\n")), 1)
	d.JSON = bytes.Replace(d.JSON, []byte(`"url": ".."`), slices.Concat([]byte(`"url": `), quoted), 1)
	return d
}

// Parse parses the file of a document that refers to no other. It returns an error if text
// is not YAML or cannot be converted to JSON.
func Parse(name string, text []byte) (Document, error) {
	root, err := read(name, text)
	if err != nil {
		return Document{}, err
	}
	return newDocument(name, root)
}

// read parses a file. It puts the content of aliases and merge keys in their place, because
// not every reader of a document knows them.
func read(name string, text []byte) (*yaml.Node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("read document %s: %w", name, err)
	}
	return spread(root.Content[0]), nil
}

func spread(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias // its anchor is above it, so this is done
	}
	node.Anchor = ""
	for i, child := range node.Content {
		node.Content[i] = spread(child)
	}
	if slices.ContainsFunc(node.Content, isPart) {
		node.Content = merge(node.Content)
	}
	return node
}

// isPart reports whether a node is a merge key, or the key of the parts that others merge.
func isPart(node *yaml.Node) bool { return node.Tag == "!!merge" || node.Value == "x-parts" }

// merge returns the members of a mapping, with those of its merge keys in their place. The
// mapping's own win. Statuses are sorted.
func merge(content []*yaml.Node) []*yaml.Node {
	var members [][]*yaml.Node
	set := func(member []*yaml.Node, own bool) {
		i := slices.IndexFunc(members, func(other []*yaml.Node) bool { return other[0].Value == member[0].Value })
		if i < 0 {
			members = append(members, member)
		} else if own {
			members[i] = member
		}
	}
	for member := range slices.Chunk(content, 2) {
		if !isPart(member[0]) {
			set(member, true)
		} else if member[0].Tag == "!!merge" {
			for part := range slices.Chunk(member[1].Content, 2) {
				set(part, false)
			}
		}
	}
	slices.SortStableFunc(members, func(a, b []*yaml.Node) int {
		first, _ := strconv.Atoi(a[0].Value)
		second, _ := strconv.Atoi(b[0].Value)
		return first - second
	})
	return slices.Concat(members...)
}

func newDocument(name string, root *yaml.Node) (Document, error) {
	document := Document{Name: name, Title: member(root, "info", "title").Value, Summary: member(root, "info", "summary").Value}
	var text, converted bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(root), writeJSON(jsontext.NewEncoder(&converted, jsontext.WithIndent(" ")), root))
	if err != nil {
		return Document{}, fmt.Errorf("convert document %s: %w", name, err)
	}
	document.YAML, document.JSON = text.Bytes(), converted.Bytes()
	return document, nil
}

// writeJSON converts a YAML tree to JSON with the same order of keys.
func writeJSON(out *jsontext.Encoder, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		err := out.WriteToken(jsontext.BeginObject)
		for i := 0; i < len(node.Content); i += 2 {
			// Use the text of a key, whatever its YAML type.
			err = errors.Join(err, out.WriteToken(jsontext.String(node.Content[i].Value)), writeJSON(out, node.Content[i+1]))
		}
		return errors.Join(err, out.WriteToken(jsontext.EndObject))
	case yaml.SequenceNode:
		err := out.WriteToken(jsontext.BeginArray)
		for _, item := range node.Content {
			err = errors.Join(err, writeJSON(out, item))
		}
		return errors.Join(err, out.WriteToken(jsontext.EndArray))
	case yaml.ScalarNode:
		if node.Tag == "!!timestamp" {
			return fmt.Errorf("line %d: a time must be in quotes", node.Line)
		}
		var value any
		if err := node.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", node.Line, err)
		}
		return json.MarshalEncode(out, value)
	}
	return fmt.Errorf("line %d: unknown node", node.Line)
}
