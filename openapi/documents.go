// Package openapi embeds the OpenAPI documents of the service. Tests compare them
// with the running service. The package itself does not depend on the service.
package openapi

import (
	"embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed v1.yaml v2.yaml operator.yaml service.yaml
var files embed.FS

// names are the names of the documents, in the order of the documentation pages.
var names = []string{"v1", "v2", "operator", "service"}

// Document is an OpenAPI document in YAML and JSON with the same content.
type Document struct {
	Name  string // "v1"
	Title string // info.title of the document
	YAML  []byte // the source
	JSON  []byte // generated from YAML, with the same order of keys
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
			Title string `yaml:"title"`
		} `yaml:"info"`
	}
	if err := root.Decode(&head); err != nil {
		return Document{}, fmt.Errorf("read document %s: %w", name, err)
	}
	document.Title = head.Info.Title
	var err error
	if document.JSON, err = toJSON(&root); err != nil {
		return Document{}, fmt.Errorf("convert document %s to JSON: %w", name, err)
	}
	return document, nil
}
