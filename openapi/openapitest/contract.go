package openapitest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"merchantorders/openapi"
)

// Contract is the content of documents, prepared for lookups. It is safe for concurrent
// use.
type Contract struct {
	documents []*document
}

// document is one document.
type document struct {
	name          string
	firstSegments map[string]bool // first segments of its paths
	operations    []*operation
	unknownPath   *response
	unknownMethod *response
	mergeSlashes  bool               // a run of slashes in a path counts as one
	delivery      *jsonschema.Schema // body that the service posts to a webhook; nil: it posts none
	deliveries    node               // examples of such bodies
}

// operation is one method of one path.
type operation struct {
	method       string
	path         string // with {name} for a parameter
	segments     []string
	secured      bool
	parameters   []parameter
	body         *jsonschema.Schema // nil: none
	bodyRequired bool
	form         bool // the body may be a form with files instead
	responses    map[int]*response
	// unknownMethod is the response to other methods of the path; nil: that of the document.
	unknownMethod *response
	at            node
}

// value describes a parameter or a header: a text with a schema.
type value struct {
	required bool
	integer  bool
	schema   *jsonschema.Schema
}

type parameter struct {
	value
	name, in string
	aliases  []string
	example  any
}

// response is the description of a response with a status.
type response struct {
	headers map[string]value
	content map[string]*jsonschema.Schema // by media type; nil: any bytes
}

// fallback is the document of every path that belongs to no other.
const fallback = "service"

// Published returns the contract of the documents that the service serves.
func Published() *Contract { return published() }

var published = sync.OnceValue(func() *Contract {
	contract, err := Load(openapi.Documents())
	if err != nil {
		panic(err)
	}
	return contract
})

// Load prepares documents. An error names the element that is not valid.
func Load(documents []openapi.Document) (*Contract, error) {
	contract := &Contract{}
	for _, source := range documents {
		tree, err := newTree(source)
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", source.Name, err)
		}
		d, err := readDocument(source.Name, tree.top())
		if err != nil {
			return nil, fmt.Errorf("document %s: %w", source.Name, err)
		}
		contract.documents = append(contract.documents, d)
	}
	return contract, nil
}

// DeliveryViolation returns an error if a document does not describe the body of a
// delivery to a webhook.
func (c *Contract) DeliveryViolation(document string, body []byte) error {
	for _, d := range c.documents {
		if d.name == document && d.delivery != nil {
			return checkJSON(d.delivery, body)
		}
	}
	return fmt.Errorf("document %s describes no deliveries", document)
}

// DeliveryExamples returns the examples of deliveries to a webhook in a document, by name:
// each is that of a type of event, or one with an order.
func (c *Contract) DeliveryExamples(document string) map[string]any {
	examples := make(map[string]any)
	for _, d := range c.documents {
		if d.name != document {
			continue
		}
		for _, name := range d.deliveries.keys() {
			examples[name] = d.deliveries.get(name, "value").value
		}
	}
	return examples
}

// methods are the members of a path that are operations.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

func readDocument(name string, top node) (*document, error) {
	d := &document{name: name, firstSegments: make(map[string]bool), mergeSlashes: top.get("x-merge-slashes").isTrue()}
	var err error
	if d.unknownPath, err = readResponse(top.get("x-unknown-path"), "404"); err != nil {
		return nil, err
	}
	if d.unknownMethod, err = readResponse(top.get("x-unknown-method"), "405"); err != nil {
		return nil, err
	}
	posted := top.get("webhooks", "event", "post", "requestBody", "content", "application/json")
	if d.delivery, err = posted.get("schema").schema(); err != nil {
		return nil, err
	}
	d.deliveries = posted.get("examples")
	for _, path := range top.get("paths").keys() {
		item := top.get("paths", path)
		for _, method := range methods {
			if !item.get(method).exists() {
				continue
			}
			o, err := readOperation(strings.ToUpper(method), path, top, item)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			d.operations = append(d.operations, o)
			d.firstSegments[o.segments[0]] = true
		}
	}
	return d, nil
}

