package web

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"merchantorders/internal/etag"
)

// compressed returns a handler that compresses the responses of next for clients that
// accept it. A POST may stream in both directions, which compression would hold back.
//
// A response to a page of another site stays as it is: the page could lead a signed-in
// browser to an address with a guess in it, again and again, and see in the lengths
// whether the guess is in the page (BREACH).
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.MinSize(1400), // a shorter body fits into one packet as it is
		gzhttp.ContentTypeFilter(isCompressible), gzhttp.SuffixETag(etag.CompressedSuffix))
	if err != nil {
		panic(err) // the options are constants
	}
	gzipped := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case r.Method == http.MethodPost, site == "cross-site", site == "same-site":
			w.Header().Set("Vary", "Accept-Encoding") // as the documents say of every response
			next.ServeHTTP(w, r)
		default:
			gzipped.ServeHTTP(w, r)
		}
	})
}

// isCompressible reports whether bodies of a type are compressed: pages and what they
// load, and JSON. Files may be compressed already.
func isCompressible(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	switch mediaType {
	case "application/json", LinesType, "application/yaml", "image/svg+xml", "text/css", "text/html", "text/javascript", "text/markdown":
		return true
	}
	return false
}
