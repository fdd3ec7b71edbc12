package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"merchantorders/internal/web"
)

// textRefusal is what net/http sends after the status line of a response in plain text
// to a request that it refuses itself: one that is malformed, or whose header is too
// large. Responses of handlers have other headers too, such as Date.
var textRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	// While a handler runs, net/http reads to notice that the client disconnects.
	between := !c.handling.Load()
	n, err := c.Conn.Read(p)
	if between && n > 0 {
		c.unanswered.Store(true)
	}
	return n, err
}

// Write implements net.Conn. It replaces a refusal in plain text by one in JSON. A
// request that arrived together with the one before it keeps the plain text: its
// refusal cannot be told from the body of the response before it. So does a request
// over TLS, where only ciphertext is seen here.
func (c *connection) Write(p []byte) (int, error) {
	// Only the first write after the bytes of a request can be a refusal.
	if c.unanswered.Swap(false) && bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		if refusal := jsonRefusal(p); refusal != nil {
			if _, err := c.Conn.Write(refusal); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
}

// jsonRefusal returns the response in JSON with the status of a refusal in plain text;
// nil if the response is none.
func jsonRefusal(response []byte) []byte {
	statusLine, _, found := bytes.Cut(response, textRefusal)
	_, rest, _ := bytes.Cut(statusLine, []byte(" "))
	code, _, _ := bytes.Cut(rest, []byte(" "))
	status, err := strconv.Atoi(string(code))
	if !found || err != nil || bytes.Contains(statusLine, []byte("\r\n")) {
		return nil
	}
	body, err := json.Marshal(web.MessageBody{Message: http.StatusText(status)})
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nCache-Control: no-store\r\nContent-Type: application/json; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s\n", status, http.StatusText(status), len(body)+1, body)
}
