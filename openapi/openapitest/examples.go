package openapitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Example is a request that a document shows, and the answer that it gives. In
// the documents it is an example of a response; its member x-request has what
// the request has beside the examples of the parameters and the example of the
// body with the same name:
//
//	path, query, header: values of parameters
//	body: a body
//	as: whose token it carries: nobody's, or unscoped, which is good but not for this; else a good one
//	fault: what is broken in the service: broken, unavailable, files, unready
type Example struct {
	Document  string
	Operation string
	Name      string
	Method    string
	Path      string // with its query
	Header    http.Header
	Body      []byte // nil: none
	As        string
	Fault     string
	Status    int
	Want      any // body of the answer, as encoding/json reads it
}

// String names the example.
func (e Example) String() string {
	return fmt.Sprintf("%s/%s/%d/%s", e.Document, e.Operation, e.Status, e.Name)
}

// asked is x-request.
type asked struct {
	Path, Query, Header map[string]string
	Body                any
	As, Fault           string
}

// Examples returns every example of an answer in JSON. An error names what of
// an example cannot be used: an answer without one, a body that no answer
// belongs to.
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

// elsewhere are the operations whose answers are not shown in the documents:
// the documents and pages themselves, figures, and files.
var elsewhere = map[string]bool{"getDocument": true, "docsIndex": true, "docsGuide": true, "docsReference": true, "docsAsset": true, "metrics": true}

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
		// Answers that take several requests say so; others' tests send those.
		apart := o.at.get("responses", fmt.Sprint(status), "content", "application/json", "x-shown-elsewhere").there()
		if _, isJSON := o.responses[status].content["application/json"]; isJSON && len(shown.keys()) == 0 && !apart && !elsewhere[id] {
			return nil, fmt.Errorf("status %d has no example", status)
		}
		for _, name := range shown.keys() {
			e := Example{Document: document, Operation: id, Name: name, Method: o.method, Status: status}
			if err := o.fill(&e, shown.get(name), bodies.get(name, "value")); err != nil {
				return nil, fmt.Errorf("example %s: %w", name, err)
			}
			delete(unused, name)
			all = append(all, e)
		}
	}
	for name := range unused {
		return nil, fmt.Errorf("no answer belongs to the body %s", name)
	}
	return all, nil
}

// fill makes the request of an example.
func (o *operation) fill(e *Example, shown, body node) error {
	var given asked
	if err := convert(shown.get("x-request").value, &given); err != nil {
		return err
	}
	if err := convert(shown.get("value").value, &e.Want); err != nil {
		return err
	}
	path, query := o.path, url.Values{}
	for _, p := range o.parameters {
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
	if body.there() {
		sent = body.value
	}
	if sent == nil {
		return nil
	}
	var err error
	e.Body, err = json.Marshal(sent)
	return err
}

// convert reads a value of a document into another form.
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
