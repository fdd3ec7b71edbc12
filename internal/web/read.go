package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"merchantorders/internal/etag"
	"merchantorders/internal/order"
	"merchantorders/internal/web/respcache"
)

// ReadHandler serves a GET of a merchant's data. It parses the request and says
// how the representation is made, so that a client that already has it costs less.
type ReadHandler func(r *Request) (Representation, error)

// Representation is what a GET returns: a body with its validators.
type Representation struct {
	// Tag is the data tag, if it is known before the body is made.
	Tag string
	// Day is the UTC day that the body shows as the present one, and the only day
	// on which it is valid. NoDay: the body does not depend on the day.
	Day order.Day
	// Links are values of the Link header.
	Links []string
	// Body returns the value to encode as JSON. It may add Links, and sets Tag to
	// that of the data in the value.
	Body func(*Representation) (any, error)
}

// serveRead returns the handler of a read route.
func serveRead(config RouterConfig, pattern string, handle ReadHandler) Handler {
	cache := config.ResponseCache
	return func(w http.ResponseWriter, r *Request) error {
		// A malformed header counts as absent: the response is right without it.
		has, _ := etag.Parse(r.Header.Values("If-None-Match"), "If-None-Match")
		key := respcache.Key{
			Route: pattern, MerchantID: r.Caller.MerchantID, NameNonce: r.nameNonce, Path: r.URL.Path, Query: r.URL.RawQuery,
		}
		entry := cache.Lookup(key, r.DataVersion)
		if entry == nil || entry.Body == nil && !has.MatchWeakly(entry.ETag[0]) {
			var err error
			if entry, err = makeEntry(config, key, r, handle, has); err != nil {
				return err
			}
		}
		writeEntry(w, entry, has)
		return nil
	}
}

// makeEntry makes a response and stores it in the cache. If it is known already that the
// client has the representation, the body is not made.
func makeEntry(config RouterConfig, key respcache.Key, r *Request, handle ReadHandler, has *etag.Tags) (*respcache.Entry, error) {
	rep, err := handle(r)
	if err != nil {
		return nil, err
	}
	newEntry := func(tag string) *respcache.Entry {
		tag = entityTag(tag, r.viewVersion(config.ViewVersion))
		return &respcache.Entry{Version: r.DataVersion, Day: rep.Day, ETag: []string{tag}, Link: rep.Links}
	}
	if entry := newEntry(rep.Tag); rep.Tag != "" && has.MatchWeakly(entry.ETag[0]) {
		config.ResponseCache.Store(key, entry)
		return entry, nil
	}
	return config.ResponseCache.Coalesce(key, r.DataVersion, func() (*respcache.Entry, error) {
		value, err := rep.Body(&rep)
		if err != nil {
			return nil, err
		}
		entry := newEntry(rep.Tag)
		err = withJSON(value, func(body []byte) {
			entry.Body, entry.Length = bytes.Clone(body), contentLength(body)
		})
		return entry, err
	})
}

// revalidate is the Cache-Control of representations: the client may store them,
// but asks before each use whether they are current.
var revalidate = []string{"private, no-cache"}

// writeEntry sends a response, or 304 Not Modified if the client has it (RFC 9110,
// 13.1.2).
func writeEntry(w http.ResponseWriter, entry *respcache.Entry, has *etag.Tags) {
	h := w.Header()
	h["Etag"] = entry.ETag
	h["Cache-Control"] = revalidate
	if len(entry.Link) > 0 {
		h["Link"] = entry.Link
	}
	if has.MatchWeakly(entry.ETag[0]) {
		h.Set("ETag", has.Held(entry.ETag[0]))
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = contentTypeJSON
	h["X-Content-Type-Options"] = noSniff
	h["Content-Length"] = entry.Length
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(entry.Body) // an error means that the client disconnected
}

// ViewVersion returns a short text that differs if one of the parts differs: the
// versions of the views, and the settings that bodies show.
func ViewVersion(parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(hash, "%q", part) // a hash never returns an error
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}

// entityTag returns the entity tag of a body: the data tag of what it shows, and the
// ViewVersion of the service.
func entityTag(dataTag, viewVersion string) string {
	if viewVersion != "" {
		dataTag += "-" + viewVersion
	}
	return `"` + dataTag + `"`
}
