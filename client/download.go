package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// File is an invoice file with its content.
type File struct {
	Name      string // stored name, the last part of the address
	MediaType string // as the storage says; empty: it does not
	Content   []byte
}

// DownloadInvoice fetches an invoice file that an order shows. It is held in
// memory whole, so that nobody ever sees half of one and a cut connection is
// just tried again; more than MaxInvoiceSize bytes are ErrResponse.
//
// The token goes along only to the service's own address (WithStorage names one
// more); a storage elsewhere is asked without it, and so is whoever it
// redirects to. Errors beside those of every call: ErrInvoiceNotFound.
func (c *Client) DownloadInvoice(ctx context.Context, invoice Invoice) (File, error) {
	op := "download invoice " + strconv.FormatInt(invoice.ID, 10)
	address, err := url.Parse(invoice.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
		return File{}, c.refuse(op, ErrInvalidParams, "its address is none to download from")
	}
	trusted := c.trusts(address)
	call := &call{
		op: op, method: http.MethodGet, url: address.String(), anyType: true, anonymous: !trusted,
		timeout: travel * c.timeout, limit: MaxInvoiceSize, missing: ErrInvoiceNotFound,
		// Not compressed, so that a length tells whether all of it came.
		header: http.Header{"Accept-Encoding": {"identity"}},
	}
	a, err := c.do(context.WithValue(ctx, downloadKey{}, true), call)
	if err != nil {
		return File{}, c.explain(err, trusted)
	}
	if coding := a.header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return File{}, c.malformed(call, a, fmt.Errorf("content encoding %q", coding))
	}
	return File{Name: path.Base(address.Path), MediaType: a.header.Get("Content-Type"), Content: a.body}, nil
}

// explain adds to a refusal for want of a token that none was sent.
func (c *Client) explain(err error, trusted bool) error {
	e, ok := err.(*Error)
	if ok && !trusted && (e.Kind == ErrUnauthorized || e.Kind == ErrForbidden) {
		e.Message += "; its address is not the service's, so that no token was sent"
	}
	return err
}
