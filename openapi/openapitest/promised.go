package openapitest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"merchantorders/openapi"
)

// Promised returns what callers may depend on in a document, one fact a line: operations,
// parameters, statuses, headers, codes of errors, messages that never change, fields and
// their types. A change that breaks a caller removes or changes a line, because a line of a
// request says all that it requires, and a line of a response all values that it can have.
// What may be added at any time only adds lines.
func Promised(document openapi.Document) ([]string, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(document.JSON))
	if err != nil {
		return nil, err
	}
	p := &promised{document: document.Name, named: make(map[string]bool)}
	top := (&tree{root: root}).top()
	for _, path := range top.get("paths").keys() {
		p.operations(path, top.get("paths", path), sent, received)
	}
	for _, name := range top.get("webhooks").keys() {
		p.operations("webhook "+name, top.get("webhooks", name), received, sent)
	}
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.schema(next.at, next.target(), next.direction, "")
	}
	return p.lines, nil
}

// direction says whether callers send a value or receive it.
type direction string

const (
	sent     direction = "sent"
	received direction = "received"
)

// promised collects the facts of a document.
type promised struct {
	document string
	lines    []string
	named    map[string]bool // schemas that are described or in the queue
	queue    []namedSchema
}

// namedSchema is a schema that others refer to.
type namedSchema struct {
	node
	at        string
	direction direction
}

func (p *promised) add(words ...string) {
	p.lines = append(p.lines, p.document+" "+strings.Join(words, " "))
}

func (p *promised) operations(path string, item node, requests, responses direction) {
	for _, method := range item.keys() {
		operation := item.get(method)
		if !operation.get("responses").exists() {
			continue // parameters of all operations
		}
		at := strings.ToUpper(method) + " " + path
		p.add(at, "operationId "+operation.get("operationId").text())
		var required []string
		for _, parameter := range slices.Concat(item.get("parameters").items(), operation.get("parameters").items()) {
			name := parameter.get("name").text() + " in " + parameter.get("in").text()
			if parameter.get("required").isTrue() {
				required = append(required, name)
			}
			p.schema(at+" "+name, parameter.get("schema"), requests, "")
		}
		body := operation.get("requestBody")
		if body.get("required").isTrue() {
			required = append(required, "body")
		}
		p.add(at, "requires "+strings.Join(required, ", "))
		p.content(at, body, requests)
		headers := make(map[string]bool)
		for _, status := range operation.get("responses").keys() {
			response := operation.get("responses", status)
			for header := range response.headers(status) {
				headers[header] = true
			}
			p.content(at+" "+status, response, responses)
		}
		for header := range headers {
			p.add(at, "header "+header)
		}
	}
}

// content adds the media types of a body, their schemas and their errors.
func (p *promised) content(at string, body node, direction direction) {
	for _, media := range body.get("content").keys() {
		content := body.get("content", media)
		p.schema(at+" "+media, content.get("schema"), direction, "")
		for _, described := range content.get("x-errors").items() {
			codes := described.get("code").items()
			for _, code := range codes {
				p.add(at, fmt.Sprint("error ", code.value))
			}
			if len(codes) == 0 || slices.ContainsFunc(codes, isNumeric) {
				p.messages(at, described)
			}
		}
	}
}

// messages adds the messages of errors without a code or with a numeric one, which never
// change.
func (p *promised) messages(at string, described node) {
	for _, message := range append(described.get("message").items(), described.get("pattern")) {
		if message.exists() {
			p.add(at, fmt.Sprint("message ", message.value))
		}
	}
}

func isNumeric(code node) bool {
	_, err := strconv.Atoi(code.text())
	return err == nil
}

// limits are the keywords that make a schema stricter.
var limits = []string{"const", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minimum", "pattern"}

// schema adds a line for a schema, and lines for those in it. presence says whether the
// property that has the schema is always there.
func (p *promised) schema(at string, schema node, direction direction, presence string) {
	members, _ := schema.value.(map[string]any)
	var words []string
	if ref, ok := members["$ref"].(string); ok {
		name := string(direction) + " " + ref[strings.LastIndexByte(ref, '/')+1:]
		words = append(words, name)
		if !p.named[name] {
			p.named[name] = true
			p.queue = append(p.queue, namedSchema{schema.target(), name, direction})
		}
		members = nil
	}
	word := func(keyword string) {
		if value, ok := members[keyword]; ok {
			words = append(words, fmt.Sprint(keyword, " ", value))
		}
	}
	word("type")
	word("format")
	if direction == sent {
		word("default")
		for _, keyword := range limits {
			word(keyword)
		}
		word("required")
	} else {
		word("enum")
	}
	p.add(strings.TrimSpace(at + ": " + strings.Join(words, ", ") + presence))
	if members == nil {
		return
	}
	for _, keyword := range []string{"enum", "x-extensible-enum"} {
		if keyword == "enum" && direction == received {
			continue // the line of the schema has all of them
		}
		for _, value := range schema.get(keyword).items() {
			p.add(at+": may be", fmt.Sprint(value.value))
		}
	}
	required := schema.get("required").items()
	for _, name := range schema.get("properties").keys() {
		presence := ""
		if direction == received && slices.ContainsFunc(required, func(n node) bool { return n.value == name }) {
			presence = ", always there"
		}
		p.schema(at+"."+name, schema.get("properties", name), direction, presence)
	}
	if lines := schema.get("contentSchema"); lines.exists() {
		p.schema(at+" line", lines, direction, "")
	}
	if items := schema.get("items"); items.exists() {
		p.schema(at+"[]", items, direction, "")
	}
	if others, ok := members["additionalProperties"].(map[string]any); ok {
		p.schema(at+".*", node{tree: schema.tree, value: others}, direction, "")
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for i, choice := range schema.get(keyword).items() {
			p.schema(fmt.Sprintf("%s %s %d", at, keyword, i+1), choice, direction, "")
		}
	}
}
