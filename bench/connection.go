package main

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

// connection is a keep-alive connection to a server that sends one request
// after the other. It does as little as possible, so that measurements show the
// server's time and not the client's.
type connection struct {
	token string
	conn  net.Conn
	in    *bufio.Reader
}

func dial(baseURL, token string) (*connection, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(baseURL, "http://"))
	if err != nil {
		return nil, err
	}
	return &connection{token: token, conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// send sends a request and returns the response and its whole body. Each of the
// headers ends with CR LF.
func (c *connection) send(method, path, headers string, body []byte) (*http.Response, []byte, error) {
	if method != http.MethodGet {
		headers += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	head := method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + c.token + "\r\n" + headers + "\r\n"
	parts := net.Buffers{[]byte(head)}
	if len(body) > 0 {
		parts = append(parts, body)
	}
	if _, err := parts.WriteTo(c.conn); err != nil {
		return nil, nil, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(response.Body)
	return response, text, errors.Join(err, response.Body.Close())
}

// get sends a GET request, which must succeed. It returns the body and the time
// from the first byte sent to the last byte received.
func (c *connection) get(path string) ([]byte, time.Duration, error) {
	start := time.Now()
	response, text, err := c.send(http.MethodGet, path, "", nil)
	elapsed := time.Since(start)
	return text, elapsed, checkOK(response, text, err, path)
}

// accept accepts an order. It returns false if the service was too busy (503).
func (c *connection) accept(reference string) (bool, error) {
	path := "/v2/orders/" + reference + "/accept"
	response, text, err := c.send(http.MethodPatch, path, "", nil)
	if err == nil && response.StatusCode == http.StatusServiceUnavailable {
		return false, nil
	}
	return true, checkOK(response, text, err, path)
}

// mustAccept accepts an order, also if the service is too busy at first.
func (c *connection) mustAccept(reference string) error {
	for range 1000 {
		if accepted, err := c.accept(reference); accepted || err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("the service is always too busy")
}

// timed sends requests on several connections and returns how long they took.
func timed(baseURL, token string, connections, count int, send func(c *connection, n int) error) (wrkResult, error) {
	var mu sync.Mutex
	var times []time.Duration
	start := time.Now()
	err := concurrently(baseURL, token, connections, count, func(c *connection, n int) error {
		begun := time.Now()
		err := send(c, n)
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Since(begun))
		return err
	})
	if err != nil {
		return wrkResult{}, err
	}
	return resultOf(times, time.Since(start)), nil
}

// upload uploads a file to an order. body is the request body.
func (c *connection) upload(reference string, body []byte) error {
	path := "/v2/orders/" + reference + "/invoices"
	response, text, err := c.send(http.MethodPost, path, "Content-Type: application/json\r\n", body)
	return checkOK(response, text, err, path)
}

// checkOK returns err, or an error if the status is not 200.
func checkOK(response *http.Response, body []byte, err error, path string) error {
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", path, response.StatusCode, body)
	}
	return err
}

// total returns the number of orders of a list of either version.
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

// registered returns the references of up to count registered orders, newest
// first.
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

// concurrently calls fn for each n from 0 to count-1, on several connections at
// the same time. It returns the first error of each connection.
func concurrently(baseURL, token string, connections, count int, fn func(c *connection, n int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, connections)
	for i := range connections {
		wg.Go(func() {
			var c *connection
			if c, errs[i] = dial(baseURL, token); errs[i] != nil {
				return
			}
			defer c.close()
			for n := int(next.Add(1)) - 1; n < count && errs[i] == nil; n = int(next.Add(1)) - 1 {
				errs[i] = fn(c, n)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// pageCount returns the number of pages of a list.
func pageCount(total, size int) int { return (total + size - 1) / size }

// uploadBody returns the request body that uploads a file, given in base64.
func uploadBody(content []byte) []byte {
	var body bytes.Buffer
	body.WriteString(`{"filename":"invoice.pdf","contentBase64":"`)
	body.Write(content)
	body.WriteString(`"}`)
	return body.Bytes()
}
