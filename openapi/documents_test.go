package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"merchantorders/internal/testenv"
	"merchantorders/openapi"
)

// TestDocumentsAreValid validates every document and every example in it.
func TestDocumentsAreValid(t *testing.T) {
	t.Parallel()
	for _, document := range openapi.Documents() {
		t.Run(document.Name, func(t *testing.T) {
			t.Parallel()
			for form, text := range map[string][]byte{"YAML": document.YAML, "JSON": document.JSON} {
				parsed, err := openapi3.NewLoader().LoadFromData(text)
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if err := parsed.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.AllowExtraSiblingFields("description")); err != nil {
					t.Errorf("%s: %v", form, err)
				}
			}
		})
	}
}

// TestFormatsHaveEqualContent compares the YAML and JSON of each document.
func TestFormatsHaveEqualContent(t *testing.T) {
	t.Parallel()
	for _, document := range openapi.Documents() {
		var fromYAML, fromJSON any
		testenv.NoError(t, yaml.Unmarshal(document.YAML, &fromYAML))
		testenv.NoError(t, json.Unmarshal(document.JSON, &fromJSON))
		text := testenv.Of(json.Marshal(fromYAML)).Must(t)
		var again any
		testenv.NoError(t, json.Unmarshal(text, &again))
		testenv.Equal(t, document.Name, again, fromJSON)
	}
}

// TestWithServer checks that both formats name the server, and nothing else changes.
func TestWithServer(t *testing.T) {
	t.Parallel()
	const url = "https://orders.example.com/shop"
	for _, document := range openapi.Documents() {
		served := document.WithServer(url)
		for form, text := range map[string][]byte{"YAML": served.YAML, "JSON": served.JSON} {
			parsed := testenv.Of(openapi3.NewLoader().LoadFromData(text)).Must(t)
			if len(parsed.Servers) != 1 || parsed.Servers[0].URL != url {
				t.Errorf("%s: the servers of the %s are %+v", document.Name, form, parsed.Servers)
			}
		}
		testenv.Equal(t, document.Name+" without a URL", string(document.YAML), string(document.WithServer("").YAML))
	}
}

// TestIntegratorsReadTheDocuments checks that texts cite no document of this project, that
// headers of all JSON are said once, that lines have schemas, and that version 2 names the codes.
func TestIntegratorsReadTheDocuments(t *testing.T) {
	t.Parallel()
	for _, document := range openapi.Documents() {
		testenv.Equal(t, document.Name+": cited", nil, regexp.MustCompile(`\b(decision|spec) \d`).Find(document.JSON))
		if n := bytes.Count(document.JSON, []byte(`"X-Content-Type-Options"`)); n > 25 {
			t.Errorf("%s: a header of all JSON stands %d times", document.Name, n)
		}
		paths := testenv.Of(openapi3.NewLoader().LoadFromData(document.JSON)).Must(t).Paths
		for path, item := range paths.Map() {
			if document.Name != "service" && item.Parameters.GetByInAndName("header", "Prefer") == nil {
				t.Errorf("%s %s: Prefer is not described", document.Name, path)
			}
		}
		if bytes.Contains(document.JSON, []byte(`"application/x-ndjson": {}`)) {
			t.Errorf("%s: lines without a schema", document.Name)
		}
	}
	v2 := testenv.Of(openapi3.NewLoader().LoadFromData(openapi.Documents()[1].JSON)).Must(t)
	for path, item := range v2.Paths.Map() {
		for method, operation := range item.Operations() {
			_, flat := operation.Responses.Value("401").Value.Content["application/json"].Schema.Value.Properties["message"]
			if codes, ok := operation.Extensions["x-error-codes"].([]any); ok == flat || !flat && !slices.Contains(codes, any("unauthorized")) {
				t.Errorf("%s %s: the codes are %v", method, path, codes)
			}
		}
	}
}

// TestGeneratorsReadTheDocuments looks for forms that are valid and that generators of
// clients do not read. TestDocumentsWithThirdPartyTools runs the generators.
func TestGeneratorsReadTheDocuments(t *testing.T) {
	t.Parallel()
	for _, document := range openapi.Documents() {
		var root any
		testenv.NoError(t, json.Unmarshal(document.JSON, &root))
		eachSchema(document.Name, root, func(at string, schema map[string]any) {
			testenv.Equal(t, at, "", refusedForm(schema))
		})
	}
	for text, want := range map[string]string{
		`{"items":{"items":true}}`:                                "items: true",
		`{"a":{"type":["string","boolean","null"]}}`:              "several types",
		`{"a":{"anyOf":[{"type":"string"}]}}`:                     "anyOf",
		`{"a":{"oneOf":[{"required":["b"]}]}}`:                    "oneOf without types",
		`{"a":{"oneOf":[{"type":"string"}],"default":"b"}}`:       "oneOf with a default",
		`{"a":{"const":"b"}}`:                                     "const or enum without a type",
		`{"a":{"type":["string","null"]},"x-closed":{"anyOf":1}}`: "",
	} {
		var root any
		var found string
		testenv.NoError(t, json.Unmarshal([]byte(text), &root))
		eachSchema("", root, func(_ string, schema map[string]any) { found += refusedForm(schema) })
		testenv.Equal(t, text, want, found)
	}
}

