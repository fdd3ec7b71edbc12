package openapitest

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"merchantorders/openapi"
)

// tree is a parsed document, closed, with a compiler for its schemas.
type tree struct {
	address  string
	root     any
	compiler *jsonschema.Compiler
}

func newTree(document openapi.Document) (*tree, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(document.JSON))
	if err != nil {
		return nil, err
	}
	closeSchemas(root)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	t := &tree{address: "https://openapi.example/" + document.Name + ".json", root: root, compiler: compiler}
	return t, compiler.AddResource(t.address, root)
}

// node is an element of a tree. Its value is nil if the element does not exist.
type node struct {
	tree  *tree
	value any
	at    string // JSON pointer
}

func (t *tree) top() node { return node{tree: t, value: t.root} }

var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// get returns the element below keys. It follows every $ref on the way, but not one at
// the end.
func (n node) get(keys ...string) node {
	for _, key := range keys {
		from := n.target()
		members, _ := from.value.(map[string]any)
		n = node{tree: n.tree, value: members[key], at: from.at + "/" + escapePointer.Replace(key)}
	}
	return n
}

// target returns the element that a $ref refers to, or n if n is not a $ref.
func (n node) target() node {
	members, _ := n.value.(map[string]any)
	ref, ok := members["$ref"].(string)
	if !ok {
		return n
	}
	target := n.tree.top()
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		target = target.get(unescapePointer.Replace(key))
	}
	return target.target()
}

func (n node) exists() bool { return n.value != nil }

// keys returns the names of an object's members, sorted.
func (n node) keys() []string {
	members, _ := n.target().value.(map[string]any)
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// headers returns the headers of a response with a status by name. One with JSON has those
// of x-json-headers beside its own, and a 4xx those of x-refusal-headers.
func (n node) headers(status string) map[string]node {
	all := make(map[string]node)
	add := func(from node) {
		for _, name := range from.keys() {
			all[name] = from.get(name)
		}
	}
	if n.get("content", "application/json").exists() {
		add(n.tree.top().get("x-json-headers"))
		if strings.HasPrefix(status, "4") {
			add(n.tree.top().get("x-refusal-headers"))
		}
	}
	add(n.get("headers"))
	return all
}

// items returns the elements of an array.
func (n node) items() []node {
	list, _ := n.value.([]any)
	items := make([]node, len(list))
	for i, value := range list {
		items[i] = node{tree: n.tree, value: value, at: fmt.Sprintf("%s/%d", n.at, i)}
	}
	return items
}

func (n node) text() string { text, _ := n.target().value.(string); return text }

func (n node) isTrue() bool { value, _ := n.target().value.(bool); return value }

// schema compiles the schema n. It returns nil if n does not exist.
func (n node) schema() (*jsonschema.Schema, error) {
	if !n.exists() {
		return nil, nil
	}
	fragment := (&url.URL{Fragment: n.at}).EscapedFragment()
	return n.tree.compiler.Compile(n.tree.address + "#" + fragment)
}
