package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// Accept accepts an order: its state changes from Registered to InProcessing.
// Errors in addition to those of every call: ErrNotFound, ErrCannotAccept,
// ErrPrecondition.
func (c *Client) Accept(ctx context.Context, reference string, options ...WriteOption) error {
	return c.act(ctx, "accept", reference, nil, options)
}

// Reject rejects an order: its state changes from Registered to
// RejectedByMerchant. Errors in addition to those of every call: ErrNotFound,
// ErrInvalidReason, ErrCannotReject, ErrPrecondition.
func (c *Client) Reject(ctx context.Context, reference string, reason Reason, options ...WriteOption) error {
	body := map[string]string{"status": "D"}
	if reason != NoReason {
		body["reason"] = string(reason)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err // strings can always be encoded
	}
	return c.act(ctx, "reject", reference, text, options)
}

// act accepts or rejects an order.
func (c *Client) act(ctx context.Context, action, reference string, body []byte, options []WriteOption) error {
	op := action + " order " + reference
	if err := c.checkReference(op, reference); err != nil {
		return err
	}
	write, err := c.newWrite(op, options)
	if err != nil {
		return err
	}
	call := &call{op: op, method: http.MethodPatch, url: c.address(nil, "orders", reference, action), write: write}
	if body != nil {
		call.body = func() (requestBody, error) { return textBody{bytes.NewReader(body)}, nil }
	}
	r, err := c.do(ctx, call)
	if err != nil {
		return err
	}
	if err := decodeSuccess(r.body); err != nil {
		return c.malformed(call, r, err)
	}
	return nil
}

// textBody is a request body in memory.
type textBody struct{ *bytes.Reader }

func (b textBody) Close() error { return nil }
func (b textBody) size() int64  { return b.Size() }
func (b textBody) end() error   { return nil }
