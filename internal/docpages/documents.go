package docpages

import (
	"net/http"
	"sync"

	"merchantorders/internal/web"
	"merchantorders/openapi"
)

// DocumentSection returns the section that serves the OpenAPI documents, each
// as YAML and as JSON.
func DocumentRoutes() web.RouteGroup {
	return web.RouteGroup{
		Prefix: "/openapi",
		Routes: []web.Route{
			{Method: http.MethodGet, Path: "/{document}", Access: web.Public, Handle: one("document", documents)},
		},
		Errors: web.EncodeMessage,
	}
}

// documents are made when they are first asked for.
var documents = sync.OnceValues(func() (map[string]content, error) {
	all := make(map[string]content)
	for _, document := range openapi.Documents() {
		all[document.Name+".yaml"] = newContent("application/yaml", document.YAML)
		all[document.Name+".json"] = newContent("application/json; charset=utf-8", document.JSON)
	}
	return all, nil
})
