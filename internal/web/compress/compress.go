// Package compress compresses JSON responses with gzip for clients that accept
// it. Everything else passes through unchanged: files may already be compressed,
// and short responses fit into one packet.
package compress

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// minSize is the length, in bytes, from which a body is compressed. A shorter one
// fits into one packet as it is.
const minSize = 1400

// TagSuffix ends the entity tag of a compressed representation, inside the
// quotes.
const TagSuffix = "-gzip"

// writers hold *gzip.Writer. They use the fastest level: the others save a tenth
// of the bytes for at least twice the time.
var writers = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	return w
}}

// vary is the Vary header of a response that depends on Accept-Encoding.
var vary = []string{"Accept-Encoding"}

// SetVary adds Vary: Accept-Encoding to a JSON response, compressed or not, and
// to a 304 of one. Downloads have a Content-Disposition and are left alone.
func SetVary(h http.Header, status int) {
	switch {
	case status != http.StatusNotModified && !isJSON(h):
	case h["Content-Disposition"] != nil, slices.Contains(h["Vary"], vary[0]):
	case h["Vary"] == nil:
		h["Vary"] = vary
	default:
		h.Add("Vary", vary[0])
	}
}

func isJSON(h http.Header) bool {
	contentType := h["Content-Type"]
	return len(contentType) > 0 && strings.HasPrefix(contentType[0], "application/json")
}

// Serve calls next and compresses its response if the client accepts that and it
// pays.
func Serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if !Accepted(r.Header["Accept-Encoding"]) {
		next.ServeHTTP(w, r)
		return
	}
	compressing := &responseWriter{ResponseWriter: w, ifNoneMatch: r.Header["If-None-Match"]}
	next.ServeHTTP(compressing, r)
	compressing.sendHeader()
}

// responseWriter compresses JSON bodies that are written with one call, which
// all of the service's are. It holds the header back until the body is written,
// since compression changes Content-Length.
type responseWriter struct {
	http.ResponseWriter
	ifNoneMatch []string
	heldStatus  int // status of the header that is held back; 0: none
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	h := w.Header()
	if status == http.StatusNotModified {
		w.setNotModifiedTag(h)
	}
	if w.heldStatus == 0 && compressible(h, status) {
		w.heldStatus = status
		return
	}
	w.sendHeader()
	w.ResponseWriter.WriteHeader(status)
}

// compressible reports whether the body of a response with these headers is to
// be compressed.
func compressible(h http.Header, status int) bool {
	length := h["Content-Length"]
	if status < http.StatusOK || status == http.StatusNoContent || len(length) == 0 ||
		!isJSON(h) || h["Content-Encoding"] != nil || h["Content-Range"] != nil {
		return false
	}
	n, err := strconv.Atoi(length[0])
	return err == nil && n >= minSize
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.heldStatus == 0 || w.Header().Get("Content-Length") != strconv.Itoa(len(p)) {
		w.sendHeader()
		return w.ResponseWriter.Write(p)
	}
	body := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(body)
	body.Reset()
	if err := gzipInto(body, p); err != nil || body.Len() >= len(p) {
		w.sendHeader()
		return w.ResponseWriter.Write(p)
	}
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if tag := h.Get("ETag"); isStrong(tag) {
		h.Set("ETag", compressedTag(tag))
	}
	w.sendHeader()
	if _, err := w.ResponseWriter.Write(body.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// buffers hold *bytes.Buffer for compressed bodies. JSON bodies are bounded by
// the page size, so the buffers are too.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func gzipInto(body *bytes.Buffer, p []byte) error {
	writer := writers.Get().(*gzip.Writer)
	defer writers.Put(writer)
	writer.Reset(body)
	if _, err := writer.Write(p); err != nil {
		return err
	}
	return writer.Close()
}

// sendHeader sends the header if it is held back.
func (w *responseWriter) sendHeader() {
	if status := w.heldStatus; status != 0 {
		w.heldStatus = 0
		w.ResponseWriter.WriteHeader(status)
	}
}

// isStrong reports whether a tag is a strong one. A weak tag stands for both the
// plain and the compressed representation.
func isStrong(tag string) bool { return strings.HasPrefix(tag, `"`) }

// compressedTag returns the tag of the compressed representation. A strong tag
// names a sequence of bytes, so the two representations need different tags.
func compressedTag(tag string) string { return strings.TrimSuffix(tag, `"`) + TagSuffix + `"` }

// setNotModifiedTag sets the tag of a 304 to that of the compressed
// representation if that is what the client has.
func (w *responseWriter) setNotModifiedTag(h http.Header) {
	tag := h.Get("ETag")
	if !isStrong(tag) {
		return
	}
	compressed := compressedTag(tag)
	for _, header := range w.ifNoneMatch {
		if strings.Contains(header, compressed) {
			h.Set("ETag", compressed)
		}
	}
}

// FlushError implements the interface that http.ResponseController looks for.
func (w *responseWriter) FlushError() error {
	w.sendHeader()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// absent is the weight of a coding that the header does not name.
const absent = -1

// Accepted reports whether a client accepts gzip (RFC 9110, 12.5.3) and prefers
// it to, or rates it the same as, an uncompressed response. headers are the
// values of Accept-Encoding. A coding with a malformed weight is ignored.
func Accepted(headers []string) bool {
	gzip, identity, others := absent, absent, absent
	for _, header := range headers {
		for element := range strings.SplitSeq(header, ",") {
			coding, parameters, _ := strings.Cut(element, ";")
			weight, ok := parseWeight(parameters)
			if !ok {
				continue
			}
			switch coding = strings.TrimSpace(coding); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				gzip = max(gzip, weight)
			case strings.EqualFold(coding, "identity"):
				identity = max(identity, weight)
			case coding == "*":
				others = max(others, weight)
			}
		}
	}
	if gzip == absent {
		gzip = others
	}
	if identity == absent {
		identity = others
	}
	return gzip > 0 && gzip >= identity
}

// parseWeight parses the weight of a coding, in thousandths. Without a weight it
// returns 1000. ok is false if the parameters are not a valid weight.
func parseWeight(parameters string) (weight int, ok bool) {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1000, true
	}
	name, text, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(name, "q") || text == "" || text[0] != '0' && text[0] != '1' {
		return 0, false
	}
	weight = int(text[0]-'0') * 1000
	if text = text[1:]; text == "" {
		return weight, true
	}
	if text[0] != '.' || len(text) > len(".000") {
		return 0, false
	}
	for i, unit := 1, 100; i < len(text); i, unit = i+1, unit/10 {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		weight += int(text[i]-'0') * unit
	}
	return weight, weight <= 1000
}
