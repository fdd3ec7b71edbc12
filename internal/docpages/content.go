package docpages

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"merchantorders/docs"
	"merchantorders/internal/etag"
	"merchantorders/internal/web"
	"merchantorders/openapi"
)

// content is a static response.
type content struct {
	mediaType string
	policy    string // Content-Security-Policy; empty: none
	body      []byte
	tag       string // entity tag, in quotes
}

func newContent(mediaType, policy string, body []byte) content {
	digest := sha256.Sum256(body)
	return content{mediaType: mediaType, policy: policy, body: body, tag: `"` + hex.EncodeToString(digest[:]) + `"`}
}

// serve sends the content, or 304 if the client has it.
func (c content) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", c.tag)
	if c.policy != "" {
		h.Set("Content-Security-Policy", c.policy)
	}
	if c.mediaType == html || c.mediaType == markdown {
		h.Set("Referrer-Policy", "no-referrer")
	}
	// A malformed header is ignored: it matches nothing.
	has, _ := etag.Parse(r.Header.Values("If-None-Match"), "If-None-Match")
	if has.MatchWeakly(c.tag) {
		h.Set("ETag", has.Held(c.tag))
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", c.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(c.body)))
	_, _ = w.Write(c.body) // an error means that the client disconnected
}

// route returns a public route. load returns all contents by their path in the
// service.
func route(path string, load func() map[string]content) web.Route {
	return web.PublicRoute(http.MethodGet, path, func(w http.ResponseWriter, r *web.Request) error {
		c, ok := load()[r.URL.Path]
		if !ok {
			return web.ErrRouteNotFound
		}
		c.serve(w, r.Request)
		return nil
	})
}

// must returns the value of a function that fails only if an embedded file is
// missing or not valid. Tests load all of them.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// DocumentRoutes returns the routes of the OpenAPI documents of a service, each as YAML
// and as JSON. baseURL may be empty; then the documents do not name their server.
func DocumentRoutes(baseURL string) web.RouteGroup {
	documents := sync.OnceValue(func() map[string]content {
		all := make(map[string]content)
		for _, document := range openapi.Documents() {
			document = document.WithServer(baseURL)
			all["/openapi/"+document.Name+".yaml"] = newContent("application/yaml", "", document.YAML)
			all["/openapi/"+document.Name+".json"] = newContent(web.JSONType, "", document.JSON)
		}
		return all
	})
	return web.RouteGroup{Prefix: "/openapi", Routes: []web.Route{route("/{document}", documents)}, Errors: web.EncodeMessage}
}

// Media types of contents.
const (
	html       = "text/html; charset=utf-8"
	css        = "text/css; charset=utf-8"
	javascript = "text/javascript; charset=utf-8"
	markdown   = "text/markdown; charset=utf-8"
	svg        = "image/svg+xml"
)

// addAssets adds the files that the pages load.
func addAssets(all map[string]content) {
	// An SVG that is opened directly is a page too, and contains its style.
	const policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
	for name, mediaType := range map[string]string{"pages.css": css, "contents.js": javascript, "icon.svg": svg} {
		all["/docs/assets/"+name] = newContent(mediaType, policy, must(files.ReadFile("assets/"+name)))
	}
	all["/docs/assets/copy.js"] = newContent(javascript, policy, web.CopyScript)
	all["/docs/assets/states.svg"] = newContent(svg, policy, docs.StatePicture)
}
