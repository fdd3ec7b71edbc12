package webhookapi

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/strict"
	"merchantorders/internal/webhook"
)

// parseTypes parses the member types. An empty list means all.
func parseTypes(body *strict.Body) webhook.Types {
	var names []string
	value := body.Object["types"]
	valid := value.Kind() == '[' && json.Unmarshal(value, &names) == nil
	types, known := webhook.ParseTypes(names)
	if !valid || !known {
		body.Refuse("types", "must be a list of "+strings.Join(webhook.TypeNames, ", "))
		return 0
	}
	return types
}

// includeOrder is the value of the member include.
var includeOrder = "order"

// parseInclude parses the member include: whether deliveries have the order.
func parseInclude(body *strict.Body) bool {
	value := body.Object["include"]
	text, _ := body.Object.Text("include")
	if text != includeOrder && value.Kind() != 'n' {
		body.Refuse("include", `must be "order" or null`)
	}
	return text == includeOrder
}

// defaultOverlap is how long the old secret signs too, unless the request says
// otherwise.
const defaultOverlap = 24 * time.Hour

// parseOverlap parses the member overlap.
func parseOverlap(body *strict.Body) time.Duration {
	if !body.Has("overlap") {
		return defaultOverlap
	}
	text, _ := body.Object.Text("overlap")
	overlap, err := time.ParseDuration(text)
	if err != nil || overlap < 0 || overlap > webhook.MaxOverlap {
		body.Refuse("overlap", `must be a duration from "0s" to "168h", such as "24h"`)
	}
	return overlap.Truncate(time.Second)
}

// parseChange parses the body of a PATCH.
func (a API) parseChange(body *strict.Body) webhook.Change {
	var c webhook.Change
	if body.Has("url") {
		url := body.Text("url", a.Webhooks.URLProblem)
		c.URL = &url
	}
	if body.Has("description") {
		description := body.Text("description", webhook.DescriptionProblem)
		c.Description = &description
	}
	if body.Has("types") {
		types := parseTypes(body)
		c.Types = &types
	}
	if body.Has("include") {
		orders := parseInclude(body)
		c.Orders = &orders
	}
	if body.Has("enabled") {
		enabled := body.Bool("enabled")
		c.Enabled = &enabled
	}
	return c
}
