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

// tree is a document as it was read, and what compiles the schemas in it.
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
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	t := &tree{address: "https://openapi.example/" + document.Name + ".json", root: root, compiler: compiler}
	return t, compiler.AddResource(t.address, root)
}

// node is a place in a tree. One without a value is not there.
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

// get goes down by keys, through every $ref on the way but one at the end.
func (n node) get(keys ...string) node {
	for _, key := range keys {
		from := n.target()
		members, _ := from.value.(map[string]any)
		n = node{tree: n.tree, value: members[key], at: from.at + "/" + escapePointer.Replace(key)}
	}
	return n
}

// target is the place that a $ref leads to, or the place itself.
func (n node) target() node {
	members, _ := n.value.(map[string]any)
	ref, ok := members["$ref"].(string)
	if !ok {
		return n
	}
	led := n.tree.top()
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		led = led.get(unescapePointer.Replace(key))
	}
	return led.target()
}

func (n node) there() bool { return n.value != nil }

// keys are the names of an object's members, sorted.
func (n node) keys() []string {
	members, _ := n.target().value.(map[string]any)
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// items are the members of an array.
func (n node) items() []node {
	list, _ := n.value.([]any)
	items := make([]node, len(list))
	for i, value := range list {
		items[i] = node{tree: n.tree, value: value, at: fmt.Sprintf("%s/%d", n.at, i)}
	}
	return items
}

func (n node) text() string { text, _ := n.target().value.(string); return text }

func (n node) yes() bool { yes, _ := n.target().value.(bool); return yes }

// schema compiles the schema at a place; nil where there is none.
func (n node) schema() (*jsonschema.Schema, error) {
	if !n.there() {
		return nil, nil
	}
	fragment := (&url.URL{Fragment: n.at}).EscapedFragment()
	return n.tree.compiler.Compile(n.tree.address + "#" + fragment)
}
