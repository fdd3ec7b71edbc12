package web

import (
	"maps"
	"net/http"
)

// Page is the body of a response that people read in a browser. An ErrorEncoder
// returns it where people are the readers.
type Page struct {
	ContentType string
	Header      http.Header // further fields; nil: none
	Body        []byte
}

// Write sends the page with a status. Nobody stores it, unless its header says so.
func (p Page) Write(w http.ResponseWriter, status int) {
	h := w.Header()
	setJSONHeaders(h, p.Body)
	h.Set("Content-Type", p.ContentType)
	maps.Copy(h, p.Header)
	w.WriteHeader(status)
	_, _ = w.Write(p.Body) // an error means that the client disconnected
}
