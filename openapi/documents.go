// Package openapi embeds the OpenAPI documents of the service. Tests compare them
// with the running service. The package itself does not depend on the service.
package openapi

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
	YAML    []byte // the source
	JSON    []byte // generated from YAML, with the same order of keys
}

// Documents returns every document. The caller must not change the result.
func Documents() []Document { return loaded() }

// loaded panics if an embedded document is not valid, which tests rule out.
var loaded = sync.OnceValue(func() []Document {
	documents := make([]Document, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name + ".yaml")
		if err != nil {
			panic(err)
		}
		document, err := Parse(name, text)
		if err != nil {
			panic(err)
		}
		documents = append(documents, document)
	}
	return documents
})

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

// Parse parses a document in YAML. It returns an error if text is not YAML or
// cannot be converted to JSON.
func Parse(name string, text []byte) (Document, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return Document{}, fmt.Errorf("read document %s: %w", name, err)
	}
	document := Document{Name: name, YAML: text}
	var head struct {
		Info struct {
			Title   string `yaml:"title"`
			Summary string `yaml:"summary"`
		} `yaml:"info"`
	}
	if err := root.Decode(&head); err != nil {
		return Document{}, fmt.Errorf("read document %s: %w", name, err)
	}
	document.Title, document.Summary = head.Info.Title, head.Info.Summary
	var err error
	if document.JSON, err = toJSON(&root); err != nil {
		return Document{}, fmt.Errorf("convert document %s to JSON: %w", name, err)
	}
	return document, nil
}

// toJSON converts a YAML tree to JSON with the same order of keys.
func toJSON(root *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	err := writeJSON(jsontext.NewEncoder(&out, jsontext.WithIndent(" ")), root)
	return out.Bytes(), err
}

func writeJSON(out *jsontext.Encoder, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return writeJSON(out, node.Content[0])
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
	return fmt.Errorf("line %d: neither anchors nor aliases are used here", node.Line)
}
