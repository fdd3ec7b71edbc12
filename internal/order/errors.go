package order

import "errors"

// The kinds of refusal that a caller can tell apart with errors.Is. What a
// client reads is written by each version's errors.go; the texts here are for
// the log and the command line. An error of no kind is a fault of the service.
var (
	// ErrNotFound: no such order, or it is another merchant's (spec 5).
	ErrNotFound = errors.New("order not found")
	// ErrCannotAccept and ErrCannotReject: the state does not allow it.
	ErrCannotAccept = errors.New("order cannot be accepted in its state")
	ErrCannotReject = errors.New("order cannot be rejected in its state")
	// ErrInvalidTransition: the operator asked for a move that decision 2 does not list.
	ErrInvalidTransition = errors.New("the order cannot move to that state")
	// ErrInvalidReason: the reason is not one of Reasons.
	ErrInvalidReason = errors.New("reason is not allowed")

	// ErrPreconditionFailed: the order is not as the client knows it.
	ErrPreconditionFailed = errors.New("the order has changed")
	// ErrIdempotencyKeyReused: the key was used for another request.
	ErrIdempotencyKeyReused = errors.New("the key was used for another request")
	// ErrIdempotencyKeyInUse: the first attempt with the key is still under way.
	ErrIdempotencyKeyInUse = errors.New("the first request with the key is still running")

	// ErrInvoiceNotFound: order or invoice missing, not the merchant's, or the
	// invoice belongs to another order or is deleted.
	ErrInvoiceNotFound = errors.New("invoice not found")
	// ErrUnsupportedFileType: the extension is not an allowed one.
	ErrUnsupportedFileType = errors.New("file type is not supported")
	// ErrFileTooBig: the content is larger than MaxInvoiceSize.
	ErrFileTooBig = errors.New("file is too big")
	// ErrTooManyFiles: the order has MaxInvoices files, or places taken.
	ErrTooManyFiles = errors.New("order has the most invoice files it may have")
	// ErrUploadFailed: the file could not be stored. Nothing of it is left.
	ErrUploadFailed = errors.New("the file could not be stored")

	// ErrOutcomeUnknown: whether a file was stored is not known; it may still appear.
	ErrOutcomeUnknown = errors.New("whether the file was stored is not known")

	// ErrUnavailable: database or storage is out of reach for now; the request
	// may be tried again.
	ErrUnavailable = errors.New("storage is out of reach")
	// ErrMerchantExists: a merchant with that id is there, with another name.
	ErrMerchantExists = errors.New("a merchant with that id exists")
)
