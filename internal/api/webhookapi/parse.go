package webhookapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// parseTypes parses the member types. An empty list means all.
func parseTypes(body *strict.Body) delivery.Types {
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

// ParseWanted parses the parameter types of a feed: those that a webhook may have, separated by
// commas. It returns nil if it is absent: all types are wanted.
func ParseWanted(query *web.Query) func(order.EventType) bool {
	text := query.Text("types")
	if text == "" {
		return nil
	}
	types, ok := webhook.ParseTypes(strings.Split(text, ","))
	if !ok {
		query.Refuse("types", "must be one or several of "+strings.Join(webhook.TypeNames, ", ")+", separated by commas")
	}
	return types.Has
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

// parseHeaders parses the member headers: an object of names and values, or null for none.
func parseHeaders(body *strict.Body) map[string]delivery.Secret {
	if body.Null("headers") {
		return map[string]delivery.Secret{}
	}
	object, err := strict.ParseObject(body.Object["headers"])
	if err != nil || len(object) > webhook.MaxHeaders {
		body.Refuse("headers", "must be an object of at most 10 names and values, or null")
		return nil
	}
	headers := make(map[string]delivery.Secret, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value, _ := object.Text(name)
		canonical := http.CanonicalHeaderKey(name)
		if _, twice := headers[canonical]; twice {
			body.Refuse("headers", "must have each name once")
		}
		body.Refuse("headers", webhook.HeaderNameProblem(name))
		body.Refuse("headers", webhook.CredentialProblem(value))
		headers[canonical] = delivery.Secret(value)
	}
	return headers
}

// parseBasic parses the members username and password, which are given together. Two
// empty texts mean none, and so does null.
func parseBasic(body *strict.Body) (username string, password delivery.Secret) {
	if body.Null("username") && (!body.Has("password") || body.Null("password")) {
		return "", ""
	}
	username, hasName := body.Object.Text("username")
	text, hasPassword := body.Object.Text("password")
	switch {
	case !hasName || !hasPassword:
		body.Refuse("username", "and password must be given together, as texts or null")
	case username != "" || text != "":
		body.Refuse("username", webhook.UsernameProblem(username))
		body.Refuse("password", webhook.CredentialProblem(text))
	}
	return username, delivery.Secret(text)
}

// startName returns the name of the member that says where deliveries begin: the number of
// an event, or a cursor of the feed of all merchants.
func startName(r *web.Request) string {
	if merchantOf(r) == delivery.Marketplace {
		return web.CursorName
	}
	return "after"
}

// parseStart parses the member with the name startName.
func parseStart(body *strict.Body, name string) (start order.MarketCursor) {
	if name != web.CursorName {
		start.Seq = body.Int(name, 0, strict.MaxInt)
		return start
	}
	body.Text(name, func(text string) string {
		var ok bool
		if start, ok = orderapi.ParseMarketCursor(text); !ok {
			return `must be "next" of the feed of all merchants, or empty for its beginning`
		}
		return ""
	})
	return start
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
	overlap, ok := order.ParseDuration(text)
	if !ok || overlap > webhook.MaxOverlap {
		body.Refuse("overlap", `must be a duration from "0s" to "168h", such as "24h"`)
	}
	return overlap.Truncate(time.Second)
}

// parseChange parses the body of a PATCH, or of an addition, which must have a URL.
func (a API) parseChange(body *strict.Body, addition bool) (c webhook.Change) {
	if addition || body.Has("url") {
		c.URL = new(body.Text("url", a.Webhooks.URLProblem))
	}
	if body.Has("description") {
		c.Description = new(body.Text("description", webhook.DescriptionProblem))
	}
	if body.Has("types") {
		c.Types = new(parseTypes(body))
	}
	if body.Has("include") {
		c.Orders = new(parseInclude(body))
	}
	if body.Has("batch") {
		c.MaxEvents = new(int(body.Int("batch", 1, webhook.MaxBatch)))
	}
	if body.Has("headers") {
		c.Headers = parseHeaders(body)
	}
	if body.Has("username") || body.Has("password") {
		username, password := parseBasic(body)
		c.Username, c.Password = &username, password
	}
	if body.Has("enabled") {
		c.Enabled = new(body.Bool("enabled"))
	}
	return c
}
