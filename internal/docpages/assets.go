package docpages

import (
	"fmt"
	"sync"

	swaggerui "github.com/swaggest/swgui/v5/static"

	"merchantorders/docs"
)

// swaggerFiles are the files of Swagger UI, which shows the OpenAPI documents. Its
// module has them as gzip.
var swaggerFiles = map[string]string{
	"swagger-ui.css":       "text/css; charset=utf-8",
	"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
}

// ownFiles are the files of this package.
var ownFiles = map[string]string{
	"pages.css":     "text/css; charset=utf-8",
	"reference.css": "text/css; charset=utf-8",
	"reference.js":  "text/javascript; charset=utf-8",
	"icon.svg":      "image/svg+xml",
}

// assets are read at the first request.
var assets = sync.OnceValues(func() (map[string]content, error) {
	all := make(map[string]content)
	for name, mediaType := range ownFiles {
		body, err := files.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		all[name] = newContent(mediaType, body)
	}
	for name, mediaType := range swaggerFiles {
		gzipped, err := swaggerui.FS.ReadFile(name + ".gz")
		if err != nil {
			return nil, err
		}
		if all[name], err = newGzippedContent(mediaType, gzipped); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	picture, err := docs.StatePicture()
	if err != nil {
		return nil, err
	}
	all["states.svg"] = newContent("image/svg+xml", picture)
	for name, c := range all {
		// An SVG that is opened directly is a page too, and contains its style.
		c.policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
		all[name] = c
	}
	return all, nil
})
