package docpages

import (
	"cmp"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/openapi"
)

// reference is what the page of an OpenAPI document shows of it. An element with Ref is
// the component of that name.
type reference struct {
	Info struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"info"`
	Security   []security         `json:"security"`
	Tags       []*tag             `json:"tags"`
	Paths      named[*operations] `json:"paths"`
	Webhooks   named[*operations] `json:"webhooks"`
	Deliveries []*operation       `json:"-"`                 // requests that the service sends
	JSON       named[*header]     `json:"x-json-headers"`    // of every response with JSON
	Refusal    named[*header]     `json:"x-refusal-headers"` // of each with a status 4xx
	Components struct {
		SecuritySchemes named[scheme]     `json:"securitySchemes"`
		Parameters      named[*parameter] `json:"parameters"`
		RequestBodies   named[*body]      `json:"requestBodies"`
		Responses       named[*response]  `json:"responses"`
		Headers         named[*header]    `json:"headers"`
		Schemas         named[*schema]    `json:"schemas"`
	} `json:"components"`
}

// security has the names of security schemes that a request needs together.
type security map[string][]string

type scheme struct {
	Description string `json:"description"`
}

// tag groups operations.
type tag struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Operations  []*operation `json:"-"`
}

// operations are those of a path.
type operations struct {
	Parameters []*parameter `json:"parameters"`
	Get        *operation   `json:"get"`
	Put        *operation   `json:"put"`
	Post       *operation   `json:"post"`
	Patch      *operation   `json:"patch"`
	Delete     *operation   `json:"delete"`
}

type operation struct {
	ID          string           `json:"operationId"`
	Tags        []string         `json:"tags"`
	Summary     string           `json:"summary"`
	Description string           `json:"description"`
	Security    *[]security      `json:"security"`
	Parameters  []*parameter     `json:"parameters"`
	Body        *body            `json:"requestBody"`
	Responses   named[*response] `json:"responses"`
	Method      string           `json:"-"`
	Path        string           `json:"-"`
	Public      bool             `json:"-"` // needs no token
}

type parameter struct {
	Ref         ref            `json:"$ref"`
	Name        string         `json:"name"`
	In          string         `json:"in"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Example     jsontext.Value `json:"example"`
	Schema      *schema        `json:"schema"`
}

type body struct {
	Ref         ref          `json:"$ref"`
	Description string       `json:"description"`
	Content     named[media] `json:"content"`
}

type response struct {
	Ref         ref            `json:"$ref"`
	Description string         `json:"description"`
	Headers     named[*header] `json:"headers"`
	Content     named[media]   `json:"content"`
}

type header struct {
	Ref         ref     `json:"$ref"`
	Description string  `json:"description"`
	Schema      *schema `json:"schema"`
}

// media is a body in one media type.
type media struct {
	Schema   *schema        `json:"schema"`
	Examples named[example] `json:"examples"`
	Errors   []struct {
		Codes    []string `json:"code"`
		Messages []string `json:"message"`
	} `json:"x-errors"`
}

type example struct {
	Summary string         `json:"summary"`
	Value   jsontext.Value `json:"value"`
}

// Text returns the example as it is sent: JSON with indentation, or the lines of a text.
func (e example) Text() string {
	return textOf(e.Value, jsontext.Multiline(true), jsontext.WithIndent("  "))
}

// textOf returns the content of a JSON string, and any other value as JSON.
func textOf(value jsontext.Value, format ...jsontext.Options) string {
	if value.Kind() == '"' {
		var text string
		_ = json.Unmarshal(value, &text) // the document has only valid values
		return text
	}
	value = value.Clone()
	_ = value.Format(format...)
	return string(value)
}

// ref is a reference to a component, such as "#/components/schemas/Order".
type ref string

// Name returns the name of the component.
func (r ref) Name() string { return path.Base(string(r)) }