// refusedForm returns what a generator does not read in a schema; empty: nothing.
func refusedForm(schema map[string]any) string {
	kind, hasType := schema["type"]
	kinds, _ := kind.([]any)
	choices, _ := schema["oneOf"].([]any)
	_, hasDefault := schema["default"]
	_, hasConst := schema["const"]
	_, hasEnum := schema["enum"]
	_, hasAny := schema["anyOf"]
	switch {
	case schema["items"] == true: // oapi-codegen, ogen, zod
		return "items: true"
	case len(kinds) > 2: // oapi-codegen
		return "several types"
	case hasAny: // ogen
		return "anyOf"
	case len(choices) > 0 && hasDefault: // ogen
		return "oneOf with a default"
	case (hasConst || hasEnum) && !hasType: // the Go generators use any
		return "const or enum without a type"
	}
	for _, choice := range choices {
		members, _ := choice.(map[string]any)
		if members["type"] == nil && members["$ref"] == nil { // ogen
			return "oneOf without types"
		}
	}
	return ""
}

// eachSchema calls visit for every object that a generator may read as a schema.
func eachSchema(at string, value any, visit func(at string, schema map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(at, value)
		for key, member := range value {
			if !strings.HasPrefix(key, "x-") && key != "example" && key != "examples" && key != "not" {
				eachSchema(at+"/"+key, member, visit)
			}
		}
	case []any:
		for i, element := range value {
			eachSchema(fmt.Sprintf("%s/%d", at, i), element, visit)
		}
	}
}

// TestEveryDocumentIsListed checks that Documents returns every file of the folder.
func TestEveryDocumentIsListed(t *testing.T) {
	t.Parallel()
	entries := testenv.Of(os.ReadDir(".")).Must(t)
	var files, listed []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".yaml"); ok {
			files = append(files, name)
		}
	}
	for _, document := range openapi.Documents() {
		listed = append(listed, document.Name)
	}
	testenv.Equal(t, "documents", files, listed, cmp.Transformer("set", func(names []string) map[string]bool {
		set := map[string]bool{}
		for _, name := range names {
			set[name] = true
		}
		return set
	}))
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want, err string }{
		"order of keys":   {"b: 1\na: [x, null, 1.5, true]\n", `{"b":1,"a":["x",null,1.5,true]}`, ""},
		"key of digits":   {"200: x\n", `{"200":"x"}`, ""},
		"text of digits":  {"a: \"200\"\n", `{"a":"200"}`, ""},
		"signs":           {"a: <b> & \"c\"\n", `{"a":"<b> & \"c\""}`, ""},
		"no YAML":         {"a: [\n", "", "read document"},
		"key given twice": {"a: 1\na: 2\n", "", "duplicate"},
		"alias":           {"a: &x [1]\nb: *x\n", `{"a":[1],"b":[1]}`, ""},
		"merge key":       {"a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3, e: 4}\n", `{"a":{"b":1,"c":2},"d":{"b":1,"c":3,"e":4}}`, ""},
		"nested parts":    {"x-parts:\n  a: &x {b: 1}\n  c: &y {<<: *x, d: 2}\ne: *y\n", `{"e":{"b":1,"d":2}}`, ""},
		"statuses":        {"x-parts: &x {401: a, 500: b}\nc: {404: d, <<: *x, 500: e}\n", `{"c":{"401":"a","404":"d","500":"e"}}`, ""},
		"time unquoted":   {"a: 2026-11-20\n", "", "a time must be in quotes"},
		"title elsewhere": {"info: {title: T}\n", `{"info":{"title":"T"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := openapi.Parse("x", []byte(test.text))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want %q", err, test.err)
				}
				return
			}
			testenv.NoError(t, err)
			testenv.Equal(t, "document", test.want, compact(t, document.JSON))
		})
	}
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var value json.RawMessage
	testenv.NoError(t, json.Unmarshal(text, &value))
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	testenv.NoError(t, encoder.Encode(value))
	return strings.TrimSpace(out.String())
}
