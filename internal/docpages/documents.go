package docpages

import (
	"sync"

	"merchantorders/internal/web"
	"merchantorders/openapi"
)

// DocumentRoutes returns the routes of the OpenAPI documents, each as YAML and as
// JSON.
func DocumentRoutes() web.RouteGroup {
	return web.RouteGroup{
		Prefix: "/openapi",
		Routes: []web.Route{route("", "document", documents)},
		Errors: web.EncodeMessage,
	}
}

// documents are made at the first request.
var documents = sync.OnceValues(func() (map[string]content, error) {
	all := make(map[string]content)
	for _, document := range openapi.Documents() {
		all[document.Name+".yaml"] = newContent("application/yaml", document.YAML)
		all[document.Name+".json"] = newContent("application/json; charset=utf-8", document.JSON)
	}
	return all, nil
})
