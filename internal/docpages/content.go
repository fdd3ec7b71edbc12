package docpages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"

	"merchantorders/internal/web"
	"merchantorders/internal/web/compress"
)

// content is a static response.
type content struct {
	mediaType string
	body      []byte
	gzipped   []byte // the body as gzip; nil: not available
	tag       string // entity tag, in quotes
	policy    string // Content-Security-Policy; empty: none
	isPage    bool   // HTML
}

func newContent(mediaType string, body []byte) content {
	digest := sha256.Sum256(body)
	return content{mediaType: mediaType, body: body, tag: `"` + hex.EncodeToString(digest[:]) + `"`}
}

// newGzippedContent is newContent for a body that is stored as gzip.
func newGzippedContent(mediaType string, gzipped []byte) (content, error) {
	reader, err := gzip.NewReader(bytes.NewReader(gzipped))
	if err != nil {
		return content{}, err
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return content{}, err
	}
	c := newContent(mediaType, body)
	c.gzipped = gzipped
	return c, nil
}

// serve sends the content, or 304 if the client has it.
func (c content) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", c.tag)
	if c.policy != "" {
		h.Set("Content-Security-Policy", c.policy)
	}
	if c.isPage {
		h.Set("Referrer-Policy", "no-referrer")
	}
	if c.gzipped != nil {
		h.Set("ETag", "W/"+c.tag) // one tag for both forms
		h.Set("Vary", "Accept-Encoding")
	}
	// A malformed header is ignored: it matches nothing.
	has, _ := web.ParseEntityTags(r.Header, "If-None-Match")
	if has.MatchWeakly(c.tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	body := c.body
	if c.gzipped != nil && compress.Accepted(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		body = c.gzipped
	}
	h.Set("Content-Type", c.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // an error means that the client disconnected
	return nil
}

// route returns a public route that serves the content named by a path parameter,
// which ends the path. load returns all contents by name.
func route(path, parameter string, load func() (map[string]content, error)) web.Route {
	return web.PublicRoute(http.MethodGet, path+"/{"+parameter+"}", func(w http.ResponseWriter, r *http.Request) error {
		contents, err := load()
		if err != nil {
			return err
		}
		c, ok := contents[r.PathValue(parameter)]
		if !ok {
			return web.ErrRouteNotFound
		}
		return c.serve(w, r)
	})
}
