package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

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
	op := "download invoice " + strconv.FormatInt(invoice.ID, 10)
	address, err := url.Parse(invoice.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
		return File{}, c.notSent(op, ErrInvalidParams, "its URL is not a URL to download from")
	}
	trusted := c.trusts(address)
	call := &call{
		op: op, method: http.MethodGet, url: address.String(), anyType: true, anonymous: !trusted,
		timeout: fileTimeoutFactor * c.timeout, limit: MaxInvoiceSize, notFound: ErrInvoiceNotFound,
		// Without compression Content-Length shows whether the file is complete.
		header: http.Header{"Accept-Encoding": {"identity"}},
	}
	r, err := c.do(context.WithValue(ctx, downloadKey{}, true), call)
	if err != nil {
		return File{}, c.explainAnonymous(err, trusted)
	}
	if coding := r.header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return File{}, c.malformed(call, r, fmt.Errorf("content encoding %q", coding))
	}
	return File{Name: path.Base(address.Path), MediaType: r.header.Get("Content-Type"), Content: r.body}, nil
}

// explainAnonymous adds to the message of a 401 or 403 that the request had no token.
func (c *Client) explainAnonymous(err error, trusted bool) error {
	e, ok := errors.AsType[*Error](err)
	if ok && !trusted && (errors.Is(e, ErrUnauthorized) || errors.Is(e, ErrForbidden)) {
		e.Message += "; its address is not the service's, so the client did not send the token"
	}
	return err
}
