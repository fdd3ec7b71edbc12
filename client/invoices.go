package client

import (
	"context"
	"io"
	"net/http"
	"strconv"
)

// MaxInvoiceSize is the maximum size of an invoice file, in bytes.
const MaxInvoiceSize = 4_000_000

// fileTimeoutFactor is the factor of the time-out for calls that carry a file.
const fileTimeoutFactor = 4

// UploadInvoice stores an invoice file for an order and returns its entry. The
// extension of filename determines the file type: pdf, png, jpeg or jpg.
//
// If content is an io.Seeker, such as a file or a bytes.Reader, the client streams
// it from its current offset to its end. Other content it first reads into memory,
// at most MaxInvoiceSize bytes, since a retry must send it again. After the call
// returns, the client does not read content.
//
// Errors in addition to those of every call: ErrNotFound, ErrFileType,
// ErrFileTooBig, ErrTooManyFiles, ErrPrecondition, and ErrInvalidPayload if content
// or filename is empty.
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
		return Invoice{}, &Error{Op: c.clean(op), Message: c.clean("read the content: " + err.Error()), err: c.cause(err)}
	}
	if source.size > MaxInvoiceSize {
		return Invoice{}, c.notSent(op, ErrFileTooBig, ErrFileTooBig.Error())
	}
	call := &call{
		op: op, method: http.MethodPost, url: c.address(nil, "orders", reference, "invoices"), write: write, timeout: fileTimeoutFactor * c.timeout,
		body: func() (requestBody, error) { return newUploadBody(filename, source) },
	}
	r, err := c.do(ctx, call)
	if err != nil {
		return Invoice{}, err
	}
	invoice, err := decodeUploaded(r.body)
	if err != nil {
		return Invoice{}, c.malformed(call, r, err)
	}
	return invoice, nil
}

// DeleteInvoice deletes an invoice file of an order and returns the remaining ones.
// Errors in addition to those of every call: ErrInvoiceNotFound, also if the order
// does not exist, and ErrPrecondition.
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
	r, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	remaining, err := decodeDeleted(r.body)
	if err != nil {
		return nil, c.malformed(call, r, err)
	}
	return remaining, nil
}
