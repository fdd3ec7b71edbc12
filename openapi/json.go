package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// toJSON writes a YAML tree as JSON with the same order of keys.
func toJSON(node *yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, node); err != nil {
		return nil, err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, out.Bytes(), "", " "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return writeJSON(out, node.Content[0])
	case yaml.MappingNode:
		return writeObject(out, node)
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		return writeScalar(out, node)
	}
	return fmt.Errorf("line %d: neither anchors nor aliases are used here", node.Line)
}

func writeObject(out *bytes.Buffer, node *yaml.Node) error {
	out.WriteByte('{')
	for i := 0; i < len(node.Content); i += 2 {
		if i > 0 {
			out.WriteByte(',')
		}
		// Use the text of a key, whatever its YAML type.
		if err := writeValue(out, node.Content[i].Value); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := writeJSON(out, node.Content[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeScalar(out *bytes.Buffer, node *yaml.Node) error {
	if node.Tag == "!!timestamp" {
		return fmt.Errorf("line %d: a time must be in quotes", node.Line)
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return writeValue(out, value)
}

func writeValue(out *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