// named is an object of JSON in its order.
type named[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSONFrom reads an object.
func (n *named[T]) UnmarshalJSONFrom(in *jsontext.Decoder) error {
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for in.PeekKind() != '}' {
		var m member[T]
		if err := json.UnmarshalDecode(in, &m.Name); err != nil {
			return err
		}
		if err := json.UnmarshalDecode(in, &m.Value); err != nil {
			return err
		}
		*n = append(*n, m)
	}
	_, err := in.ReadToken()
	return err
}

// Get returns the value with a name, or the zero value.
func (n named[T]) Get(name string) (value T) {
	for _, m := range n {
		if m.Name == name {
			return m.Value
		}
	}
	return value
}

// readReference reads a document, resolves its references to parameters and bodies of
// requests, and puts its operations under their tags.
func readReference(document openapi.Document) (*reference, error) {
	r := &reference{}
	if err := json.Unmarshal(document.JSON, r); err != nil {
		return nil, fmt.Errorf("read document %s: %w", document.Name, err)
	}
	for _, item := range r.Paths {
		for _, o := range r.prepare(item) {
			i := slices.IndexFunc(r.Tags, func(t *tag) bool { return t.Name == o.Tags[0] })
			r.Tags[i].Operations = append(r.Tags[i].Operations, o)
		}
	}
	for _, item := range r.Webhooks {
		r.Deliveries = append(r.Deliveries, r.prepare(item)...)
	}
	return r, nil
}

// prepare returns the operations of a path.
func (r *reference) prepare(item member[*operations]) (all []*operation) {
	for _, o := range []struct {
		method string
		*operation
	}{{"GET", item.Value.Get}, {"PUT", item.Value.Put}, {"POST", item.Value.Post}, {"PATCH", item.Value.Patch}, {"DELETE", item.Value.Delete}} {
		if o.operation == nil {
			continue
		}
		o.Method, o.Path = o.method, item.Name
		o.Parameters = slices.Concat(item.Value.Parameters, o.Parameters)
		for i, p := range o.Parameters {
			if p.Ref != "" {
				o.Parameters[i] = r.Components.Parameters.Get(p.Ref.Name())
			}
		}
		if o.Body != nil && o.Body.Ref != "" {
			o.Body = r.Components.RequestBodies.Get(o.Body.Ref.Name())
		}
		needed := r.Security
		if o.Security != nil {
			needed = *o.Security
		}
		o.Public = len(needed) == 0
		all = append(all, o.operation)
	}
	return all
}

// Curl returns a command that sends the request, with the required parameters; empty for
// requests that the service sends.
func (o *operation) Curl() string {
	if !strings.HasPrefix(o.Path, "/") {
		return ""
	}
	url, query, options := o.Path, "?", ""
	if o.Method != "GET" {
		options += " -X " + o.Method
	}
	if !o.Public {
		options += ` -H "Authorization: Bearer $TOKEN"`
	}
	for _, p := range o.Parameters {
		switch value := textOf(p.example()); {
		case p.In == "path":
			url = strings.ReplaceAll(url, "{"+p.Name+"}", value)
		case p.Required && p.In == "query":
			url += query + p.Name + "=" + value
			query = "&"
		case p.Required:
			options += fmt.Sprintf(` -H "%s: %s"`, p.Name, value)
		}
	}
	if o.Body != nil {
		body := o.Body.Content[0]
		if body.Name != "application/json" {
			options += ` -H "Content-Type: ` + body.Name + `"`
		}
		data := "@FILE"
		if len(body.Value.Examples) > 0 {
			data = "'" + strings.ReplaceAll(textOf(body.Value.Examples[0].Value.Value), "'", `'\''`) + "'"
		}
		options += " --data-binary " + data
	}
	return "curl" + options + ` "$BASE` + url + `"`
}

// example returns an example of the parameter's value.
func (p *parameter) example() jsontext.Value {
	if p.Example == nil && len(p.Schema.Examples) > 0 {
		return p.Schema.Examples[0]
	}
	return p.Example
}

// inReference is an operation with the document that has its components.
type inReference struct {
	Reference *reference
	Operation *operation
}

// reference renders the body of a document's page.
func (s *site) reference(document openapi.Document) template.HTML {
	return template.HTML(s.run("reference.html", must(readReference(document))))
}

// schema is a JSON schema.
type schema struct {
	Ref                  ref              `json:"$ref"`
	Type                 types            `json:"type"`
	Format               string           `json:"format"`
	Description          string           `json:"description"`
	Const                jsontext.Value   `json:"const"`
	Enum                 []jsontext.Value `json:"enum"`
	KnownValues          []jsontext.Value `json:"x-extensible-enum"`
	Default              jsontext.Value   `json:"default"`
	Examples             []jsontext.Value `json:"examples"`
	Pattern              string           `json:"pattern"`
	Minimum              jsontext.Value   `json:"minimum"`
	Maximum              jsontext.Value   `json:"maximum"`
	MinLength            jsontext.Value   `json:"minLength"`
	MaxLength            jsontext.Value   `json:"maxLength"`
	MinItems             jsontext.Value   `json:"minItems"`
	MaxItems             jsontext.Value   `json:"maxItems"`
	Items                *schema          `json:"items"`
	Lines                *schema          `json:"contentSchema"`
	Properties           named[*schema]   `json:"properties"`
	Required             []string         `json:"required"`
	AdditionalProperties values           `json:"additionalProperties"`
	OneOf                []*schema        `json:"oneOf"`
	AllOf                []*schema        `json:"allOf"`
}

// types are the types of a value; the document has one or several.
type types []string

// UnmarshalJSON reads a string or an array.
func (t *types) UnmarshalJSON(text []byte) error {
	if text[0] == '"' {
		*t = types{""}
		return json.Unmarshal(text, &(*t)[0])
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// values has the schema of properties with any name; nil if a boolean allows or forbids
// them.
type values struct{ Schema *schema }

// UnmarshalJSON reads a schema or a boolean.
func (v *values) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, &v.Schema)
}

// Words returns the types in words, without the one that Items or another schema shows.
func (s *schema) Words() string { return cmp.Or(strings.Join(s.Type, " or "), "any") }

// Nullable reports whether null is allowed.
func (s *schema) Nullable() bool { return slices.Contains(s.Type, "null") }

// Optional reports whether a property may be absent.
func (s *schema) Optional(property string) bool { return !slices.Contains(s.Required, property) }

// Rules returns in words what else values must be.
func (s *schema) Rules() (rules []string) {
	add := func(format string, value ...any) { rules = append(rules, fmt.Sprintf(format, value...)) }
	bounds := func(from, to jsontext.Value, unit string) {
		switch {
		case from != nil && to != nil:
			add("%s to %s%s", from, to, unit)
		case from != nil:
			add("at least %s%s", from, unit)
		case to != nil:
			add("at most %s%s", to, unit)
		}
	}
	if s.Const != nil {
		add("always %s", textOf(s.Const))
	}
	if len(s.Enum) > 0 {
		add("one of %s", list(s.Enum))
	}
	if len(s.KnownValues) > 0 {
		add("%s; more may come", list(s.KnownValues))
	}
	if s.Format != "" && s.Format != "int64" {
		add("%s", s.Format)
	}
	bounds(s.Minimum, s.Maximum, "")
	bounds(s.MinLength, s.MaxLength, " characters")
	bounds(s.MinItems, s.MaxItems, " elements")
	if s.Pattern != "" {
		add("pattern %s", s.Pattern)
	}
	if s.Default != nil {
		add("default %s", textOf(s.Default))
	}
	if len(s.Examples) > 0 && s.Const == nil && len(s.Enum) == 0 {
		add("such as %s", list(s.Examples))
	}
	return rules
}

// list returns values with commas between them.
func list(values []jsontext.Value) string {
	var texts []string
	for _, value := range values {
		texts = append(texts, textOf(value))
	}
	return strings.Join(texts, ", ")
}
