package openapi_test

import (
	"encoding/json"
	"os"
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
		text, err := json.Marshal(fromYAML)
		testenv.NoError(t, err)
		var again any
		testenv.NoError(t, json.Unmarshal(text, &again))
		if diff := cmp.Diff(again, fromJSON); diff != "" {
			t.Errorf("%s (-YAML +JSON):\n%s", document.Name, diff)
		}
	}
}

// TestEveryDocumentIsListed checks that Documents returns every file of the folder.
func TestEveryDocumentIsListed(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	testenv.NoError(t, err)
	var files, listed []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".yaml"); ok {
			files = append(files, name)
		}
	}
	for _, document := range openapi.Documents() {
		listed = append(listed, document.Name)
	}
	slices := cmp.Transformer("set", func(names []string) map[string]bool {
		set := map[string]bool{}
		for _, name := range names {
			set[name] = true
		}
		return set
	})
	if diff := cmp.Diff(files, listed, slices); diff != "" {
		t.Errorf("documents (-in the folder +listed):\n%s", diff)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want, err string }{
		"order of keys":   {"b: 1\na: [x, null, 1.5, true]\n", `{"b":1,"a":["x",null,1.5,true]}`, ""},
		"key of digits":   {"200: x\n", `{"200":"x"}`, ""},
		"text of digits":  {"a: \"200\"\n", `{"a":"200"}`, ""},
		"signs":           {"a: <b> & \"c\"\n", `{"a":"<b> & \"c\""}`, ""},
		"no YAML":         {"a: [\n", "", "read document"},
		"alias":           {"a: &x 1\nb: *x\n", "", "neither anchors nor aliases"},
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
			if got := compact(t, document.JSON); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
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
