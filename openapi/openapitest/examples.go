package openapitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Example is a request and its response in a document. In the document it is an example
// of a response. Its member x-request says how the request differs from the examples of
// the parameters and from the example body with the same name:
//
//	path, query, header: values of parameters
//	body: a body
//	as: the token: nobody's (none), unscoped (valid, without the scope); else a valid one
//	fault: what is broken in the service: broken, unavailable, files, unready
type Example struct {
	Document  string
	Operation string
	Name      string
	Method    string
	Route     string   // with {name} for a parameter of the path
	Query     []string // names of the parameters of the query
	Path      string   // with its query
	Header    http.Header
	Body      []byte   // nil: none
	Fields    []string // names of the members that a body may have
	As        string
	Fault     string
	Status    int
	Want      any // body of the response, decoded by encoding/json
}

// String returns the name of the example.
func (e Example) String() string {
	return fmt.Sprintf("%s/%s/%d/%s", e.Document, e.Operation, e.Status, e.Name)
}

// exampleRequest is the content of x-request.
type exampleRequest struct {
	Path, Query, Header map[string]string
	Body                any
	As, Fault           string
}

// Examples returns every example of a JSON response. It returns an error if a response
// has no example, or if a request body belongs to no response.
func (c *Contract) Examples() ([]Example, error) {
	var all []Example
	for _, d := range c.documents {
		for _, o := range d.operations {
			examples, err := o.examples(d.name)
			if err != nil {
				return nil, fmt.Errorf("document %s: %s %s: %w", d.name, o.method, o.path, err)
			}
			all = append(all, examples...)
		}
	}
	return all, nil
}

// withoutExamples are the operations whose responses have no examples: documents, pages,
// metrics and security.txt.
var withoutExamples = map[string]bool{"getDocument": true, "docsIndex": true, "docsGuide": true, "docsReference": true, "docsClient": true, "docsAsset": true, "metrics": true, "securityContact": true}

func (o *operation) examples(document string) ([]Example, error) {
	id := o.at.get("operationId").text()
	bodies := o.at.get("requestBody", "content", "application/json", "examples")
	unused := make(map[string]bool)
	for _, name := range bodies.keys() {
		unused[name] = true
	}
	var all []Example
	for status := range o.responses {
		shown := o.at.get("responses", fmt.Sprint(status), "content", "application/json", "examples")
		// Responses that need several requests have this mark. Other tests send them.
		apart := o.at.get("responses", fmt.Sprint(status), "content", "application/json", "x-shown-elsewhere").exists()
		if _, isJSON := o.responses[status].content["application/json"]; isJSON && len(shown.keys()) == 0 && !apart && !withoutExamples[id] {
			return nil, fmt.Errorf("status %d has no example", status)
		}
		for _, name := range shown.keys() {
			e := Example{Document: document, Operation: id, Name: name, Method: o.method, Route: o.path, Status: status}
			if err := o.fill(&e, shown.get(name), bodies.get(name, "value")); err != nil {
				return nil, fmt.Errorf("example %s: %w", name, err)
			}
			delete(unused, name)
			all = append(all, e)
		}
	}
	for name := range unused {
		return nil, fmt.Errorf("no response belongs to the body %s", name)
	}
	return all, nil
}

// fill sets the request of an example.
func (o *operation) fill(e *Example, shown, body node) error {
	var given exampleRequest
	if err := convert(shown.get("x-request").value, &given); err != nil {
		return err
	}
	if err := convert(shown.get("value").value, &e.Want); err != nil {
		return err
	}
	path, query := o.path, url.Values{}
	for _, p := range o.parameters {
		if p.in == "query" {
			e.Query = append(e.Query, p.name)
		}
		if p.in != "path" {
			continue
		}
		value, ok := given.Path[p.name]
		if !ok {
			value = fmt.Sprint(p.example)
		}
		path = strings.ReplaceAll(path, "{"+p.name+"}", url.PathEscape(value))
	}
	for name, value := range given.Query {
		query.Set(name, value)
	}
	e.Path, e.Header, e.As, e.Fault = path, make(http.Header), given.As, given.Fault
	if len(query) > 0 {
		e.Path += "?" + query.Encode()
	}
	for name, value := range given.Header {
		e.Header.Set(name, value)
	}
	sent := given.Body
	if body.exists() {
		sent = body.value
	}
	if sent == nil {
		return nil
	}
	if e.Header.Get("Content-Type") == "" {
		e.Header.Set("Content-Type", "application/json")
	}
	if o.body != nil {
		e.Fields = members(o.body)
	}
	var err error
	e.Body, err = json.Marshal(sent)
	return err
}

// members returns the names of the members of an object.
func members(s *jsonschema.Schema) []string {
	names := slices.Collect(maps.Keys(s.Properties))
	for _, part := range slices.Concat([]*jsonschema.Schema{s.Ref}, s.AllOf, s.AnyOf, s.OneOf) {
		if part != nil {
			names = append(names, members(part)...)
		}
	}
	return names
}

// convert decodes an element of a document into a Go value.
func convert(value, into any) error {
	if value == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
