// Package openapi holds the OpenAPI documents of the service: for each part of
// it what it takes and what it answers, written to be read. Tests hold them to
// the running service.
//
// It knows the files and nothing of the service.
package openapi

import (
	"embed"
	"fmt"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed v1.yaml v2.yaml operator.yaml service.yaml
var files embed.FS

// names are the documents, in the order in which they are shown.
var names = []string{"v1", "v2", "operator", "service"}

// Document is one OpenAPI document in its two forms, which say the same.
type Document struct {
	Name  string // "v1"
	Title string // as the document gives it
	YAML  []byte // as it was written
	JSON  []byte // made from it, in the same order
}

// Documents returns every document. The result is shared: it must not be
// changed.
func Documents() []Document { return loaded() }

// loaded panics over a document that is no YAML: then the program was never
// tested.
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

// Parse returns the document with a text, which is YAML. An error says what is
// no YAML or has no form in JSON.
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
		return Document{}, fmt.Errorf("turn document %s into JSON: %w", name, err)
	}
	return document, nil
}
