package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// connection is one connection to a server, kept open, on which requests go one
// after the other. It does next to nothing, so that what it measures is the
// server.
type connection struct {
	token string
	conn  net.Conn
	in    *bufio.Reader
}

func dial(base, token string) (*connection, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, err
	}
	return &connection{token: token, conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// head returns the first part of a request, with headers of the caller's, each
// ended by CR LF.
func head(method, path, token, headers string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n" + headers + "\r\n"
}

// send sends a request and returns the answer with its whole body.
func (c *connection) send(method, path, headers string, body []byte) (*http.Response, []byte, error) {
	if method != http.MethodGet {
		headers += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	parts := net.Buffers{[]byte(head(method, path, c.token, headers))}
	if len(body) > 0 {
		parts = append(parts, body)
	}
	if _, err := parts.WriteTo(c.conn); err != nil {
		return nil, nil, err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(answer.Body)
	return answer, text, err
}

// get asks for a path, which must succeed, and returns the body and the time
// from the first byte sent to the last one read.
func (c *connection) get(path string) ([]byte, time.Duration, error) {
	began := time.Now()
	answer, text, err := c.send(http.MethodGet, path, "", nil)
	took := time.Since(began)
	return text, took, succeeded(answer, text, err, path)
}

// accept accepts an order. It reports false where the service was too busy.
func (c *connection) accept(reference string) (bool, error) {
	path := "/v2/orders/" + reference + "/accept"
	answer, text, err := c.send(http.MethodPatch, path, "", nil)
	if err == nil && answer.StatusCode == http.StatusServiceUnavailable {
		return false, nil
	}
	return true, succeeded(answer, text, err, path)
}

// upload uploads a file to an order. body is that of the request.
func (c *connection) upload(reference string, body []byte) error {
	path := "/v2/orders/" + reference + "/invoices"
	answer, text, err := c.send(http.MethodPost, path, "Content-Type: application/json\r\n", body)
	return succeeded(answer, text, err, path)
}

func succeeded(answer *http.Response, body []byte, err error, path string) error {
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, answer.StatusCode, body)
	}
	return err
}

// total returns how many orders a list has, whichever version it is of.
func (c *connection) total(list string) (int, error) {
	text, _, err := c.get(list)
	if err != nil {
		return 0, err
	}
	var page struct {
		Params struct {
			V1 int `json:"total_items"`
			V2 int `json:"totalItems"`
		}
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return 0, err
	}
	total := page.Params.V1 + page.Params.V2
	if total == 0 {
		return 0, fmt.Errorf("the list %s is empty", list)
	}
	return total, nil
}

// registered returns up to count orders that can be accepted, newest first.
func (c *connection) registered(count int) ([]string, error) {
	var found []string
	for page := 1; len(found) < count; page++ {
		text, _, err := c.get(fmt.Sprintf("/v2/orders?state=registered&itemsPerPage=100&page=%d", page))
		if err != nil {
			return nil, err
		}
		var list struct{ Orders []struct{ ID string } }
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		if len(list.Orders) == 0 {
			break
		}
		for _, o := range list.Orders {
			found = append(found, o.ID)
		}
	}
	return found[:min(len(found), count)], nil
}

// atOnce has as many connections do a number of things, each the next one as
// soon as it is free, and returns the first error of each.
func atOnce(base, token string, connections, things int, do func(c *connection, n int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, connections)
	for i := range connections {
		all.Go(func() {
			var c *connection
			if c, failed[i] = dial(base, token); failed[i] != nil {
				return
			}
			defer c.close()
			for n := int(next.Add(1)) - 1; n < things && failed[i] == nil; n = int(next.Add(1)) - 1 {
				failed[i] = do(c, n)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// pages returns how many pages of a size a list has.
func pages(total, size int) int { return (total + size - 1) / size }

// uploadBody returns the body of an upload of a file in base64.
func uploadBody(content []byte) []byte {
	var body bytes.Buffer
	body.WriteString(`{"filename":"invoice.pdf","contentBase64":"`)
	body.Write(content)
	body.WriteString(`"}`)
	return body.Bytes()
}
