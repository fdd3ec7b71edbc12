package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// MaxInvoiceSize is the maximum size of an invoice file, in bytes.
const MaxInvoiceSize = 4_000_000

// fileTimeoutFactor is the factor of the time-out for calls that carry a file.
const fileTimeoutFactor = 4

// UploadInvoice stores an invoice file for an order and returns its entry. The
// extension of filename determines the file type: pdf, png, jpeg or jpg.
//
// It first reads content into memory, at most MaxInvoiceSize bytes, since a retry
// must send it again.
//
// Errors in addition to those of every call: ErrNotFound, ErrFileType,
// ErrFileTooBig, ErrTooManyFiles, ErrPrecondition, and ErrInvalidPayload if content
// or filename is empty or the InvoiceDocument of OfDocument is not valid.
func (c *Client) UploadInvoice(ctx context.Context, reference, filename string, content io.Reader, options ...WriteOption) (Invoice, error) {
	call := c.orderCall(http.MethodPost, "upload invoice to order "+reference, reference, "invoices")
	call.timeout = fileTimeoutFactor * c.timeout
	c.setOptions(call, options)
	data, err := io.ReadAll(io.LimitReader(content, MaxInvoiceSize+1))
	if err != nil {
		return Invoice{}, &Error{Op: c.clean(call.op), Message: c.clean("read the content: " + err.Error()), err: c.cause(err)}
	}
	if len(data) > MaxInvoiceSize {
		return Invoice{}, c.notSent(call.op, ErrFileTooBig, ErrFileTooBig.Error())
	}
	call.body, _ = json.Marshal(upload{filename, data, call.write.document}) // texts can always be encoded
	return fetch(ctx, c, call, decodeUploaded)
}

// upload is the body of an upload.
type upload struct {
	Filename string `json:"filename"`
	Content  []byte `json:"contentBase64"` // not a form: services of version 1.0.0 take none
	InvoiceDocument
}

// InvoiceDocument says which document an invoice file is. A service of version 1.0.0 ignores
// it: the returned Invoice has what was stored.
type InvoiceDocument struct {
	Kind   string `json:"kind,omitempty"`   // invoice, credit-note or receipt; empty: not said
	Number string `json:"number,omitempty"` // at most 64 characters
	Mark   string `json:"mark,omitempty"`   // of myDATA, at most 20 digits
	Link   string `json:"link,omitempty"`   // https URL, at most 1000 characters
}

// DeleteInvoice deletes an invoice file of an order and returns the remaining ones.
// Errors in addition to those of every call: ErrInvoiceNotFound, also if the order
// does not exist, and ErrPrecondition.
func (c *Client) DeleteInvoice(ctx context.Context, reference string, invoiceID int64, options ...WriteOption) ([]Invoice, error) {
	call := c.orderCall(http.MethodDelete, "delete invoice "+text(invoiceID)+" of order "+reference, reference, "invoices", text(invoiceID))
	return send(ctx, c, call, nil, options, decodeDeleted)
}

// InvoiceLink is an address that everybody can open in a browser, without a token,
// until it expires.
type InvoiceLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// InvoiceLink makes a link to an invoice file of an order. The link is a secret: who
// has it can read the file. Errors in addition to those of every call:
// ErrInvoiceNotFound, also if the order does not exist, and ErrPrecondition.
func (c *Client) InvoiceLink(ctx context.Context, reference string, invoiceID int64, options ...WriteOption) (InvoiceLink, error) {
	call := c.orderCall(http.MethodPost, "link invoice "+text(invoiceID)+" of order "+reference, reference, "invoices", text(invoiceID), "link")
	return send(ctx, c, call, nil, options, decodeLink)
}

// File is a downloaded invoice file.
type File struct {
	Name      string // stored name, the last element of the URL
	MediaType string // Content-Type of the storage; may be empty
	Content   []byte
}

// DownloadInvoice downloads an invoice file of an order. It reads the whole file
// into memory, so that it can retry after a broken connection. It returns
// ErrResponse if the file is larger than MaxInvoiceSize.
//
// The client sends the token only to the service's own address and that of
// WithStorage, not to other storages and not after a redirect to another address.
// Errors in addition to those of every call: ErrInvoiceNotFound.
func (c *Client) DownloadInvoice(ctx context.Context, invoice Invoice) (File, error) {
	op := "download invoice " + text(invoice.ID)
	address, err := url.Parse(invoice.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
		return File{}, c.notSent(op, ErrInvalidParams, "its URL is not a URL to download from")
	}
	call := &call{
		op: op, method: http.MethodGet, url: address.String(), download: true, anonymous: !c.trusts(address),
		timeout: fileTimeoutFactor * c.timeout, notFound: ErrInvoiceNotFound,
	}
	file, err := fetch(context.WithValue(ctx, downloadKey{}, true), c, call, func(r response) (File, error) {
		if coding := r.header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
			return File{}, fmt.Errorf("content encoding %q", coding)
		}
		return File{Name: path.Base(address.Path), MediaType: r.header.Get("Content-Type"), Content: r.body}, nil
	})
	if e, ok := errors.AsType[*Error](err); ok && call.anonymous && (errors.Is(e, ErrUnauthorized) || errors.Is(e, ErrForbidden)) {
		e.Message += "; its address is not the service's, so the client did not send the token"
	}
	return file, err
}
