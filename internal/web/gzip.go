package web

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// minGzip is the size, in bytes, from which an answer is compressed: below, it
// fits into one packet as it is.
const minGzip = 1400

// compressors are writers ready for use. The fastest level: the others save a
// tenth of the bytes for twice the time and more.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one of the package's
	}
	return w
}}

// varyEncoding is the Vary header of what may be compressed.
var varyEncoding = []string{"Accept-Encoding"}

// setVary says of an answer that may be compressed, or whose like may, that it
// depends on the client, also where it is not.
func setVary(h http.Header, status int) {
	switch {
	case status != http.StatusNotModified && !isJSON(h):
	case h["Content-Disposition"] != nil: // a file, also where it is not sent again
	case h["Vary"] == nil:
		h["Vary"] = varyEncoding
	default:
		h.Add("Vary", varyEncoding[0])
	}
}

func isJSON(h http.Header) bool {
	kind := h["Content-Type"]
	return len(kind) > 0 && strings.HasPrefix(kind[0], "application/json")
}

// serveCompressed has a handler answer, compressed where the client takes that
// and it pays.
func serveCompressed(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if !acceptsGzip(r.Header["Accept-Encoding"]) {
		next.ServeHTTP(w, r)
		return
	}
	compressing := &gzipWriter{ResponseWriter: w, known: r.Header["If-None-Match"]}
	next.ServeHTTP(compressing, r)
	compressing.release()
}

// gzipWriter compresses answers in JSON that are written in one piece, as all
// are: their length is in the header, and so is that of what goes out instead.
// Others it lets pass as they are.
type gzipWriter struct {
	http.ResponseWriter
	known []string // the tags of the answers that the client has
	held  int      // the status of a header that waits for its body; 0: none does
}

// WriteHeader implements http.ResponseWriter.
func (w *gzipWriter) WriteHeader(status int) {
	h := w.Header()
	if status == http.StatusNotModified {
		w.tagKnown(h)
	}
	if w.held == 0 && worthGzip(h, status) {
		w.held = status
		return
	}
	w.release()
	w.ResponseWriter.WriteHeader(status)
}

// worthGzip reports whether an answer with these headers is to be compressed.
func worthGzip(h http.Header, status int) bool {
	length := h["Content-Length"]
	if status < http.StatusOK || status == http.StatusNoContent || len(length) == 0 ||
		!isJSON(h) || h["Content-Encoding"] != nil || h["Content-Range"] != nil {
		return false
	}
	n, err := strconv.Atoi(length[0])
	return err == nil && n >= minGzip
}

// Write implements http.ResponseWriter.
func (w *gzipWriter) Write(p []byte) (int, error) {
	if w.held == 0 || w.Header().Get("Content-Length") != strconv.Itoa(len(p)) {
		w.release()
		return w.ResponseWriter.Write(p)
	}
	body, giveBack := takeBuffer()
	defer giveBack()
	if compressInto(body, p) != nil || body.Len() >= len(p) {
		w.release()
		return w.ResponseWriter.Write(p)
	}
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if tag := h.Get("ETag"); strings.HasPrefix(tag, `"`) {
		h.Set("ETag", compressedTag(tag))
	}
	w.release()
	if _, err := w.ResponseWriter.Write(body.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func compressInto(body *bytes.Buffer, p []byte) error {
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(body)
	if _, err := compressor.Write(p); err != nil {
		return err
	}
	return compressor.Close()
}

// release lets a header go that was held back.
func (w *gzipWriter) release() {
	if status := w.held; status != 0 {
		w.held = 0
		w.ResponseWriter.WriteHeader(status)
	}
}

// compressedTag is the tag of what a tag stands for, compressed, which is another
// sequence of bytes.
func compressedTag(tag string) string { return strings.TrimSuffix(tag, `"`) + gzipSuffix + `"` }

// tagKnown has a 304 speak of the compressed answer where the client has that.
func (w *gzipWriter) tagKnown(h http.Header) {
	tag := h.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		return
	}
	compressed := compressedTag(tag)
	for _, known := range w.known {
		if strings.Contains(known, compressed) {
			h.Set("ETag", compressed)
		}
	}
}

// FlushError is called by http.ResponseController.
func (w *gzipWriter) FlushError() error {
	w.release()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *gzipWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