func readOperation(method, path string, top, item node) (*operation, error) {
	at := item.get(strings.ToLower(method))
	security := top.get("security")
	if own := at.get("security"); own.exists() {
		security = own
	}
	o := &operation{
		method: method, path: path, segments: strings.Split(strings.TrimPrefix(path, "/"), "/"),
		secured: len(security.items()) > 0, responses: make(map[int]*response), at: at,
	}
	var err error
	for _, element := range append(item.get("parameters").items(), at.get("parameters").items()...) {
		p := parameter{name: element.get("name").text(), in: element.get("in").text(), example: element.get("example").value}
		if p.value, err = readValue(element); err != nil {
			return nil, err
		}
		for _, alias := range aliasOf.FindAllStringSubmatch(element.get("description").text(), -1) {
			p.aliases = append(p.aliases, alias[1])
		}
		o.parameters = append(o.parameters, p)
	}
	if other := item.get("x-unknown-method"); other.exists() {
		if o.unknownMethod, err = readResponse(other, "405"); err != nil {
			return nil, err
		}
	}
	o.bodyRequired = at.get("requestBody", "required").isTrue()
	o.form = at.get("requestBody", "content", "multipart/form-data").exists()
	// Of an operation that also takes lines, each element has a result of its own, so that
	// a body with a wrong one is accepted.
	if content := at.get("requestBody", "content"); !content.get("application/x-ndjson").exists() {
		if o.body, err = content.get("application/json", "schema").schema(); err != nil {
			return nil, err
		}
	}
	for _, status := range at.get("responses").keys() {
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, err
		}
		if o.responses[code], err = readResponse(at.get("responses", status), status); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func readValue(at node) (value, error) {
	schema, err := at.get("schema").schema()
	isInteger := func(schema node) bool { return schema.get("type").text() == "integer" }
	return value{
		required: at.get("required").isTrue(),
		integer:  isInteger(at.get("schema")) || slices.ContainsFunc(at.get("schema", "oneOf").items(), isInteger),
		schema:   schema,
	}, err
}

func readResponse(at node, status string) (*response, error) {
	r := &response{headers: make(map[string]value), content: make(map[string]*jsonschema.Schema)}
	var err error
	for name, header := range at.headers(status) {
		if r.headers[http.CanonicalHeaderKey(name)], err = readValue(header); err != nil {
			return nil, err
		}
	}
	for _, mediaType := range at.get("content").keys() {
		schema := at.get("content", mediaType, "schema")
		if mediaType == jsonLines {
			schema = schema.get("contentSchema")
		}
		if r.content[mediaType], err = schema.schema(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Operation names an operation.
type Operation struct {
	Method string
	Path   string // with {name} for a parameter
}

// QueryParameters returns the names of the query parameters of each operation, sorted. An
// alias, of which the description tells, follows its name after a |.
func (c *Contract) QueryParameters() map[Operation][]string {
	all := make(map[Operation][]string)
	for _, d := range c.documents {
		for _, o := range d.operations {
			var names []string
			for _, p := range o.parameters {
				if p.in == "query" {
					names = append(names, strings.Join(append([]string{p.name}, p.aliases...), "|"))
				}
			}
			slices.Sort(names)
			all[Operation{Method: o.method, Path: o.path}] = names
		}
	}
	return all
}

// aliasOf finds the alias of a parameter in its description.
var aliasOf = regexp.MustCompile("`([a-z_A-Z]+)` is an alias")

// Operations returns every operation of a document, or of all if document is
// empty, in the order of paths and methods.
func (c *Contract) Operations(document string) []Operation {
	var all []Operation
	for _, d := range c.documents {
		if document != "" && document != d.name {
			continue
		}
		for _, o := range d.operations {
			all = append(all, Operation{Method: o.method, Path: o.path})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return all
}
