package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
)

// MaxInvoiceSize is the largest invoice file that the service takes, in bytes.
const MaxInvoiceSize = 4_000_000

// travel is how much more time than other calls those get that carry a file.
const travel = 4

// UploadInvoice stores an invoice file for an order and returns it as the order
// shows it. The extension of the name says what kind of file it is.
//
// Content that can be read again (an io.Seeker, such as a file or a
// bytes.Reader) is sent from where it stands to its end, as it is read; it is
// never in memory whole. Other content is read into memory first, at most
// MaxInvoiceSize bytes, since a try that was cut off needs it once more. Either
// way the length is known and sent. When the call returns, nothing more is read.
//
// Errors beside those of every call: ErrNotFound, ErrFileType, ErrFileTooBig,
// ErrTooManyFiles, ErrPrecondition, and ErrInvalidPayload for content or a name
// that is empty.
func (c *Client) UploadInvoice(ctx context.Context, reference, filename string, content io.Reader, options ...WriteOption) (Invoice, error) {
	op := "upload invoice to order " + reference
	if err := c.checkReference(op, reference); err != nil {
		return Invoice{}, err
	}
	write, err := c.newWrite(op, options)
	if err != nil {
		return Invoice{}, err
	}
	source, err := newSource(content)
	if err != nil {
		return Invoice{}, &Error{Op: c.clean(op), Message: c.clean("read what is to be sent: " + err.Error()), err: c.cause(err)}
	}
	if source.size > MaxInvoiceSize {
		return Invoice{}, c.refuse(op, ErrFileTooBig, ErrFileTooBig.Error())
	}
	call := &call{
		op: op, method: http.MethodPost, url: c.address(nil, "orders", reference, "invoices"), write: write, timeout: travel * c.timeout,
		body: func() (requestBody, error) { return newUploadBody(filename, source) },
	}
	a, err := c.do(ctx, call)
	if err != nil {
		return Invoice{}, err
	}
	invoice, err := decodeUploaded(a.body)
	if err != nil {
		return Invoice{}, c.malformed(call, a, err)
	}
	return invoice, nil
}

// DeleteInvoice withdraws an invoice file from an order and returns those that
// are left. Errors beside those of every call: ErrInvoiceNotFound, also where
// the order is not there, and ErrPrecondition.
func (c *Client) DeleteInvoice(ctx context.Context, reference string, invoiceID int64, options ...WriteOption) ([]Invoice, error) {
	op := "delete invoice " + strconv.FormatInt(invoiceID, 10) + " of order " + reference
	if err := c.checkReference(op, reference); err != nil {
		return nil, err
	}
	write, err := c.newWrite(op, options)
	if err != nil {
		return nil, err
	}
	call := &call{
		op: op, method: http.MethodDelete, write: write,
		url: c.address(nil, "orders", reference, "invoices", strconv.FormatInt(invoiceID, 10)),
	}
	a, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	left, err := decodeDeleted(a.body)
	if err != nil {
		return nil, c.malformed(call, a, err)
	}
	return left, nil
}
