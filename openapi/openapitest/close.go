package openapitest

import "slices"

// closeSchemas changes a parsed document in place, so that it describes exactly what the
// service does. Published schemas are open where fields and values may be added; without
// this nobody would notice that a response has a field that no document describes.
//
//   - An object with properties has no others, unless it has additionalProperties.
//   - x-extensible-enum has all values, like enum.
//   - x-errors has all errors of a response, beside the schema that they share.
//   - x-closed has keywords that are added.
func closeSchemas(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			if key != "x-closed" && key != "example" && key != "examples" {
				closeSchemas(member)
			}
		}
		closeSchema(value)
	case []any:
		for _, element := range value {
			closeSchemas(element)
		}
	}
}

func closeSchema(schema map[string]any) {
	_, hasProperties := schema["properties"].(map[string]any)
	if _, ok := schema["additionalProperties"]; hasProperties && isObject(schema["type"]) && !ok {
		schema["additionalProperties"] = false
	}
	if values, ok := schema["x-extensible-enum"]; ok {
		schema["enum"] = values
	}
	if errors, ok := schema["x-errors"].([]any); ok {
		schema["schema"] = schemaOfErrors(errors)
	}
	keywords, _ := schema["x-closed"].(map[string]any)
	for name, keyword := range keywords {
		schema[name] = keyword
	}
}

// isObject reports whether the type of a schema is object, or object or null.
func isObject(kind any) bool {
	kinds, _ := kind.([]any)
	return kind == "object" || slices.Contains(kinds, "object")
}

// schemaOfErrors returns the schema of a body that has one of some errors. Each has the
// possible messages, or a pattern for them, and in the nested form the possible codes.
func schemaOfErrors(errors []any) any {
	bodies := make([]any, len(errors))
	for i, e := range errors {
		described, _ := e.(map[string]any)
		message := map[string]any{"type": "string", "minLength": 1.0}
		for from, to := range map[string]string{"message": "enum", "pattern": "pattern"} {
			if value, ok := described[from]; ok {
				message[to] = value
			}
		}
		codes, nested := described["code"]
		if !nested {
			bodies[i] = closedObject(map[string]any{"message": message})
			continue
		}
		bodies[i] = closedObject(map[string]any{"error": closedObject(map[string]any{"code": map[string]any{"enum": codes}, "message": message})})
	}
	return map[string]any{"anyOf": bodies}
}

// closedObject returns the schema of an object that has all of some properties and no
// others.
func closedObject(properties map[string]any) map[string]any {
	required := make([]any, 0, len(properties))
	for name := range properties {
		required = append(required, name)
	}
	return map[string]any{"type": "object", "additionalProperties": false, "required": required, "properties": properties}
}
