package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"time"
)

// exportStall is how long an export waits for the next bytes.
const exportStall = 60 * time.Second

// Export is an export of whole orders. It is for one goroutine.
type Export struct {
	client *Client
	filter Filter
	cursor string // with what the cursors of the lines begin; empty: no response has come
	last   string // reference of the last order
	end    EventPage
}

// Export returns an export of the orders that a filter selects, without its page size. It
// sends nothing before Orders or Lines.
func (c *Client) Export(filter Filter) *Export { return &Export{client: c, filter: filter} }

// Orders returns the whole orders, oldest first; Tag is empty. If the connection breaks
// it goes on after the last order. The first error ends the iteration: a further call
// goes on after the last order, too.
func (e *Export) Orders(ctx context.Context) iter.Seq2[Order, error] {
	return func(yield func(Order, error) bool) {
		for line, err := range e.Lines(ctx) {
			var order Order
			if unreadable := unreadableOrder(line); err == nil && unreadable.Problem != "" {
				order = unreadable
			} else if err == nil {
				r := response{status: http.StatusOK, body: slices.Concat([]byte(`{"order":`), line, []byte(`}`))}
				if order, err = decodeOrder(r); err != nil {
					err = e.client.malformed(e.call(), r, err)
				}
			}
			if !yield(order, err) || err != nil {
				return
			}
		}
	}
}

// unreadableOrder returns the order of a line that says why it cannot be read. Problem is
// empty for other lines.
func unreadableOrder(line json.RawMessage) Order {
	o := Order{Document: line}
	wire := struct {
		Reference *string `json:"id"`
		Problem   *string `json:"problem"`
	}{&o.Reference, &o.Problem}
	_ = json.Unmarshal(line, &wire) // decodeOrder says what is wrong
	return o
}

// Lines is Orders, but returns the JSON of each order exactly as the service shows it.
func (e *Export) Lines(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		id := rand.Text()
		for try := 1; ; try++ {
			before := e.last
			done, err := e.attempt(ctx, id, yield)
			if done {
				return
			}
			if e.last != before {
				try = 1
			}
			err.Tries = try
			if again := e.client.retry(ctx, e.call(), err); !again {
				yield(nil, err)
				return
			}
		}
	}
}

// End returns where the change feed ended before the first order was read, after the last
// order: continue with FollowEvents(ctx, end.Next, InHistory(end.History)). ok is false
// while the export is not complete.
func (e *Export) End() (end EventPage, ok bool) { return e.end, e.end.History != "" }

// call is the request for the orders that are left.
func (e *Export) call() *call {
	query := e.filter.conditions()
	if e.cursor != "" {
		query.Set("cursor", e.cursor)
		if e.last != "" {
			query.Set("cursor", e.cursor+"."+e.last)
		}
	}
	return &call{op: "export orders", method: http.MethodGet, url: e.client.address(query, "orders", "export")}
}

// exportLine is what is decoded of each line.
type exportLine struct {
	Reference string `json:"id"`

	// Of the last one.
	Summary  *struct{} `json:"summary"`
	Complete bool      `json:"complete"`
	After    int64     `json:"after"`
	History  string    `json:"history"`
	Problem  string    `json:"problem"`
}

// attempt sends one request and yields its orders. done reports whether the iteration is
// over without an error.
func (e *Export) attempt(ctx context.Context, id string, yield func(json.RawMessage, error) bool) (done bool, failure *Error) {
	c, call := e.client, e.call()
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(exportStall, func() { cancel(context.DeadlineExceeded) })
	defer stalled.Stop()
	r, err := c.roundTrip(bounded, call, id)
	if err != nil {
		return false, c.transportError(ctx, call, id, err)
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode != call.success() {
		_, failure := c.read(ctx, call, id, r)
		return false, failure
	}
	received := response{status: r.StatusCode, header: r.Header, requestID: id}
	if e.cursor = r.Header.Get("Export-Cursor"); e.cursor == "" {
		return false, c.malformed(call, received, errIncomplete)
	}
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, maxResponse)
	lines.Split(wholeLines)
	for lines.Scan() {
		stalled.Reset(exportStall)
		var line exportLine
		err := json.Unmarshal(lines.Bytes(), &line)
		switch {
		case err == nil && line.Summary != nil && line.Complete:
			e.end = EventPage{Next: line.After, Newest: line.After, History: line.History}
			return true, nil
		case err == nil && line.Summary != nil:
			return false, &Error{Op: call.op, Kind: ErrUnavailable, Message: c.clean(line.Problem), RequestID: id}
		case err == nil && line.Reference == "":
			err = errIncomplete
		}
		if err != nil {
			return false, c.malformed(call, received, err)
		}
		e.last = line.Reference
		if !yield(bytes.Clone(lines.Bytes()), nil) {
			return true, nil
		}
	}
	err = lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return false, c.malformed(call, received, fmt.Errorf("a line is longer than %d bytes", maxResponse))
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return false, c.transportError(ctx, call, id, err)
}

// wholeLines is a bufio.SplitFunc that returns no line without its end.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, nil
}
