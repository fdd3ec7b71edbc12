package web

import (
	"context"
	"errors"

	"merchantorders/internal/order"
)

// ErrStorage says that the database can be used and the storage of files cannot.
var ErrStorage = errors.New("the storage is unavailable")

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
	{"overloaded", ErrOverloaded},
	{"upload", order.ErrUploadFailed},
	{"damaged_file", order.ErrInvoiceDamaged},
	{"storage", ErrStorage},
	{"unavailable", order.ErrUnavailable},
	{"timeout", context.DeadlineExceeded},
}

// errorKindNames returns all kinds.
func errorKindNames() []string {
	names := []string{errorKindInternal}
	for _, kind := range errorKinds {
		names = append(names, kind.name)
	}
	return names
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
