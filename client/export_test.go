package client

import (
	"context"
	"net/http"
	"time"
)

// WithSleep replaces the waits between attempts and removes their random part.
func WithSleep(sleep func(context.Context, time.Duration) error) Option {
	return func(c *Client) error {
		c.sleep = sleep
		c.jitter = func(time.Duration) time.Duration { return 0 }
		return nil
	}
}

// WithMaxAnswers replaces the number of answers of a request.
func WithMaxAnswers(n int) Option {
	return func(c *Client) error {
		c.maxAnswers = n
		return nil
	}
}

// WithNow replaces the clock.
func WithNow(now func() time.Time) Option {
	return func(c *Client) error {
		c.now = now
		return nil
	}
}

// DecodeAll decodes a response as each call does, and returns the errors.
func (c *Client) DecodeAll(status int, contentType string, body []byte) []error {
	a := response{status: status, header: http.Header{"Content-Type": {contentType}}, body: body, requestID: "id"}
	read := &call{op: "read order SF-1", url: "http://x/v2/orders/SF-1"}
	_, page := decodePage(a)
	_, summaries := decodeSummaries(a)
	_, order := decodeOrder(a)
	_, success := decodeSuccess(a)
	_, uploaded := decodeUploaded(a)
	_, deleted := decodeDeleted(a)
	_, events := decodeEvents(a, 0)
	errs := []error{c.responseError(read, a)}
	for _, err := range []error{page, summaries, order, success, uploaded, deleted, events} {
		if err != nil {
			errs = append(errs, c.malformed(read, a, err))
		}
	}
	return errs
}

// NextLink returns the query of the link to the next page.
func NextLink(address string, values ...string) (string, bool, error) {
	links, err := pageLinks(http.Header{"Link": values}, address)
	return links.next, links.any, err
}
