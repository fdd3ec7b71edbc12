package docpages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"

	"merchantorders/internal/web"
)

// content is something to serve, as it is.
type content struct {
	mediaType string
	body      []byte
	zipped    []byte // the body as gzip; nil: never sent so
	tag       string // ETag, with its quotes
	policy    string // Content-Security-Policy; empty: none
	page      bool   // of HTML
}

func newContent(mediaType string, body []byte) content {
	digest := sha256.Sum256(body)
	return content{mediaType: mediaType, body: body, tag: `"` + hex.EncodeToString(digest[:]) + `"`}
}

// newZipped is newContent for a body that is stored as gzip.
func newZipped(mediaType string, zipped []byte) (content, error) {
	reader, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return content{}, err
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return content{}, err
	}
	c := newContent(mediaType, body)
	c.zipped = zipped
	return c, nil
}

// serve answers with the content, or 304 to a client that has it.
func (c content) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-cache")
	tag := c.tag
	if c.zipped != nil {
		tag = "W/" + tag // it stands for two forms
	}
	h.Set("ETag", tag)
	if c.policy != "" {
		h.Set("Content-Security-Policy", c.policy)
	}
	if c.page {
		h.Set("Referrer-Policy", "no-referrer")
	}
	body := c.body
	if c.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r) {
			h.Set("Content-Encoding", "gzip")
			body = c.zipped
		}
	}
	if has(r, c.tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", c.mediaType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	// The client may be gone; there is nobody left to tell.
	_, _ = w.Write(body)
	return nil
}

// has reports whether a client says that it has the content with a tag.
func has(r *http.Request, tag string) bool {
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		known = strings.TrimSpace(known)
		if known == "*" || strings.TrimPrefix(known, "W/") == tag {
			return true
		}
	}
	return false
}

// takesGzip reports whether a client takes gzip.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, weighed := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return !weighed || err == nil && q > 0
	}
	return false
}

// one serves the one of several contents that a parameter of the path names.
func one(parameter string, contents func() (map[string]content, error)) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		all, err := contents()
		if err != nil {
			return err
		}
		c, ok := all[r.PathValue(parameter)]
		if !ok {
			return web.ErrRouteNotFound
		}
		return c.serve(w, r)
	}
}
