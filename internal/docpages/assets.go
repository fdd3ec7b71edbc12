package docpages

import (
	"fmt"
	"sync"

	swaggerui "github.com/swaggest/swgui/v5/static"

	"merchantorders/docs"
)

// renderer are the files of the reference's renderer. They come from its
// module as gzip.
var renderer = map[string]string{
	"swagger-ui.css":       "text/css; charset=utf-8",
	"swagger-ui-bundle.js": "text/javascript; charset=utf-8",
}

// own are ours.
var own = map[string]string{
	"pages.css":     "text/css; charset=utf-8",
	"reference.css": "text/css; charset=utf-8",
	"reference.js":  "text/javascript; charset=utf-8",
	"icon.svg":      "image/svg+xml",
}

// assets are read when they are first asked for.
var assets = sync.OnceValues(func() (map[string]content, error) {
	all := make(map[string]content)
	for name, mediaType := range own {
		body, err := files.ReadFile("assets/" + name)
		if err != nil {
			return nil, err
		}
		all[name] = newContent(mediaType, body)
	}
	for name, mediaType := range renderer {
		zipped, err := swaggerui.FS.ReadFile(name + ".gz")
		if err != nil {
			return nil, err
		}
		if all[name], err = newZipped(mediaType, zipped); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	picture, err := docs.StatePicture()
	if err != nil {
		return nil, err
	}
	all["states.svg"] = newContent("image/svg+xml", picture)
	for name, c := range all {
		// An SVG that is opened by itself is a page too. Its own style is in it.
		c.policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
		all[name] = c
	}
	return all, nil
})
