package web

import (
	"context"
	"errors"

	"merchantorders/internal/order"
)

// errorKindInternal is the kind of an error that is of no other kind.
const errorKindInternal = "internal"

// errorKinds are the kinds of errors of requests in the metrics. The first match
// counts: an upload that fails because the storage is unavailable is a failed upload.
var errorKinds = []struct {
	name string
	err  error
}{
	{"client_closed", context.Canceled},
	{"panic", errPanic},
	{"aborted", errAborted},
	{"crowded", errCrowded},
	{"upload", order.ErrUploadFailed},
	{"damaged_file", order.ErrInvoiceDamaged},
	{"storage", errStorage},
	{"unavailable", order.ErrUnavailable},
	{"timeout", context.DeadlineExceeded},
}

// errorKind returns the kind of the error of a request with a final status.
func errorKind(err error, status int) string {
	if status == statusClientClosedRequest {
		err = context.Canceled
	}
	for _, kind := range errorKinds {
		if errors.Is(err, kind.err) {
			return kind.name
		}
	}
	return errorKindInternal
}
