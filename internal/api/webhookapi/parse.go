package webhookapi

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// eventTypes are the names that a webhook may subscribe to.
var eventTypes = func() []string {
	var names []string
	for t := order.EventType(1); t.String() != order.EventType(0).String(); t++ {
		names = append(names, t.String())
	}
	return names
}()

// parseURL parses the member url.
func (a API) parseURL(body web.Object) (string, error) {
	text, ok := body.Text("url")
	if !ok {
		return "", &web.ParamError{Name: "url", Problem: "must be text"}
	}
	if problem := a.Webhooks.URLProblem(text); problem != "" {
		return "", &web.ParamError{Name: "url", Problem: problem}
	}
	return text, nil
}

// parseDescription parses the member description.
func parseDescription(body web.Object) (string, error) {
	text, ok := body.Text("description")
	if !ok {
		return "", &web.ParamError{Name: "description", Problem: "must be text"}
	}
	if problem := webhook.DescriptionProblem(text); problem != "" {
		return "", &web.ParamError{Name: "description", Problem: problem}
	}
	return text, nil
}

// parseTypes parses the member types. An empty list means all.
func parseTypes(body web.Object) (webhook.Types, error) {
	problem := &web.ParamError{Name: "types", Problem: "must be a list of " + strings.Join(eventTypes, ", ")}
	var names []string
	if body["types"].Kind() != '[' || json.Unmarshal(body["types"], &names) != nil {
		return 0, problem
	}
	var types []order.EventType
	for _, name := range names {
		t, ok := webhook.ParseType(name)
		if !ok {
			return 0, problem
		}
		types = append(types, t)
	}
	return webhook.NewTypes(types...), nil
}

// parseNumber parses a member that is a whole number from minimum.
func parseNumber(body web.Object, name string, minimum int64) (int64, error) {
	text := string(body[name]) // the JSON of a number is its text
	n, ok := order.ParseID(text)
	if text == "0" {
		n, ok = 0, true
	} else if n == 0 {
		ok = false // more than 64 bits
	}
	if !ok || n < minimum {
		return 0, &web.ParamError{Name: name, Problem: "must be a whole number from " + strconv.FormatInt(minimum, 10)}
	}
	return n, nil
}

// defaultOverlap is how long the old secret signs too, unless the request says
// otherwise.
const defaultOverlap = 24 * time.Hour

// parseOverlap parses the member overlap.
func parseOverlap(body web.Object) (time.Duration, error) {
	if !body.Has("overlap") {
		return defaultOverlap, nil
	}
	text, _ := body.Text("overlap")
	overlap, err := time.ParseDuration(text)
	if err != nil || overlap < 0 || overlap > webhook.MaxOverlap {
		return 0, &web.ParamError{Name: "overlap", Problem: `must be a duration from "0s" to "168h", such as "24h"`}
	}
	return overlap.Truncate(time.Second), nil
}

// parseChange parses the body of a PATCH.
func (a API) parseChange(body web.Object) (webhook.Change, error) {
	var c webhook.Change
	if body.Has("url") {
		url, err := a.parseURL(body)
		if err != nil {
			return c, err
		}
		c.URL = &url
	}
	if body.Has("description") {
		description, err := parseDescription(body)
		if err != nil {
			return c, err
		}
		c.Description = &description
	}
	if body.Has("types") {
		types, err := parseTypes(body)
		if err != nil {
			return c, err
		}
		c.Types = &types
	}
	if body.Has("enabled") {
		enabled := string(body["enabled"]) == "true"
		if !enabled && string(body["enabled"]) != "false" {
			return c, &web.ParamError{Name: "enabled", Problem: "must be true or false"}
		}
		c.Enabled = &enabled
	}
	return c, nil
}
